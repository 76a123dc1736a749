"""Owns the differences between scaly 0.1.0a1 and 0.1.0a2, so that a program is written once.

Programs use the form of 0.1.0a2: one declaration and one argument per parameter, mapped calls over
a leading axis. 0.1.0a1 takes one tree of arguments and flat outer tensors.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import scaly
from scaly.function.tree import flat_tree

from .program import Program

scaly_api: Any = scaly
IS_A1 = not hasattr(scaly, "arg")
# Of a function that calls no other.
STEPS = 17 if IS_A1 else 18


def since_a2(*programs: Program) -> tuple[Program, ...]:
    """Return the programs that 0.1.0a1 cannot express, or nothing there."""
    return () if IS_A1 else programs


def arg(name: str, shape: Any = None) -> Any:
    """Declare one leaf; without a shape it is a hole (an output's shape only in 0.1.0a1)."""
    if IS_A1:
        return scaly_api.L(name, ... if shape is None else shape)
    return scaly_api.arg(name, shape)


def group(*parts: Any) -> Any:
    """Declare a tuple of trees."""
    return scaly_api.G(*parts) if IS_A1 else scaly_api.group(*parts)


def results(*names: str) -> Any:
    """Declare outputs whose shapes come from the trace."""
    return group(*(arg(name) for name in names))


def function(
    *inputs: Any, outputs: Any = None, name: str | None = None
) -> Callable[[Callable[..., Any]], Any]:
    """Trace a body with one parameter per declared input; 0.1.0a1 wants the outputs declared."""

    def decorate(body: Callable[..., Any]) -> Any:
        if not IS_A1:
            return scaly_api.function(*inputs, outputs=outputs, name=name)(body)
        if len(inputs) == 1:
            return scaly_api.function(inputs[0], outputs, name=name or body.__name__)(body)
        tree = group(*inputs) if inputs else flat_tree((), ())
        return scaly_api.function(tree, outputs, name=name or body.__name__)(
            lambda arguments: body(*arguments)
        )

    return decorate


def call(callee: Any, *arguments: Any) -> scaly.Expr:
    """Embed a symbolic call of a function with one result, one argument per parameter."""
    result: scaly.Expr = call_tree(callee, *arguments)
    return result


def call_tree(callee: Any, *arguments: Any) -> Any:
    """Embed a symbolic call of a function whose result is a tuple."""
    if not IS_A1:
        return callee.symbolic_call(*arguments)
    return callee.symbolic_call(arguments[0] if len(arguments) == 1 else arguments)


def window(value: scaly.Expr, start: int, stride: int) -> Any:
    """Mark a rank-1 argument of ``mapped`` whose slices start ``stride`` apart."""
    return (value, start, stride) if IS_A1 else scaly_api.window(value, start, stride)


def broadcast(value: scaly.Expr) -> Any:
    """Mark an argument of ``mapped`` that every iteration gets whole."""
    return (value.vec(), 0, 0) if IS_A1 else scaly_api.broadcast(value)


def mapped(callee: Any, length: int, *arguments: Any) -> scaly.Expr:
    """Call ``callee`` ``length`` times over a leading axis, which its one result has too."""
    result: scaly.Expr = mapped_tree(callee, length, *arguments)
    return result


def mapped_tree(callee: Any, length: int, *arguments: Any) -> Any:
    """Call a function whose result is a tuple ``length`` times over a leading axis."""
    if not IS_A1:
        return scaly_api.vmap(callee, length)(*arguments)
    outers = [value if isinstance(value, tuple) else value.vec() for value in arguments]
    return callee.output_tree.unflatten(
        tuple(
            scaly_api.vmap(callee, length, outers, i).reshape((length, *output.shape))
            for i, output in enumerate(callee.outputs)
        )
    )
