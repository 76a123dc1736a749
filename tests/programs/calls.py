"""Owns programs of functions that call functions, and names that are legal but odd."""

from __future__ import annotations

from typing import Any

import numpy as np
import scaly as sc
from scaly.codegen.aot import render_c_source

from .compat import IS_A1, arg, call, call_tree, function, group, results, since_a2
from .program import Program


def shared_callee() -> Any:
    """One callee reached over three levels and twice from one body, with equal and other values."""

    @function(arg("x", 2), outputs=results("sum", "difference"))
    def pair(x: sc.Expr) -> tuple[sc.Expr, ...]:
        return x[0] + x[1], x[0] - x[1]

    @function(arg("x", 2), arg("y", 2), outputs=arg("z"))
    def ratio(x: sc.Expr, y: sc.Expr) -> sc.Expr:
        (total, _), (_, difference) = call_tree(pair, x), call_tree(pair, y)
        quotient: sc.Expr = total / (1.0 + difference**2)
        return quotient

    @function(arg("x", 2), arg("y", 2), outputs=arg("z"))
    def both_ways(x: sc.Expr, y: sc.Expr) -> sc.Expr:
        return call(ratio, x, y) - call(ratio, y, x) + call(ratio, x, y)

    @function(group(arg("x", 2), arg("y", 2)), arg("k", ()), outputs=arg("z"))
    def shared_callee(points: tuple[sc.Expr, sc.Expr], k: sc.Expr) -> sc.Expr:
        x, y = points
        total: sc.Expr = call_tree(pair, x)[0]
        return k * call(both_ways, x, y) + total

    return shared_callee


def big_callee() -> Any:
    """A callee too big to be expanded, which needs workspace of its caller."""

    @function(arg("x", (35, 35)), outputs=arg("y"))
    def squared(x: sc.Expr) -> sc.Expr:
        return (x.tanh() @ x.tanh()) @ x

    @function(arg("x", (35, 35)), outputs=arg("trace"))
    def big_callee(x: sc.Expr) -> sc.Expr:
        cubed = call(squared, x) - x
        return call(squared, cubed).vec().gather(np.arange(35) * 36).sum()

    return big_callee


def namesakes() -> Any:
    """Two functions of one name, one of which calls the other."""

    @function(arg("x", 2), outputs=arg("x_out"), name="namesakes")
    def inner(x: sc.Expr) -> sc.Expr:
        return x * x

    @function(arg("x", 2), outputs=arg("y"), name="namesakes")
    def outer(x: sc.Expr) -> sc.Expr:
        return call(inner, x) + 1.0

    return outer


def odd_names() -> Any:
    """Names with spaces, quotes, markup, line ends, other alphabets, and C's own words."""

    @function(
        arg("x y", 2),
        arg("x_y", 2),
        arg('<script>alert("1")</script>', ()),
        arg("θ", ()),
        outputs=results("new\nline", "double", "{}%s\\"),
        name="7 söme/callee\u2028",
    )
    def callee(a: sc.Expr, b: sc.Expr, c: sc.Expr, d: sc.Expr) -> tuple[sc.Expr, ...]:
        return a * b + c, d.sin(), a - d

    @function(
        arg("w", 2),
        arg("k0", 2),
        arg("lam:x", ()),
        outputs=results("t0", "🤖"),
        name="pôle & <b>cart</b>",
    )
    def odd_names(w: sc.Expr, k0: sc.Expr, lam: sc.Expr) -> tuple[sc.Expr, ...]:
        summed, sine, shifted = call_tree(callee, w, k0, lam, lam)
        return summed * sine, shifted

    return odd_names


def unpaired_surrogate() -> Any:
    """A name that no UTF-8 text can hold."""

    @function(arg("x\ud800", ()), outputs=arg("y\0z"))
    def unpaired_surrogate(x: sc.Expr) -> sc.Expr:
        return x.exp() - 1.0

    return unpaired_surrogate


def shape_holes() -> Any:
    """A declaration without shapes, rendered as two instances of it."""

    @function(arg("x"), arg("gain", ()))
    def shape_holes(x: sc.Expr, gain: sc.Expr) -> sc.Expr:
        return gain * x.sin() + x.sum()

    return shape_holes


def render_instances(declaration: Any) -> None:
    """Render an open declaration with a vector and with a matrix."""
    for shape in (5, (2, 3)):
        render_c_source(declaration.instantiate((shape, ())))


PROGRAMS = (
    Program("shared_callee", shared_callee),
    Program("big_callee", big_callee),
    # 0.1.0a1 names procedures after functions, so its verifier finds the name twice
    Program("namesakes", namesakes, error="VerifyError" if IS_A1 else None),
    Program("odd_names", odd_names),
    Program("unpaired_surrogate", unpaired_surrogate),
    *since_a2(Program("shape_holes", shape_holes, render_instances)),  # 0.1.0a1 declares all inputs
)
