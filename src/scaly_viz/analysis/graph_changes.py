"""Owns the comparison of two steps' graphs: which nodes are new, and which took the place of another.

Nodes never change: what a pass touches becomes a new node, and so does everything that uses it, up to
the program. A new node *changed* where it stands in the place of an old one and does the same: both
are paired from the outputs down. What has no such partner is *new*.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass

from scaly_viz.analysis.graph_names import name_of
from scaly_viz.errors import PayloadError
from scaly_viz.graph_rows import GraphRows
from scaly_viz.recording import GRAPH, Recording, Step

SAME, NEW, CHANGED = 0, 1, 2
_TARGETED = frozenset({"STORE", "STORE_PAIR", "LOAD", "FOR"})


@dataclass(frozen=True, slots=True)
class Changes:
    """A state for each node, and how many nodes of ``against``, a step's index, are gone.

    Where there is nothing to compare with, ``against`` is None and all nodes are the same.
    """

    states: list[int]
    removed: int = 0
    against: int | None = None


def changes(recording: Recording, step: Step, graph: GraphRows) -> Changes:
    """Return what ``step`` changed in its ``graph``, against the last step before of the same thing.

    Programs follow one another; an expression graph is that of one function.
    """
    thing = _thing(recording, step)
    for each in reversed(recording.steps):
        same = each.dialect == step.dialect and _thing(recording, each) == thing
        if each.index < step.index and same and GRAPH in each.payloads:
            try:
                before = recording.graph_rows(each)
            except PayloadError:
                continue
            states, removed = compare(before, graph)
            return Changes(states, removed, each.index)
    return Changes([SAME] * len(graph.rows))


def compare(before: GraphRows, after: GraphRows) -> tuple[list[int], int]:
    """Return the state of each node of ``after``, and how many of ``before`` are gone."""
    known, now = set(before.rows), set(after.rows)
    states = [SAME if row in known else NEW for row in after.rows]
    stack = [(before.roots, after.roots)]
    while stack:
        old, new = stack.pop()
        gone = [node for node in old if before.rows[node] not in now]
        come = [node for node in new if states[node] == NEW]
        for a, b in _pairs(before, after, gone, come):
            if states[b] == NEW:
                states[b] = CHANGED
                stack.append(([*before.args[a]], [*after.args[b]]))
    return states, len(known - now)


def _pairs(
    before: GraphRows, after: GraphRows, old: Sequence[int], new: Sequence[int]
) -> Iterator[tuple[int, int]]:
    """Pair nodes that do the same: the first with the first of that sort, and so on."""
    if not old or not new:
        return
    waiting: dict[Hashable, list[int]] = {}
    for node in reversed(old):
        waiting.setdefault(_sort(before, node), []).append(node)
    for node in new:
        partners = waiting.get(_sort(after, node))
        if partners:
            yield partners.pop(), node


def _sort(graph: GraphRows, node: int) -> Hashable:
    """What a node does: its operation and type, and the name of its target where its argument has it."""
    kind = graph.kinds[graph.kind[node]]
    args = graph.args[node]
    has_target = kind.title in _TARGETED and len(args) > 0
    target = name_of(graph.kinds[graph.kind[args[0]]]) if has_target else ""
    return kind.title, kind.detail, target


def _thing(recording: Recording, step: Step) -> str:
    return "" if step.dialect == "prog" else step.name.partition(":")[2] or recording.function
