"""Owns programs as deep as wished: chains of operations and of calls, which break recursion."""

from __future__ import annotations

from typing import Any

import numpy as np
import scaly as sc

from .compat import arg, call, function
from .program import Program


def build(operations: int) -> Any:
    """Return a function that is one dependent chain of ``operations`` operations on a scalar."""

    @function(arg("x", ()), arg("a", ()), arg("b", ()), outputs=arg("y"), name=f"chain{operations}")
    def chain(x: sc.Expr, a: sc.Expr, b: sc.Expr) -> sc.Expr:
        steps = (sc.Expr.sin, lambda value: value * a, lambda value: value + b)
        for i in range(operations):
            x = steps[i % 3](x)
        return x

    return chain


def build_calls(levels: int) -> Any:
    """Return a function that calls a function that calls ... ``levels`` deep."""

    def level(number: int, callee: Any) -> Any:
        @function(arg("x", 3), outputs=arg("y"), name=f"level{number}")
        def nested(x: sc.Expr) -> sc.Expr:
            scaled = x * np.arange(1.0 + number, 4.0 + number)
            return scaled.cos() if callee is None else call(callee, scaled) + x

        return nested

    callee: Any = None
    for number in range(levels):
        callee = level(number, callee)
    return callee


PROGRAMS = (
    Program("chain", lambda: build(40)),
    Program("nested_calls", lambda: build_calls(24)),
)
