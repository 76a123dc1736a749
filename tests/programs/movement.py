"""Owns programs that move values: slices, aliases, gathers, scatters, workspace."""

from __future__ import annotations

from typing import Any

import numpy as np
import scaly as sc

from .compat import arg, function, results, scaly_api, since_a2
from .program import Program


def slices() -> Any:
    """Slices that alias their source and slices that copy, reshapes between them."""

    @function(arg("x", (4, 6)), outputs=results("tail", "strided", "reversed", "element", "mixed"))
    def slices(x: sc.Expr) -> tuple[sc.Expr, ...]:
        rows = x[1:3]
        flat = rows.reshape((3, 4))[1].reshape((2, 2))
        return (
            x[-1, 2:] * flat.vec(),
            x[::2, 1::3],
            x.vec()[::-1] + x.vec(),
            x[2, -1],
            (rows[0] @ x[2]) * rows[..., :1] + flat,
        )

    return slices


def gathers() -> Any:
    """Gathers with affine, periodic and irregular indices, of any rank."""

    @function(arg("x", 24), outputs=results("affine", "periodic", "irregular", "triangle"))
    def gathers(x: sc.Expr) -> tuple[sc.Expr, ...]:
        periodic = (np.array([0, 3, 1])[None] + 6 * np.arange(4)[:, None]).ravel()
        return (
            x.gather(np.arange(0, 24, 3)).sin(),
            x.gather(periodic) * 2.0,
            sc.gather(x, np.array([[5, 0, 0], [17, 23, 2]])),
            x[:9].reshape((3, 3)).vec().gather(np.flatnonzero(np.triu(np.ones((3, 3))))),
        )

    return gathers


def scatters() -> Any:
    """Sums of scatters, which one pass merges into one destination."""

    @function(arg("x", 4), arg("y", 3), outputs=results("merged", "matrix"))
    def scatters(x: sc.Expr, y: sc.Expr) -> tuple[sc.Expr, ...]:
        merged = sc.scatter(x, [0, 2, 4, 6], 8) + sc.scatter(y.cos(), [1, 2, 7], 8)
        return merged, sc.scatter(x * x, [[0, 5], [2, 7]], (3, 3)) @ y

    return scatters


def segments() -> Any:
    """Sums by segment, an empty segment among them, and a scatter that hits one place twice."""

    @function(arg("x", 8), outputs=results("sums", "twice"))
    def segments(x: sc.Expr) -> tuple[sc.Expr, ...]:
        sums = scaly_api.segment_sum(x * x, [0, 0, 3, 1, 1, 1, 3, 0], 4)
        return sums, sc.scatter(x[:3], [1, 1, 0], 2) * 0.5

    return segments


def passthrough() -> Any:
    """Outputs that are inputs, constants, one another, or an alias of an input."""

    @function(
        arg("x", 3),
        arg("unused", 2),
        outputs=results("same", "again", "constant", "zero", "alias", "sum"),
    )
    def passthrough(x: sc.Expr, unused: sc.Expr) -> tuple[sc.Expr, ...]:
        total = x + 1.0
        return x, total, sc.const([[1.0, 2.0]]), sc.const(0.0), x[1:], total

    return passthrough


def no_inputs() -> Any:
    """A function of nothing."""

    @function(outputs=arg("table"))
    def no_inputs() -> sc.Expr:
        return sc.const(np.arange(12.0)).reshape((3, 4)).T + 0.5

    return no_inputs


def empty_arrays() -> Any:
    """Inputs, outputs and intermediate values without elements."""

    @function(arg("nothing", 0), arg("x", 2), outputs=results("none", "total", "joined"))
    def empty_arrays(nothing: sc.Expr, x: sc.Expr) -> tuple[sc.Expr, ...]:
        return nothing * 2.0, nothing.sum() + x[2:].sum(), sc.concat([nothing, x.exp(), x[:0]])

    return empty_arrays


def workspace() -> Any:
    """Temporaries too large for the stack, whose lifetimes share slots of the workspace."""

    @function(arg("x", 1200), arg("m", (40, 30)), outputs=results("normalized", "smoothed"))
    def workspace(x: sc.Expr, m: sc.Expr) -> tuple[sc.Expr, ...]:
        wave = x.sin()
        energy = wave * wave + x
        normalized = wave / sc.norm_2(energy) + energy.sum()
        gram = (m @ energy.reshape((30, 40))) @ m
        return normalized, (gram.vec() + wave)[:100].reshape((10, 10)) @ gram[0, :10]

    return workspace


PROGRAMS = (
    Program("slices", slices),
    Program("gathers", gathers),
    Program("scatters", scatters),
    *since_a2(Program("segments", segments)),  # indices are unique in 0.1.0a1
    Program("passthrough", passthrough),
    Program("no_inputs", no_inputs),
    Program("empty_arrays", empty_arrays),
    Program("workspace", workspace),
)
