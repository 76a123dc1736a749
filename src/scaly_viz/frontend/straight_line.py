"""Owns what straight-line code loads, stores and computes, by the kind of its nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from scaly_viz.frontend.program_nodes import ProgramNode

# Loads, stores, flops and bytes of straight-line code, in which each place runs once.
type Line = tuple[int, int, int, int]

NOTHING: Line = (0, 0, 0, 0)


def plus(line: Line, other: Line, times: int = 1) -> Line:
    """What ``line`` does and, so many times, ``other``."""
    a, b, c, d = other
    return line[0] + a * times, line[1] + b * times, line[2] + c * times, line[3] + d * times


def total(lines: Iterable[Line]) -> Line:
    """What all of ``lines`` do."""
    loads = stores = flops = moved = 0
    for a, b, c, d in lines:
        loads += a
        stores += b
        flops += c
        moved += d
    return loads, stores, flops, moved


def _leaf(_node: ProgramNode, _lines: Mapping[ProgramNode, Line]) -> Line:
    return NOTHING


def _value(node: ProgramNode, lines: Mapping[ProgramNode, Line]) -> Line:
    return total([lines[arg] for arg in node.args])


def _arithmetic(node: ProgramNode, lines: Mapping[ProgramNode, Line]) -> Line:
    args = node.args
    if len(args) == 2:
        a, b, c, d = lines[args[0]]
        e, f, g, h = lines[args[1]]
        return a + e, b + f, c + g + node.dtype.is_floating, d + h
    loads, stores, flops, moved = total([lines[arg] for arg in node.args])
    return loads, stores, flops + node.dtype.is_floating, moved


def _view(node: ProgramNode, lines: Mapping[ProgramNode, Line]) -> Line:
    if len(node.args) != 1:
        return _range(node, lines)
    loads, stores, flops, moved = line = lines[node.args[0]]
    return (loads, stores, 0, moved) if flops else line


def _range(node: ProgramNode, lines: Mapping[ProgramNode, Line]) -> Line:
    loads, stores, _, moved = total([lines[arg] for arg in node.args])
    return loads, stores, 0, moved


def _load(node: ProgramNode, lines: Mapping[ProgramNode, Line]) -> Line:
    view = node.args[0]
    loads, stores, flops, moved = lines[view]
    return loads + 1, stores, flops, moved + (view.dtype.bits >> 3)


def _store(node: ProgramNode, lines: Mapping[ProgramNode, Line]) -> Line:
    loads, stores, flops, moved = total([lines[arg] for arg in node.args])
    elements = len(node.args) - 1
    return loads, stores + elements, flops, moved + elements * (node.args[0].dtype.bits >> 3)


# How the line of a node follows from its arguments' lines.
LINES: dict[str, Callable[[ProgramNode, Mapping[ProgramNode, Line]], Line]] = {
    **dict.fromkeys(["const_int", "const_float", "var", "barrier"], _leaf),
    **dict.fromkeys(["assign", "print", "bit_select"], _value),
    **dict.fromkeys(["add", "sub", "mul", "div", "mod", "neg", "minimum", "maximum"], _arithmetic),
    **dict.fromkeys(["sin", "cos", "tan", "asin", "acos", "atan", "atan2"], _arithmetic),
    **dict.fromkeys(["sinh", "cosh", "tanh", "erf", "exp", "log", "pow", "sqrt"], _arithmetic),
    **dict.fromkeys(["abs", "floor", "ceil"], _arithmetic),
    "view": _view,
    "range": _range,
    "load": _load,
    **dict.fromkeys(["store", "store_pair"], _store),
}
