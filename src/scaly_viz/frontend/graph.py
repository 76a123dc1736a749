"""Owns taking graphs from scaly: each distinct node becomes one row of the recording's table."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from scaly_viz.frontend.pace import CHUNK, Pace
from scaly_viz.frontend.values import key, plain
from scaly_viz.graph_table import NEAR, GraphDelta, Kind

if TYPE_CHECKING:
    from numpy.typing import NDArray
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
_SHALLOW = 400


@dataclass(frozen=True, slots=True)
class GraphStep:
    """One step's graph: what it adds to the table, and its figures.

    ``new`` holds the nodes that the recording had not seen, each after its arguments.
    """

    delta: GraphDelta
    new: list[Any]
    nodes: int
    edges: int
    added: int
    removed: int


class GraphTaker:
    """The table of one recording, filled from scaly's nodes.

    Nodes are immutable and interned, so identity tells them apart while they live; the taker keeps
    every node that it has a row for, until ``forget_dead``.
    """

    def __init__(self, pace: Pace) -> None:
        self._pace = pace
        self._row_of: dict[int, int] = {}
        self._kept: list[Any] = []
        self._kind_of: dict[Hashable, int] = {}
        self._kinds = 0
        self._arity = _Column()
        self._start = _Column()
        self._args = _Column()
        self._previous: dict[str, NDArray[np.bool_]] = {}

    def take_program(self, root: ProgramNode) -> GraphStep:
        """Add the program at ``root``."""
        return self._take("p", (root,), _program_key, _program_kind)

    def take_expressions(self, outputs: Sequence[Expr]) -> GraphStep:
        """Add the expression graph of ``outputs``."""
        return self._take("e", outputs, _expr_key, _expr_kind)

    def forget_dead(self) -> Callable[[int], bool]:
        """Release the nodes that the latest step does not reach; return a test of ``id()``s still kept."""
        live = np.zeros(len(self._arity), dtype=bool)
        for mask in self._previous.values():
            live[: len(mask)] |= mask
        kept = {identity: row for identity, row in self._row_of.items() if live[row]}
        self._kept = [node for node in self._kept if id(node) in kept]
        self._row_of = kept
        return kept.__contains__

    def _take(
        self,
        prefix: str,
        roots: Sequence[Any],
        kind_key: Callable[[Any], Hashable | None],
        make_kind: Callable[[Any], Kind],
    ) -> GraphStep:
        first, first_kind = len(self._arity), self._kinds
        kinds: list[Kind] = []
        rows: list[int] = []
        row_of, known_kinds = self._row_of, self._kind_of
        nodes = _new_nodes(roots, row_of, self._pace)
        self._kept += nodes
        row_of.update(zip(map(id, nodes), range(first, first + len(nodes)), strict=True))
        for chunk in self._pace.chunks(nodes):
            for node in chunk:
                identity = kind_key(node)
                kind = None if identity is None else known_kinds.get(identity)
                if kind is None:
                    kind = first_kind + len(kinds)
                    kinds.append(make_kind(node))
                    if identity is not None:
                        known_kinds[identity] = kind
                rows.append(kind)
        self._kinds += len(kinds)
        arity = np.array([len(node.args) for node in nodes], dtype=np.int64)
        args = np.array([row_of[id(arg)] for node in nodes for arg in node.args], dtype=np.int64)
        back = np.repeat(np.arange(first, first + len(nodes)), arity) - args
        references = np.where(back <= NEAR, back, -1 - args)
        self._start.extend(len(self._args) + np.cumsum(arity) - arity)
        self._arity.extend(arity)
        self._args.extend(args)
        delta = GraphDelta(
            prefix,
            [row_of[id(root)] for root in roots],
            first,
            first_kind,
            kinds,
            rows,
            arity.tolist(),
            references.tolist(),
        )
        return self._figures(delta, nodes)

    def _figures(self, delta: GraphDelta, new: list[Any]) -> GraphStep:
        arity = self._arity.values
        mask = _reachable(delta.roots, arity, self._start.values, self._args.values)
        before = self._previous.get(delta.prefix)
        known = np.zeros_like(mask)
        if before is not None:
            known[: len(before)] = before
        self._previous[delta.prefix] = mask
        return GraphStep(
            delta,
            new,
            nodes=int(mask.sum()),
            edges=int(arity[mask].sum()),
            added=int((mask & ~known).sum()),
            removed=int((known & ~mask).sum()),
        )


def _new_nodes(roots: Sequence[Any], known: Mapping[int, int], pace: Pace) -> list[Any]:
    """Return the nodes below ``roots`` that have no row yet, each after its arguments."""
    nodes: list[Any] = []
    entered: list[Any] = []
    seen: set[int] = set()
    stack = list(reversed(roots))
    while stack:
        pace()
        for _ in range(CHUNK):
            if not stack:
                break
            node = stack.pop()
            if node is None:
                nodes.append(entered.pop())
                continue
            identity = id(node)
            if identity in seen or identity in known:
                continue
            seen.add(identity)
            args = node.args
            if args:
                entered.append(node)
                stack.append(None)
                stack += args[::-1]
            else:
                nodes.append(node)
    return nodes


class _Column:
    """A growing array of integers that numpy sees without a copy of the whole."""

    def __init__(self) -> None:
        self._data = np.empty(1024, dtype=np.int64)
        self._size = 0

    def __len__(self) -> int:
        return self._size

    @property
    def values(self) -> NDArray[np.int64]:
        return self._data[: self._size]

    def extend(self, values: NDArray[np.int64]) -> None:
        size = self._size + len(values)
        if size > len(self._data):
            data = np.empty(2 * size, dtype=np.int64)
            data[: self._size] = self.values
            self._data = data
        self._data[self._size : size] = values
        self._size = size


def _reachable(
    roots: Sequence[int],
    arity: NDArray[np.int64],
    start: NDArray[np.int64],
    args: NDArray[np.int64],
) -> NDArray[np.bool_]:
    mask = np.zeros(len(arity), dtype=bool)
    frontier = np.array(roots, dtype=np.int64)
    mask[frontier] = True
    place = np.empty(len(arity), dtype=np.int64)
    for _ in range(_SHALLOW):
        counts = arity[frontier]
        ends = np.cumsum(counts)
        if not len(ends) or not ends[-1]:
            return mask
        offsets = np.arange(ends[-1]) - np.repeat(ends - counts, counts)
        reached = args[np.repeat(start[frontier], counts) + offsets]
        reached = reached[~mask[reached]]
        mask[reached] = True
        # Each once: the last of those that wrote to a row's place. np.unique costs twice that.
        order = np.arange(len(reached))
        place[reached] = order
        frontier = reached[place[reached] == order]
    # A deep chain has few nodes a level: one sweep from the last row down costs less.
    flags = mask.tolist()
    for row, first, count in zip(
        range(len(flags) - 1, -1, -1), start[::-1].tolist(), arity[::-1].tolist(), strict=True
    ):
        if flags[row]:
            for arg in args[first : first + count].tolist():
                flags[arg] = True
    return np.array(flags, dtype=bool)


def _program_key(node: ProgramNode) -> Hashable | None:
    """Return what the nodes of a kind have in common, or None where no two can share one."""
    attrs = node.attrs
    if not attrs:
        # id() stands for the operation: hashing an Enum runs Python code.
        return (id(node.op), node.dtype.name)
    if not node.args or "kind" in attrs:
        # Nodes are interned, so leaves differ in their attributes; loops differ in their variable.
        return None
    if len(attrs) == 1:
        ((name, value),) = attrs.items()
        if type(value) is str or type(value) is int:
            return (id(node.op), node.dtype.name, name, value)
    return (id(node.op), node.dtype.name, key(attrs))


def _program_kind(node: ProgramNode) -> Kind:
    attrs: Mapping[str, Any] = node.attrs
    op = node.op._value_
    detail = str(node.dtype.name)
    attributes = {
        name: value if type(value) is str or type(value) is int else plain(value)
        for name, value in attrs.items()
    }
    for name in ("name", "target", "callee"):
        if name in attributes:
            detail = f"{detail}\n{attrs[name]}"
            break
    return Kind(op.upper(), detail, _PROGRAM_COLORS.get(op, _WHITE), attributes)


def _expr_key(expr: Expr) -> Hashable:
    value = None if expr.value is None else key(expr.value)
    head = (expr.op, expr.type.dtype.name, expr.shape, expr.name, expr.lowering)
    return (*head, value, key(expr.attrs))


def _expr_kind(expr: Expr) -> Kind:
    op = str(getattr(expr.op, "value", expr.op))
    detail = f"{expr.type.dtype.name}{expr.shape}"
    if expr.name:
        detail += f"\n{expr.name}"
    if op == "const" and expr.value is not None and expr.value.size <= _SMALL_CONSTANT:
        detail += "\n" + np.array2string(expr.value, separator=", ")
    attributes = {name: plain(value) for name, value in expr.attrs.items()}
    attributes["lowering"] = str(expr.lowering)
    if expr.value is not None:
        attributes["value"] = plain(expr.value)
    return Kind(op.upper(), detail, _EXPR_COLORS.get(op, _WHITE), attributes)
