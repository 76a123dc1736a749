"""Owns grouping the nodes of expression graphs: a function's operations, and those of each callee."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from scaly_viz.analysis import entries as e
from scaly_viz.analysis.entries import Entry
from scaly_viz.analysis.graph_names import name_of, short, text_of
from scaly_viz.errors import PayloadError
from scaly_viz.graph_rows import GraphRows, join
from scaly_viz.graph_table import Kind
from scaly_viz.recording import GRAPH, Recording, Step

_MOST_FUNCTIONS = 500
_MOST_NODES = 300_000


@dataclass(frozen=True, slots=True)
class Functions:
    """A function's graph and, behind it in ``graph``, those of its callees.

    ``members`` holds for each function its nodes, each after its arguments; ``count`` of the nodes are
    the step's own. ``left_out`` names callees that were recorded, but are too many to show.
    """

    graph: GraphRows
    names: list[str]
    members: list[list[int]]
    count: int
    left_out: int


def function_name(recording: Recording, step: Step) -> str:
    """Return the name of the function whose expression graph ``step`` has."""
    return step.name.partition(":")[2] or recording.function


def with_callees(recording: Recording, step: Step, graph: GraphRows) -> Functions:
    """Return ``graph`` with the graphs of the functions that it calls, as far as steps have them."""
    steps = {
        function_name(recording, each): each
        for each in recording.steps
        if each.dialect == step.dialect and GRAPH in each.payloads and ":" in each.name
    }
    names, parts = [function_name(recording, step)], [graph]
    seen = {names[0]}
    nodes, left_out = len(graph.rows), 0
    waiting = [*_callees(graph)]
    while waiting:
        name = waiting.pop(0)
        if name in seen or name not in steps:
            continue
        seen.add(name)
        try:
            part = recording.graph_rows(steps[name])
        except PayloadError:
            continue
        nodes += len(part.rows)
        if len(parts) == _MOST_FUNCTIONS or nodes > _MOST_NODES:
            left_out += 1
            continue
        names.append(name)
        parts.append(part)
        waiting += _callees(part)
    whole, members = join(parts)
    return Functions(whole, names, members, len(graph.rows), left_out)


def function_entries(functions: Functions) -> Entry:
    """Return the tree of functions and operations."""
    groups = [
        _function(functions.graph, name, nodes)
        for name, nodes in zip(functions.names, functions.members, strict=True)
    ]
    if len(groups) == 1:
        return groups[0]
    return Entry(e.PROGRAM, "functions", "", children=groups)


def find_lines(root: Entry, assembly: str) -> None:
    """Give operations their lines, where ``assembly`` has as many for their function as there are."""
    lines = assembly.split("\n")
    heads = {match[1]: number for number, line in enumerate(lines) if (match := _HEAD.match(line))}
    for function in root.children if root.kind == e.PROGRAM else [root]:
        head = heads.get(function.name)
        if head is None:
            continue
        body = lines[head + 1 : head + 1 + len(function.children)]
        # A callee is printed as it was before it was normalized, and may be another by then.
        if len(body) == len(function.children) and all(map(_is_line_of, body, function.children)):
            function.line = head + 1
            for i, each in enumerate(function.children):
                each.line = head + 2 + i
                if each.kind == e.OPERATION and (match := _VALUE.match(body[i])):
                    each.value = match[1]


def _is_line_of(line: str, operation: Entry) -> bool:
    return f" = expr.{operation.title.partition(' ')[0]}" in line


_VALUE = re.compile(r"\s*%(\w+) = ")
# A name may hold anything; the one that ends at the first bracket is found, others keep no lines.
_HEAD = re.compile(r" *expr\.func @([^(\n]*)\(")


def _function(graph: GraphRows, name: str, nodes: list[int]) -> Entry:
    entry = Entry(e.FUNCTION, short(name), name)
    looks: dict[int, _Look] = {}
    for i, node in enumerate(nodes):
        kind = graph.kind[node]
        look = looks.get(kind)
        if look is None:
            look = looks[kind] = _look(graph.kinds[kind])
        # As the assembly numbers them.
        label = f"%{i}"
        operation = Entry(look.kind, look.title, look.name, node, calls=look.calls, label=label)
        entry.children.append(operation)
    return entry


class _Look(NamedTuple):
    """What operations of one kind have in common."""

    kind: str
    title: str
    name: str
    calls: tuple[str, ...]


def _look(kind: Kind) -> _Look:
    dtype, _, rest = kind.detail.partition("\n")
    callee = text_of(kind, "callee")
    is_input = kind.title == "INPUT"
    name = (name_of(kind) or rest) if is_input else callee
    title = " ".join(filter(None, (short(kind.title, 60).lower(), short(callee or rest, 80))))
    calls = (callee,) if callee else ()
    return _Look(e.INPUT if is_input else e.OPERATION, short(f"{title} : {dtype}"), name, calls)


def _callees(graph: GraphRows) -> Iterable[str]:
    used = dict.fromkeys(graph.kind)
    return dict.fromkeys(filter(None, (text_of(graph.kinds[kind], "callee") for kind in used)))
