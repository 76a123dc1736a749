"""Owns reading the expressions of scaly's program assembly back into nodes, without recursion."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache

from scaly_viz.analysis.prog_grammar import NAME
from scaly_viz.frontend.program_nodes import ProgramNode
from scaly_viz.frontend.straight_line import LINES, NOTHING, Line, total

_TOKEN = re.compile(
    rf"(?P<load>prog\.load )|prog\.(?P<op>\w+)\(|(?P<view>%{NAME})\[|(?P<var>%{NAME})"
    r"|(?P<close>[\])])|(?P<number>-?(?:\d[\w.]*(?:[+-]\d+)?|\.\d[\w.]*|inf|nan)\b)"
    r"|(?P<skip>,| +|to |step )|(?P<odd><[^<>]*>)"
)
_DTYPE = re.compile(r"(float|int|uint|bool)(\d*)")


@dataclass(frozen=True, slots=True)
class DType:
    """The element type of a node."""

    name: str
    bits: int
    is_floating: bool


@cache
def dtype_of(name: str) -> DType:
    """Return the type of this name; one that is not known counts as nothing."""
    match = _DTYPE.fullmatch(name)
    if match is None:
        return DType(name, 0, False)
    return DType(name, int(match[2] or 8), match[1] == "float")


_SELECTIONS = ("bit_select",)  # their first argument is a word of bits
_ACCESSES = ("view", "load")
_FLOAT = dtype_of("float64")
# Of literals such as 1, and of what is made of them: the use decides.
_OPEN = DType("", 64, False)


@dataclass(slots=True, eq=False)
class Node:
    """A part of a program, as far as its text tells; counts read it as scaly's own node."""

    op: str
    args: tuple[Node, ...] = ()
    attrs: Mapping[str, object] = field(default_factory=dict)
    dtype: DType = _OPEN


class Expressions:
    """Reads the expressions of one procedure, whose names have ``types``."""

    def __init__(self, types: Mapping[str, DType], buffers: Mapping[str, Node]) -> None:
        self._types = types
        self._buffers = buffers
        self.lines: dict[ProgramNode, Line] = {}
        """What each node that was read costs; see ``straight_line``."""
        self.mixed = 0
        """Operations on numbers of several types: a conversion is missing from the text."""

    def read(self, text: str, at: int, dtype: DType | None = None) -> tuple[list[Node], int]:
        """Return the expressions from ``at`` on, up to what is none, and where that is.

        Literals, and what is made of nothing else, get the type of what uses them; ``dtype`` is
        that of the outermost use.
        """
        order, found, at = self._parsed(text, at)
        if dtype is not None:
            for node in found:
                _settle(node, dtype)
        for node in reversed(order):
            if node.op not in _ACCESSES:
                for arg in node.args:
                    _settle(arg, node.dtype)
        for node in order:
            self._cost(node)
        return found, at

    def _parsed(self, text: str, at: int) -> tuple[list[Node], list[Node], int]:
        """All nodes from ``at`` on, each after its arguments; the outermost; and where they end."""
        order: list[Node] = []
        found: list[Node] = []
        stack: list[tuple[str, str, bool, list[Node]]] = []
        loads = False
        while match := _TOKEN.match(text, at):
            kind = str(match.lastgroup)
            if kind == "close" and not stack:
                break
            at = match.end()
            if kind == "load":
                loads = True
            elif kind in ("op", "view"):
                stack.append((kind, match[kind], loads, found))
                found, loads = [], False
            elif kind == "close":
                opened, name, is_loaded, outer = stack.pop()
                node = self._made(opened, name, tuple(found))
                order.append(node)
                if is_loaded:
                    node = Node("load", (node,), {}, node.dtype)
                    order.append(node)
                found = outer
                found.append(node)
            elif kind != "skip":
                node = self._leaf(kind, match[0])
                order.append(node)
                found.append(node)
        return order, found, at

    def _made(self, opened: str, name: str, args: tuple[Node, ...]) -> Node:
        if opened == "view":
            buffer = name[1:]
            return Node("view", args, {"buffer": buffer}, self._types.get(buffer, _OPEN))
        known = [arg.dtype for arg in args if arg.dtype is not _OPEN]
        floating = [dtype for dtype in known if dtype.is_floating]
        if name not in _SELECTIONS:
            self.mixed += 0 < len(floating) < len(known)
        return Node(name, args, {}, (floating or known or [_OPEN])[0])

    def _leaf(self, kind: str, text: str) -> Node:
        if kind == "var":
            name = text[1:]
            if name in self._buffers:
                return self._buffers[name]
            return Node("var", (), {"name": name}, self._types.get(name, _OPEN))
        if kind == "odd":
            return Node(text)
        digits = text.lstrip("-")
        if digits.isdecimal():
            return Node("const_int", (), {"value": int(text) if len(digits) < 20 else 0})
        return Node("const_float", (), {}, _FLOAT)

    def _cost(self, node: Node) -> None:
        line_of = LINES.get(node.op)
        known = self.lines
        try:
            known[node] = line_of(node, known) if line_of else _unknown(node, known)
        except (KeyError, ValueError):
            known[node] = NOTHING


def _settle(node: Node, dtype: DType) -> None:
    """Give ``node`` the type of what uses it, where its own cannot be seen or was converted."""
    if node.dtype is _OPEN or (node.args and node.op not in _ACCESSES and not dtype.is_floating):
        node.dtype = dtype


def _unknown(node: Node, lines: Mapping[ProgramNode, Line]) -> Line:
    return total([lines[arg] for arg in node.args])
