"""Owns the outline of a step's graph: its groups in reading order, what each holds, and what feeds what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from scaly_viz.analysis import entries as e
from scaly_viz.analysis.entries import Entry
from scaly_viz.analysis.flow import Flow, function_flow, program_flow
from scaly_viz.analysis.function_entries import find_lines, function_entries, with_callees
from scaly_viz.analysis.graph_changes import CHANGED, NEW, SAME, Changes, changes
from scaly_viz.analysis.graph_names import LONGEST, short
from scaly_viz.analysis.labeled_program import name_by_text, parameters_of
from scaly_viz.analysis.program_entries import is_program, program_entries
from scaly_viz.errors import PayloadError
from scaly_viz.graph_rows import GraphRows
from scaly_viz.recording import Recording, Step

_ASSEMBLY = "assembly"


class OutlineNodes(msgspec.Struct, frozen=True):
    """One entry an index, in reading order: what encloses an entry stands before it, ``parent`` is its index.

    ``id`` is the same at the same place in other steps, as far as names go. ``kind`` is program,
    procedure, input, output, parameter, buffer, loop, statement, function, operation, or run: neighbors
    put together because there are many. ``children`` counts the entries directly below, ``node_count``
    the graph's nodes in it and below, each where it is first used. ``changed`` is 1 for what is new,
    2 for what holds something new; ``changed_count`` says how many nodes. ``node`` is the entry's
    node in the graph's columns, -1 for none; ``line`` its line of the assembly, 0 where unknown;
    ``trips`` how often a loop runs its body, -1 where that is not constant.
    """

    id: list[str]
    parent: list[int]
    title: list[str]
    name: list[str]
    kind: list[str]
    children: list[int]
    node_count: list[int]
    changed: list[int]
    changed_count: list[int]
    node: list[int]
    line: list[int]
    trips: list[int]


class OutlineEdges(msgspec.Struct, frozen=True):
    """What feeds what: ``source`` and ``target`` are entries, ``label`` an index of ``labels``.

    ``calls`` are pairs of entries: who calls, and what. ``omitted`` edges are left out because one
    statement has too many.
    """

    source: list[int]
    target: list[int]
    label: list[int]
    labels: list[str]
    calls: list[tuple[int, int]]
    omitted: int


class Outline(msgspec.Struct, frozen=True):
    """The groups of a step's graph. ``against`` is the index of the step that it was compared with, if any.

    ``nodes_total`` and ``edges_total`` count the step's own graph, ``removed`` the nodes that it lost.
    """

    step: int
    dialect: str
    against: int | None
    nodes_total: int
    edges_total: int
    removed: int
    nodes: OutlineNodes
    edges: OutlineEdges
    problems: list[str]


@dataclass(frozen=True, slots=True)
class Grouped:
    """A step's graph with its groups: ``entries`` in reading order, ``group`` the entry of each node.

    ``count`` nodes are the step's own; those behind them belong to callees.
    """

    graph: GraphRows
    count: int
    changes: Changes
    entries: list[tuple[Entry, Entry | None]]
    group: list[int]
    flow: Flow
    problems: list[str]


def group(recording: Recording, step: Step) -> Grouped:
    """Return the graph of ``step`` with its groups.

    Raises:
        PayloadError: the step has no graph, or it cannot be rebuilt.
    """
    graph = recording.graph_rows(step)
    compared = changes(recording, step, graph)
    problems = [*graph.problems]
    count = len(graph.rows)
    if graph.roots and is_program(graph):
        assembly = _assembly(recording, step)
        tree = program_entries(graph, None if graph.has_attributes else parameters_of(assembly))
        root = tree.root
        flow = program_flow(graph, root) if graph.has_attributes else Flow()
        if not graph.has_attributes:
            problems.append("only labels were recorded: what feeds what is not known")
        if tree.is_cut:
            problems.append("the program has too many statements: the rest is left out")
        if not tree.lines or tree.lines != assembly.count("\n") + 1:
            _forget_lines(root)
        elif not graph.has_attributes:
            name_by_text(root, assembly)
    else:
        functions = with_callees(recording, step, graph)
        graph = functions.graph
        root = function_entries(functions)
        find_lines(root, _assembly(recording, step))
        flow = function_flow(graph, root)
        if functions.left_out:
            problems.append(f"{functions.left_out:,} callees are left out: there are too many")
    if flow.is_cut:
        problems.append("the program is too big: what feeds what is known for its beginning only")
    e.bundled(root)
    entries = [*e.preorder(root)]
    for i, (entry, _) in enumerate(entries):
        entry.number = i
    return Grouped(graph, count, compared, entries, _owners(graph, entries), flow, problems)


def outline(grouped: Grouped, step: Step) -> Outline:
    """Return the outline of ``grouped``, the graph of ``step``."""
    graph = grouped.graph
    states = grouped.changes.states
    return Outline(
        step=step.index,
        dialect=step.dialect,
        against=grouped.changes.against,
        nodes_total=grouped.count,
        edges_total=sum(len(args) for args in graph.args[: grouped.count]),
        removed=grouped.changes.removed,
        nodes=_nodes(grouped.entries, grouped.group, states),
        edges=_edges(grouped.entries, grouped.flow),
        problems=grouped.problems,
    )


def _nodes(
    entries: Sequence[tuple[Entry, Entry | None]], owners: Sequence[int], states: Sequence[int]
) -> OutlineNodes:
    parents = [-1 if parent is None else parent.number for _, parent in entries]
    counts, changed = [0] * len(entries), [0] * len(entries)
    for i, owner in enumerate(owners):
        if owner >= 0:
            counts[owner] += 1
            changed[owner] += i < len(states) and states[i] != SAME
    for i in range(len(entries) - 1, 0, -1):
        counts[parents[i]] += counts[i]
        changed[parents[i]] += changed[i]
    own = [each for each, _ in entries]
    return OutlineNodes(
        id=e.keys_of([*entries]),
        parent=parents,
        title=[each.title for each in own],
        name=[short(each.value or each.name, LONGEST) for each in own],
        kind=[each.kind for each in own],
        children=[len(each.children) for each in own],
        node_count=counts,
        changed=_changed(own, changed, states),
        changed_count=changed,
        node=[each.node for each in own],
        line=[each.line for each in own],
        trips=[each.trips for each in own],
    )


def _changed(entries: Sequence[Entry], counts: Sequence[int], states: Sequence[int]) -> list[int]:
    """A shared statement that was counted elsewhere is as new here; a run of new ones is new."""
    found = [
        states[each.node] if 0 <= each.node < len(states) else CHANGED if count else SAME
        for each, count in zip(entries, counts, strict=True)
    ]
    for each in reversed(entries):
        if each.kind == e.RUN:
            below = {found[child.number] for child in each.children}
            found[each.number] = SAME if below == {SAME} else NEW if below == {NEW} else CHANGED
    return found


def _edges(entries: Sequence[tuple[Entry, Entry | None]], flow: Flow) -> OutlineEdges:
    labels: dict[str, int] = {}
    groups = {each.name: each.number for each, _ in reversed(entries) if each.kind in _CALLABLE}
    calls = {
        (each.number, groups[name]): None
        for each, _ in entries
        for name in each.calls
        if name in groups
    }
    return OutlineEdges(
        source=[source.number for source, _, _ in flow.edges],
        target=[target.number for _, target, _ in flow.edges],
        label=[labels.setdefault(short(label), len(labels)) for _, _, label in flow.edges],
        labels=[*labels],
        calls=[*calls],
        omitted=flow.omitted,
    )


_CALLABLE = (e.PROCEDURE, e.FUNCTION)


def _owners(graph: GraphRows, entries: Sequence[tuple[Entry, Entry | None]]) -> list[int]:
    """Return for each node the entry in which it is first used, in reading order; -1 for none."""
    owners = [-1] * len(graph.rows)
    standing = {each.node for each, _ in entries}
    for each, _ in entries:
        if each.node < 0 or owners[each.node] >= 0:
            continue
        owners[each.node] = each.number
        stack = [arg for arg in graph.args[each.node] if arg not in standing]
        while stack:
            node = stack.pop()
            if owners[node] < 0:
                owners[node] = each.number
                stack += [arg for arg in graph.args[node] if arg not in standing]
    return owners


def _assembly(recording: Recording, step: Step) -> str:
    try:
        return recording.text(step, _ASSEMBLY)
    except PayloadError:
        return ""


def _forget_lines(root: Entry) -> None:
    for each, _ in e.preorder(root):
        each.line = 0
