"""Owns what makes nodes of scaly the same kind: the key of a kind, and what its rows share."""

from __future__ import annotations

from collections.abc import Hashable
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from scaly_viz.frontend.values import EXACT, attributes_key, key, plain, plain_attributes
from scaly_viz.graph_table import Kind

if TYPE_CHECKING:
    from scaly.ir.expr import Expr
    from scaly.ir.program import ProgramNode

# The colors of scaly.viz (scaly/viz/graph.py), by operation.
_WHITE = "#ffffff"
_EXPR_COLORS = {
    "input": "#c0c0ff",
    "const": "#e0e0e0",
    "call": "#00b7c8",
    "vmap": "#f6ccff",
    **dict.fromkeys(("add", "sub", "mul", "div", "neg"), "#ffffc0"),
    **dict.fromkeys(("sum", "matmul"), "#ffb0b0"),
    **dict.fromkeys(("reshape", "transpose"), "#d8f9e4"),
    **dict.fromkeys(("slice", "gather", "scatter"), "#e5eaff"),
    **dict.fromkeys(("stack", "concat"), "#ffc14d"),
}
_PROGRAM_COLORS = {
    **dict.fromkeys(("program", "proc", "kernel"), "#c07788"),
    "buffer": "#b0bdff",
    "view": "#e5eaff",
    **dict.fromkeys(("range", "for"), "#c8a0e0"),
    **dict.fromkeys(("store", "store_pair", "assign"), "#87ceeb"),
    "load": "#ffc0c0",
    **dict.fromkeys(("call", "launch"), "#00b7c8"),
    **dict.fromkeys(("const_int", "const_float"), "#e0e0e0"),
    "var": "#cef263",
}
_SMALL_CONSTANT = 4


def program_key(node: ProgramNode) -> Hashable | None:
    """Return what the nodes of a kind have in common, or None where no two can share one."""
    attrs = node.attrs
    if not attrs:
        return (node.op, node.dtype.name)
    if not node.args or "kind" in attrs:
        # Nodes are interned, so leaves differ in their attributes; loops differ in their variable.
        return None
    if len(attrs) == 1:
        ((name, value),) = attrs.items()
        if type(value) in EXACT:
            return (node.op, node.dtype.name, name, value)
    return (node.op, node.dtype.name, attributes_key(attrs))


def program_kind(node: ProgramNode) -> Kind:
    """Return what the nodes of the kind of ``node`` share."""
    detail = str(node.dtype.name)
    attributes = plain_attributes(node.attrs)
    for name in ("name", "target", "callee"):
        if name in attributes:
            detail = f"{detail}\n{node.attrs[name]}"
            break
    title, color = _program_style(node.op._value_)
    return Kind(title, detail, color, attributes)


@cache
def _program_style(op: str) -> tuple[str, str]:
    return op.upper(), _PROGRAM_COLORS.get(op, _WHITE)


def expr_key(expr: Expr) -> Hashable:
    """Return what the expressions of a kind have in common."""
    value = None if expr.value is None else key(expr.value)
    head = (expr.op, expr.type.dtype.name, expr.shape, expr.name, expr.lowering)
    return (*head, value, attributes_key(expr.attrs))


def expr_kind(expr: Expr) -> Kind:
    """Return what the expressions of the kind of ``expr`` share."""
    op = str(getattr(expr.op, "value", expr.op))
    detail = f"{expr.type.dtype.name}{expr.shape}"
    if expr.name:
        detail += f"\n{expr.name}"
    if op == "const" and expr.value is not None and expr.value.size <= _SMALL_CONSTANT:
        detail += "\n" + np.array2string(expr.value, separator=", ")
    attributes = plain_attributes(expr.attrs)
    attributes["lowering"] = str(expr.lowering)
    if expr.value is not None:
        attributes["value"] = plain(expr.value)
    return Kind(op.upper(), detail, _EXPR_COLORS.get(op, _WHITE), attributes)
