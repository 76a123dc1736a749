"""Owns one step's graph as numbered nodes, whichever way it was recorded: arguments come before their users."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from scaly_viz.graph_table import Graph, GraphDelta, GraphTable, Kind


@dataclass(frozen=True, slots=True)
class GraphRows:
    """The nodes of one graph, numbered from 0.

    Attributes:
        kinds: what nodes share; node ``i`` is of kind ``kinds[kind[i]]``.
        kind: the kind of each node.
        args: the arguments of each node, each of a lower number.
        rows: who each node is: two steps of a recording that have the same row have the same node.
        roots: the outputs.
        has_attributes: False where the recording holds labels only.
        problems: what of the graph could not be used, in words.
    """

    kinds: Sequence[Kind]
    kind: list[int]
    args: list[Sequence[int]]
    rows: list[int]
    roots: list[int]
    has_attributes: bool = True
    problems: tuple[str, ...] = ()


def of_table(table: GraphTable, delta: GraphDelta) -> GraphRows:
    """Return the graph whose outputs are the roots of ``delta``."""
    rows = table.order(delta.roots)
    number = {row: i for i, row in enumerate(rows)}
    args = table.args
    kind_of = table.kind_of
    return GraphRows(
        kinds=table.kinds,
        kind=[kind_of[row] for row in rows],
        args=[[number[arg] for arg in args[row]] for row in rows],
        rows=rows,
        roots=[number[root] for root in delta.roots],
    )


def join(parts: Sequence[GraphRows]) -> tuple[GraphRows, list[list[int]]]:
    """Put graphs of one recording together: the first keeps its numbers, a node of several counts once.

    Beside it, for each part, the numbers that its nodes have in the whole.
    """
    first = parts[0]
    kinds, kind = [*first.kinds], [*first.kind]
    args, rows = [*first.args], [*first.rows]
    number = {row: i for i, row in enumerate(rows)}
    places = [[*range(len(rows))]]
    for part in parts[1:]:
        shift = 0
        if part.kinds is not first.kinds:
            shift = len(kinds)
            kinds += part.kinds
        place: list[int] = []
        for i, row in enumerate(part.rows):
            known = number.setdefault(row, len(rows))
            if known == len(rows):
                rows.append(row)
                kind.append(part.kind[i] + shift)
                args.append([place[arg] for arg in part.args[i]])
            place.append(known)
        places.append(place)
    has_attributes = all(part.has_attributes for part in parts)
    whole = GraphRows(kinds, kind, args, rows, [*first.roots], has_attributes, first.problems)
    return whole, places


class _Label(NamedTuple):
    title: str
    detail: str
    color: str


def of_graph(graph: Graph) -> GraphRows:
    """Return a graph that is known by its labels only, as scaly.viz records it.

    Equal labels on equal arguments are the same node. Edges to nowhere and edges that close a circle
    are left out, and told.
    """
    nodes = graph["nodes"]
    number = {node["id"]: i for i, node in enumerate(nodes)}
    args, lost = _arguments(graph, number)
    order, broken = _arguments_first(args)
    place = {node: i for i, node in enumerate(order)}
    kinds: dict[_Label, int] = {}
    kind: list[int] = []
    placed: list[list[int]] = []
    rows: list[int] = []
    for node in order:
        own = _kind(nodes[node]["label"], nodes[node]["color"])
        kind.append(kinds.setdefault(own, len(kinds)))
        mine = [place[arg] for arg in args[node]]
        placed.append(mine)
        rows.append(_identity(own, [rows[arg] for arg in mine]))
    problems = []
    if lost:
        problems.append(f"{lost:,} edges or outputs lead to nodes that are not there")
    if broken:
        problems.append(f"{broken:,} edges close a circle and are left out")
    roots = [place[number[output]] for output in graph["outputs"] if output in number]
    found = [Kind(*label, {}) for label in kinds]
    return GraphRows(found, kind, [*placed], rows, roots, False, tuple(problems))


def _kind(label: str, color: str) -> _Label:
    title, _, rest = label.partition("\n")
    # The second line is the node's number in its step, which says nothing of what it is.
    detail = rest.partition("\n")[2] if rest.startswith("%") else rest
    return _Label(title, detail, color)


def _identity(label: _Label, args: list[int]) -> int:
    """Return 48 bits of a digest, which JavaScript can hold too."""
    text = repr((label.title, label.detail, args)).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(text, digest_size=6).digest())


def _arguments(graph: Graph, number: dict[str, int]) -> tuple[list[list[int]], int]:
    """Return the arguments of each node in their order, and how many references lead nowhere."""
    found: list[list[tuple[int, int]]] = [[] for _ in graph["nodes"]]
    lost = sum(output not in number for output in graph["outputs"])
    for edge in graph["edges"]:
        arg, user = number.get(edge["from"]), number.get(edge["to"])
        if arg is None or user is None:
            lost += 1
            continue
        label = edge["label"]
        position = int(label) if label.isascii() and label.isdigit() and len(label) < 9 else 1 << 30
        found[user].append((position, arg))
    for each in found:
        each.sort(key=lambda item: item[0])
    return [[arg for _, arg in each] for each in found], lost


def _arguments_first(args: list[list[int]]) -> tuple[list[int], int]:
    """Return the nodes in an order with arguments first; what closes a circle is taken out of ``args``."""
    state = bytearray(len(args))  # 1 entered, 2 done
    order: list[int] = []
    broken = 0
    for start in range(len(args)):
        stack = [start]
        while stack:
            node = stack[-1]
            if state[node] == 0:
                state[node] = 1
                closing = [arg for arg in args[node] if state[arg] == 1]
                if closing:
                    broken += len(closing)
                    args[node] = [arg for arg in args[node] if state[arg] != 1]
                stack += [arg for arg in reversed(args[node]) if state[arg] == 0]
            else:
                stack.pop()
                if state[node] == 1:
                    state[node] = 2
                    order.append(node)
    return order, broken
