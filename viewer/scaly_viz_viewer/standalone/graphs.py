"""Owns the compact form of a recording's graphs: each node once, and of each step which nodes it has, and where.

``viewer/web/src/archive/graphs.ts`` makes the columns of a step, and all that is known of a node, from it.
"""

from __future__ import annotations

import msgspec

from scaly_viz.analysis.graph_columns import kind_detail
from scaly_viz.analysis.graph_names import label_of, name_of, short
from scaly_viz.analysis.outline import Grouped
from scaly_viz.graph_table import NEAR, Kind
from scaly_viz.recording import Step
from scaly_viz_viewer.standalone.packing import Block


class GraphPacker:
    """The graphs of one recording, in a table of nodes that is read as ``graph_table`` has it.

    A node has a number in the table, below those of its users; its arguments are distances back to
    theirs, far ones ``-1 - number``.
    """

    def __init__(self, block: Block) -> None:
        self._block = block
        self._numbers: dict[int, int] = {}
        self._kinds: dict[int, int] = {}
        self._kept: list[Kind] = []  # a kind is known by its address, which must not be used again
        self._rows: list[int] = []
        self._kind: list[int] = []
        self._arity: list[int] = []
        self._args: list[int] = []

    def add(self, path: str, grouped: Grouped, step: Step) -> None:
        """Add the graph of ``step``, whose address is ``path``."""
        graph = grouped.graph
        numbers = [self._number(grouped, i, row) for i, row in enumerate(graph.rows)]
        states = grouped.changes.states
        packer = self._block.packer
        self._block.answers[path] = [
            step.index,
            grouped.count,
            packer.numbers(numbers),
            packer.numbers(grouped.group),
            packer.numbers(states + [0] * (len(numbers) - len(states))),
            graph.roots,
        ]

    def finish(self) -> None:
        """Add the table."""
        kinds = [
            [
                short(kind.title),
                label_of(kind),
                short(kind.detail),
                short(name_of(kind)),
                msgspec.to_builtins(kind_detail(kind)),
            ]
            for kind in self._kept
        ]
        number = self._block.packer.numbers
        rows, kind = number(self._rows), number(self._kind)
        self._block.answers["nodes"] = [kinds, rows, kind, self._arity, self._args]

    def _number(self, grouped: Grouped, node: int, row: int) -> int:
        known = self._numbers.get(row)
        if known is not None:
            return known
        graph = grouped.graph
        number = self._numbers[row] = len(self._rows)
        self._rows.append(row)
        self._kind.append(self._kind_number(graph.kinds[graph.kind[node]]))
        args = graph.args[node]
        self._arity.append(len(args))
        for arg in args:
            there = self._numbers[graph.rows[arg]]
            back = number - there
            self._args.append(back if back <= NEAR else -1 - there)
        return number

    def _kind_number(self, kind: Kind) -> int:
        number = self._kinds.setdefault(id(kind), len(self._kept))
        if number == len(self._kept):
            self._kept.append(kind)
        return number
