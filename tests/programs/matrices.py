"""Owns programs of matrix products, transposes and block assembly."""

from __future__ import annotations

from typing import Any

import numpy as np
import scaly as sc

from .compat import arg, function, results
from .program import Program

PRODUCTS = results("matrix", "column", "row", "inner", "folded", "total")


def products() -> Any:
    """Every product of a vector or matrix with another, rows in fours and a tail."""

    @function(arg("a", (6, 4)), arg("b", (4, 3)), arg("v", 4), arg("w", 6), outputs=PRODUCTS)
    def products(a: sc.Expr, b: sc.Expr, v: sc.Expr, w: sc.Expr) -> tuple[sc.Expr, ...]:
        return a @ b, a @ v, w @ a, v @ v, a.T @ w, v @ np.ones(4)

    return products


def transposes() -> Any:
    """Permutations of ranks two to four."""

    @function(
        arg("m", (3, 2)), arg("t", (2, 3, 2)), arg("q", (2, 1, 2, 3)), outputs=results("a", "b")
    )
    def transposes(m: sc.Expr, t: sc.Expr, q: sc.Expr) -> tuple[sc.Expr, ...]:
        swapped = t.transpose((2, 0, 1)) * 2.0
        permuted = q.transpose((3, 1, 0, 2)).reshape((3, 4))
        return m.T @ m + swapped[:, 0, :2], permuted + m @ np.ones((2, 4))

    return transposes


def blocks() -> Any:
    """Stacks and concatenations along every axis, splits, and products of blocks."""

    @function(arg("a", (2, 2)), arg("b", (2, 3)), outputs=results("joined", "stacked", "norm"))
    def blocks(a: sc.Expr, b: sc.Expr) -> tuple[sc.Expr, ...]:
        wide = sc.concat([a, b, np.zeros((2, 1))], axis=1)
        tall = sc.concat([wide, wide[:1] * 3.0, np.eye(1, 6)])
        left, right = sc.split(tall, 2, axis=1)
        stacked = sc.stack([left, right, left - right], axis=2)
        corner = sc.stack([a[0, 0], b[1, 2], sc.const(4.0), a[0, 1]])
        return tall, stacked, sc.norm_2(sc.concat([sc.vec(stacked), corner]))

    return blocks


def contraction() -> Any:
    """A bilinear form over a rank-3 table, and a linear solve by hand."""
    table = np.arange(27.0).reshape((3, 3, 3)) - 13.0

    @function(arg("x", 3), arg("y", 3), outputs=results("form", "inverse"))
    def contraction(x: sc.Expr, y: sc.Expr) -> tuple[sc.Expr, ...]:
        contracted = sc.stack([x @ sc.const(table[i]) @ y for i in range(3)])
        outer = x.reshape((3, 1)) * y.reshape((1, 3)) + np.eye(3)
        (a, b), (c, d) = ((outer[i, 0], outer[i, 1]) for i in range(2))
        determinant = a * d - b * c
        return contracted, sc.stack([d, -b, -c, a]).reshape((2, 2)) / determinant

    return contraction


PROGRAMS = (
    Program("products", products),
    Program("transposes", transposes),
    Program("blocks", blocks),
    Program("contraction", contraction),
)
