"""Owns taking graphs from scaly: each distinct node becomes one row of the recording's table."""

from __future__ import annotations

from collections.abc import Callable, Container, Hashable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from scaly_viz.frontend.kinds import expr_key, expr_kind, program_key, program_kind
from scaly_viz.frontend.pace import Pace
from scaly_viz.frontend.walk import unknown_below
from scaly_viz.graph_table import NEAR, GraphDelta, Kind

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scaly.ir.expr import Expr
    from scaly.ir.program import ProgramNode

_SHALLOW = 400
# In a table of few rows a level costs numpy more than all of them cost a loop.
_FEW = 4_000


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

    Nodes are immutable, interned and hashed by identity; the taker keeps every node that it has a
    row for, until ``forget_dead``.
    """

    def __init__(self, pace: Pace) -> None:
        self._pace = pace
        self._row_of: dict[Any, int] = {}
        self._kind_of: dict[Hashable, int] = {}
        self._kinds = 0
        self._arity = _Column()
        self._start = _Column()
        self._args = _Column()
        self._previous: dict[str, NDArray[np.bool_]] = {}

    def take_program(self, root: ProgramNode) -> GraphStep:
        """Add the program at ``root``."""
        return self._take("p", (root,), program_key, program_kind)

    def take_expressions(self, outputs: Sequence[Expr]) -> GraphStep:
        """Add the expression graph of ``outputs``."""
        return self._take("e", outputs, expr_key, expr_kind)

    def forget_dead(self) -> Container[Any]:
        """Release the nodes that the latest steps do not reach; return those still kept."""
        live = np.zeros(len(self._arity), dtype=bool)
        for mask in self._previous.values():
            live[: len(mask)] |= mask
        self._row_of = {node: row for node, row in self._row_of.items() if live[row]}
        return self._row_of

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
        nodes = unknown_below(roots, row_of, self._pace)
        row_of.update(zip(nodes, range(first, first + len(nodes)), strict=True))
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
        args_of = [node.args for node in nodes]
        arity = np.fromiter(map(len, args_of), np.int64, len(nodes))
        args = np.fromiter(map(row_of.__getitem__, chain.from_iterable(args_of)), np.int64)
        back = np.repeat(np.arange(first, first + len(nodes)), arity) - args
        references = np.where(back <= NEAR, back, -1 - args)
        self._start.extend(len(self._args) + np.cumsum(arity) - arity)
        self._arity.extend(arity)
        self._args.extend(args)
        delta = GraphDelta(
            prefix,
            [row_of[root] for root in roots],
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
    for _ in range(_SHALLOW if len(arity) > _FEW else 0):
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
    # A deep chain has few nodes a level, too: one sweep from the last row down costs less.
    flags = mask.tolist()
    for row, first, count in zip(
        range(len(flags) - 1, -1, -1), start[::-1].tolist(), arity[::-1].tolist(), strict=True
    ):
        if flags[row]:
            for arg in args[first : first + count].tolist():
                flags[arg] = True
    return np.array(flags, dtype=bool)
