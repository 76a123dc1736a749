"""Owns programs whose render fails, each in another stage of the compiler."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
import scaly as sc
import scaly.passes.program as program_passes
from scaly.codegen.aot import render_c_source

from .compat import IS_A1, arg, call, call_tree, function, results
from .elementwise import cast
from .program import Program


def casadi_matrix() -> Any:
    """A matrix that CasADi's column-major layout cannot take: fails before lowering."""

    @function(arg("m", (2, 2)), outputs=arg("y"))
    def casadi_matrix(m: sc.Expr) -> sc.Expr:
        return m + 1.0

    return casadi_matrix


def high_rank() -> Any:
    """A transpose of five axes: fails while the function is lowered, its callee done."""

    @function(arg("x", 2), outputs=arg("y"))
    def doubled(x: sc.Expr) -> sc.Expr:
        return x * 2.0

    @function(arg("x", 2), outputs=arg("y"))
    def high_rank(x: sc.Expr) -> sc.Expr:
        return call(doubled, x).reshape((1, 2, 1, 1, 1)).transpose() * 3.0

    return high_rank


def integer_sum() -> Any:
    """A sum of integers, whose zero is no float: fails when the lowered program is verified."""

    @function(arg("x", 3), outputs=arg("y"))
    def integer_sum(x: sc.Expr) -> sc.Expr:
        total = cast(x, "int32").sum()
        return cast(sc.stack([total, total]), "float64")[0] * x

    return integer_sum


def unsound_cast() -> Any:
    """A conversion that simplification drops: fails when the normalized function is verified."""

    @function(arg("x", 3), outputs=arg("y"))
    def unsound_cast(x: sc.Expr) -> sc.Expr:
        backwards = cast(x, "float32")[::-1]
        target = sc.TensorType(x.shape)
        identity = {"indices": np.arange(x.size)}
        return sc.Expr(sc.ExprOp.GATHER, (backwards,), target, attrs=identity) + x

    return unsound_cast


def fails_in_a_pass() -> Any:
    """A sound function, for a compiler with a broken pass."""

    @function(arg("x", 2), outputs=results("low", "high"))
    def fails_in_a_pass(x: sc.Expr) -> tuple[sc.Expr, ...]:
        return x - 1.0, x @ np.ones((2, 2))

    return fails_in_a_pass


class BrokenPass(Exception):
    """What the broken pass raises."""


@contextmanager
def broken(pass_name: str) -> Generator[None]:
    """Make one pass of the pipeline raise inside the block; scaly offers no legal way to it."""

    def fail(program: Any) -> Any:
        raise BrokenPass(f"{pass_name} met {program!r}")

    sound = program_passes.PASS_PIPELINE
    pipeline = tuple((name, fail if name == pass_name else run) for name, run in sound)
    program_passes.PASS_PIPELINE = pipeline
    try:
        yield
    finally:
        program_passes.PASS_PIPELINE = sound


def render_broken(fun: Any, pass_name: str, **options: Any) -> Any:
    """Render with a pass that fails."""
    with broken(pass_name):
        return render_c_source(fun, **options)


def conflicting_oracles() -> Any:
    """Two foreign problems that define one C symbol: fails when all passes are done."""
    external_nlp: Any = import_module("scaly_sqp").external_nlp

    def solver(number: int) -> Any:
        symbols = {key: f"foreign_{key}" for key in ("base", "grad", "hess", "bounds")}
        diagonal = sc.SparsityPattern((2, 2), (0, 1), (0, 1))
        return external_nlp(
            name=f"foreign{number}",
            n=2,
            n_eq=0,
            n_ineq=0,
            params=[("c", (2,))],
            source=f"/* oracles of problem {number} */",
            raw_symbols=symbols,
            jac_sparsity=sc.SparsityPattern.empty((0, 2)),
            hess_sparsity=diagonal,
        )

    solvers = solver(1), solver(2)

    @function(arg("x", 2), arg("c", 2), outputs=arg("y"))
    def conflicting_oracles(x: sc.Expr, c: sc.Expr) -> sc.Expr:
        nothing = sc.const(np.zeros(0))
        for solve in solvers:
            x, *_ = call_tree(solve, x, x, nothing, nothing, c)
        return x

    return conflicting_oracles


PROGRAMS = (
    Program("casadi_matrix", casadi_matrix, partial(render_c_source, casadi=True), "ValueError"),
    Program("high_rank", high_rank, error="LoweringError"),
    Program("integer_sum", integer_sum, error="VerifyError"),
    # 0.1.0a1 verifies no normalized function and compiles it
    Program("unsound_cast", unsound_cast, error=None if IS_A1 else "VerifyError"),
    Program(
        "broken_pass",
        fails_in_a_pass,
        partial(render_broken, pass_name="pack_workspace"),
        error="BrokenPass",
    ),
    Program("conflicting_oracles", conflicting_oracles, error="ValueError", solver="sqp"),
)
