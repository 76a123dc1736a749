"""Owns grouping the nodes of a program: procedure, loop, statement, each with its line of the assembly."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from scaly_viz.analysis import entries as e
from scaly_viz.analysis.entries import Entry
from scaly_viz.analysis.graph_names import (
    constant_integer,
    expression,
    integer_of,
    name_of,
    short,
    text_of,
)
from scaly_viz.graph_rows import GraphRows
from scaly_viz.graph_table import Kind

PROCEDURES = frozenset({"PROC", "KERNEL"})
# Shared statements are shown at each place: a damaged graph could have more of these than atoms exist.
MOST_ENTRIES = 300_000
_PROGRAM = "PROGRAM"


def is_program(graph: GraphRows) -> bool:
    """Tell whether the graph's output is a program or a procedure."""
    titles = [graph.kinds[graph.kind[root]].title for root in graph.roots]
    return len(titles) == 1 and titles[0] in PROCEDURES | {_PROGRAM}


class ProgramTree(NamedTuple):
    """A program as a tree; ``lines`` is how many its assembly should have, 0 where it was cut."""

    root: Entry
    lines: int
    is_cut: bool


def program_entries(graph: GraphRows, parameters: Mapping[str, int] | None = None) -> ProgramTree:
    """Return the tree of a program.

    ``parameters`` says how many of a procedure's arguments are parameters, where the graph does not.
    """
    root = graph.roots[0]
    builder = _Builder(graph, parameters or {})
    if graph.kinds[graph.kind[root]].title != _PROGRAM:
        return builder.done(builder.procedure(root))
    builder.line = 1
    program = Entry(e.PROGRAM, "program", "", root, 1)
    program.children = [builder.procedure(arg) for arg in graph.args[root]]
    builder.line += 1
    return builder.done(program)


@dataclass(slots=True)
class _Builder:
    """Walks a program as its printer does; ``line`` is the last one so far."""

    graph: GraphRows
    parameters: Mapping[str, int]
    line: int = 0
    left: int = field(default_factory=lambda: MOST_ENTRIES)

    def done(self, root: Entry) -> ProgramTree:
        return ProgramTree(root, self.line if self.left > 0 else 0, self.left <= 0)

    def procedure(self, node: int) -> Entry:
        kind = self._kind(node)
        self.line += 1
        name = name_of(kind)
        entry = Entry(e.PROCEDURE, short(f"proc {name}"), name, node, self.line)
        args = self.graph.args[node]
        recorded = integer_of(kind, "param_count")
        known = self.parameters.get(name) if recorded is None else recorded
        count = _clamped(known, len(args))
        given = integer_of(kind, "input_count")
        inputs = [self._parameter(arg, i, given) for i, arg in enumerate(args[:count])]
        outputs = [each for each in inputs if each.kind == e.OUTPUT]
        entry.children = [each for each in inputs if each.kind != e.OUTPUT]
        self._fill(entry, args[count:])
        entry.children += outputs
        self.line += 1
        return entry

    def _parameter(self, node: int, position: int, inputs: int | None) -> Entry:
        kind = e.PARAMETER if inputs is None else e.INPUT if position < inputs else e.OUTPUT
        entry = self._declaration(node)
        entry.kind = kind
        entry.line = self.line
        return entry

    def _fill(self, parent: Entry, statements: Sequence[int]) -> None:
        """Append ``statements`` and all that they enclose to ``parent``."""
        stack: list[tuple[Entry, int]] = [(parent, node) for node in reversed(statements)]
        while stack:
            owner, node = stack.pop()
            if node < 0:
                self.line += 1  # the closing brace
                continue
            title = self._kind(node).title
            args = self.graph.args[node]
            self.left -= 1
            if self.left <= 0:
                return
            if title == "BLOCK":
                stack += [(owner, arg) for arg in reversed(args)]
                continue
            self.line += 1
            if title == "FOR" and args:
                loop = self._loop(node)
                owner.children.append(loop)
                stack.append((owner, -1))
                stack += [(loop, arg) for arg in reversed(args[1:])]
            else:
                owner.children.append(self._statement(node, title))

    def _loop(self, node: int) -> Entry:
        args = self.graph.args[node]
        rng = self._kind(args[0])
        name = text_of(rng, "name") or rng.detail.partition("\n")[2]
        bounds = [expression(self.graph, arg, 24) for arg in self.graph.args[args[0]][:3]]
        title = f"for {short(name, 60)}"
        if "vector_helper" in self._kind(node).attributes:
            title += " over chunks of lanes"
        elif text_of(rng, "kind") == "vector":
            title += " over vector lanes"
        elif len(bounds) == 3:
            step = "" if bounds[2] == "1" else f" step {bounds[2]}"
            title += f" in {bounds[0]}..{bounds[1]}{step}"
        return Entry(e.LOOP, title, name, node, self.line, trips_of(self.graph, node))

    def _statement(self, node: int, title: str) -> Entry:
        graph, kind, args = self.graph, self._kind(node), self.graph.args[node]
        if title == "BUFFER":
            return self._declaration(node)
        name, text = name_of(kind), ""
        calls: tuple[str, ...] = ()
        if title in ("STORE", "STORE_PAIR") and args:
            target = expression(graph, args[0], 60)
            name = text_of(self._kind(args[0]), "buffer")
            text = f"{target} ← {', '.join(expression(graph, arg) for arg in args[1:])}"
        elif title == "ASSIGN" and args:
            text = f"{short(name, 60)} = {expression(graph, args[0])}"
        elif title in ("CALL", "LAUNCH"):
            calls = (name,)
            inner = ", ".join(expression(graph, arg, 40) for arg in args[:8])
            text = f"call {short(name, 80)}({inner}{', …' if len(args) > 8 else ''})"
        text = text or expression(graph, node)
        return Entry(e.STATEMENT, short(text, 160), name, node, self.line, calls=calls)

    def _declaration(self, node: int) -> Entry:
        kind = self._kind(node)
        name = name_of(kind)
        parts = [short(name, 60), _type(kind)]
        alias = text_of(kind, "alias_of")
        if alias:
            parts.append(f"= {short(alias, 60)} + {integer_of(kind, 'alias_offset') or 0}")
        return Entry(e.BUFFER, " ".join(filter(None, parts)), name, node, self.line)

    def _kind(self, node: int) -> Kind:
        return self.graph.kinds[self.graph.kind[node]]


def trips_of(graph: GraphRows, node: int) -> int:
    """Return how often the loop ``node`` runs its body, -1 where that is not a constant.

    A range that was widened to vector lanes counts its elements at the loop over chunks, and the
    loop over lanes as once.
    """
    rng = graph.args[node][0]
    kind = graph.kinds[graph.kind[node]]
    if "vector_helper" in kind.attributes:
        return integer_of(kind, "vector_count") or -1
    bounds = [constant_integer(graph, arg) for arg in graph.args[rng]]
    if len(bounds) != 3 or None in bounds:
        return 1 if text_of(graph.kinds[graph.kind[rng]], "kind") == "vector" else -1
    start, stop, step = (bound or 0 for bound in bounds)
    return max(0, math.ceil((stop - start) / step)) if step else -1


def elements_of(kind: Kind) -> int | None:
    """Return how many elements a buffer of ``kind`` has, where its shape is known."""
    shape = kind.attributes.get("shape")
    if not isinstance(shape, list) or not all(type(size) is int for size in shape):
        return None
    return math.prod(shape)


def _type(kind: Kind) -> str:
    shape = kind.attributes.get("shape")
    dtype = kind.detail.partition("\n")[0]
    sizes = "x".join(str(size) for size in shape[:8]) if isinstance(shape, list) else ""
    return short(f"{dtype} {sizes}".strip(), 60)


def _clamped(count: int | None, most: int) -> int:
    return min(max(count or 0, 0), most)
