"""Owns programs that differ in how they are rendered: lanes, dialects, headers, files."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import scaly as sc
from scaly.codegen.aot import render_c_module, render_c_source, write_module

from .compat import arg, call, function, results
from .derivatives import rollout
from .program import Program


def softmax() -> Any:
    """Loops that vectorize, divide by a loop invariant, and reduce in order."""

    @function(arg("x", 9), outputs=arg("e"))
    def exponentials(x: sc.Expr) -> sc.Expr:
        return (x - x.sum() / 9.0).exp()

    @function(arg("x", 9), arg("scale", ()), outputs=results("p", "entropy"))
    def softmax(x: sc.Expr, scale: sc.Expr) -> tuple[sc.Expr, ...]:
        e = call(exponentials, x / scale)
        p = e / e.sum()
        return p, -(p * p.log()).sum() / sc.norm_2(x)

    return softmax


def write_files(fun: Any, **options: Any) -> None:
    """Write header and source as ``scaly_codegen`` does."""
    with tempfile.TemporaryDirectory() as folder:
        write_module(fun, Path(folder) / "generated", **options)


def banded() -> Any:
    """A compact sparse output, which CasADi wants in another order."""
    return sc.sparse_jacobian(rollout(), "gaps", "x", name="banded")


PROGRAMS = (
    *(
        Program(f"lanes_{lanes}", softmax, partial(render_c_source, lanes=lanes))
        for lanes in (1, 2, 4, 8)
    ),
    Program("reciprocal", softmax, partial(render_c_source, reciprocal=True)),
    Program("reciprocal_scalar", softmax, partial(render_c_source, reciprocal=True, lanes=1)),
    Program("portable_c", softmax, partial(render_c_source, dialect="c")),
    Program("vector_libm", softmax, partial(render_c_source, lanes=4, vector_libm="glibc")),
    Program("casadi", banded, partial(render_c_source, casadi=True)),
    Program("cpp_module", softmax, partial(render_c_module, lang="cpp", cpu="x86-64-v3")),
    Program("written_module", banded, partial(write_files, lang="cpp", casadi=True)),
)
