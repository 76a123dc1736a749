"""Owns the columnar form of graphs: each distinct node once per recording, each step its roots and new nodes.

A node is a row. ``kinds`` holds what many rows share (operation, label, color, attributes); a row
is its kind and its arguments. An argument's row always comes before its user's.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypedDict, cast

import msgspec

from scaly_viz.errors import PayloadError


class GraphNode(TypedDict):
    """A node as scaly.viz shows it."""

    id: str
    label: str
    color: str


# "from" is a keyword, hence the functional form.
GraphEdge = TypedDict("GraphEdge", {"from": str, "to": str, "label": str})


class Graph(TypedDict):
    """A graph as scaly.viz records it: ``outputs`` are ids of ``nodes``."""

    nodes: list[GraphNode]
    edges: list[GraphEdge]
    outputs: list[str]


class Kind(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What rows of one kind share. The label of node i is ``title``, ``%i`` and ``detail``, a line each."""

    title: str
    detail: str
    color: str
    # JsonValue, which msgspec cannot decode: it takes no recursive type.
    attributes: dict[str, Any]


class GraphDelta(msgspec.Struct, frozen=True):
    """What one step adds to the recording's table: the content of a ``scaly.graph`` payload.

    ``first`` is the number of rows and ``first_kind`` that of kinds before this step; ``prefix``
    begins the ids of the step's nodes. ``arity`` holds the number of arguments of each new row,
    ``args`` the references to them, one after the other: the distance back to the argument's row
    if it is at most ``NEAR``, else ``-1 - row``.
    """

    prefix: str
    roots: list[int]
    first: int
    first_kind: int
    kinds: list[Kind]
    rows: list[int]
    arity: list[int]
    args: list[int]


# Near arguments are the row's own subexpressions, at distances that repeat; far ones are shared
# nodes, whose row repeats: together they compress to half of what either form alone does.
NEAR = 64


_ENCODER = msgspec.json.Encoder()
_DECODER = msgspec.json.Decoder(GraphDelta)
_GRAPH_DECODER = msgspec.json.Decoder(Graph)


def encode(delta: GraphDelta) -> bytes:
    """Return ``delta`` as JSON."""
    return encode_json(delta)


def decode(data: bytes) -> GraphDelta:
    """Return the delta in ``data``.

    Raises:
        PayloadError: ``data`` is not a graph payload.
    """
    return _decode(data, _DECODER)


def encode_json(value: object) -> bytes:
    """Return ``value`` as JSON."""
    try:
        return _ENCODER.encode(value)
    except UnicodeEncodeError:
        # Lone surrogates, which msgspec refuses and JSON can escape.
        return json.dumps(msgspec.to_builtins(value)).encode()


def _decode[T](data: bytes, decoder: msgspec.json.Decoder[T]) -> T:
    try:
        try:
            return decoder.decode(data)
        except msgspec.DecodeError:
            if b"\\ud" not in data:
                raise
            return cast("T", msgspec.convert(json.loads(data), decoder.type))
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise PayloadError(f"not a graph: {error}") from error


def decode_graph(data: bytes) -> Graph:
    """Return a whole graph that was recorded as JSON, as scaly.viz does.

    Raises:
        PayloadError: ``data`` is not a graph.
    """
    return _decode(data, _GRAPH_DECODER)


@dataclass(slots=True)
class GraphTable:
    """The rows of one recording, filled delta by delta in the order of its steps."""

    kinds: list[Kind] = field(default_factory=list)
    kind_of: list[int] = field(default_factory=list)
    args: list[Sequence[int]] = field(default_factory=list)

    def extend(self, delta: GraphDelta) -> None:
        """Append what ``delta`` adds.

        Raises:
            PayloadError: ``delta`` does not continue this table, or refers to rows it cannot know.
        """
        if delta.first != len(self.args) or delta.first_kind != len(self.kinds):
            raise PayloadError(
                f"the graph continues a table of {delta.first} nodes, but {len(self.args)} are known"
            )
        args = _args(delta)
        kinds = len(self.kinds) + len(delta.kinds)
        if any(not 0 <= kind < kinds for kind in delta.rows):
            raise PayloadError("a node of the graph has an unknown kind")
        if any(not 0 <= root < delta.first + len(args) for root in delta.roots):
            raise PayloadError("an output of the graph is an unknown node")
        self.kinds.extend(delta.kinds)
        self.kind_of.extend(delta.rows)
        self.args.extend(args)

    def order(self, roots: Iterable[int]) -> list[int]:
        """Return the rows that ``roots`` reach, each after its arguments, first argument first."""
        seen: set[int] = set()
        rows: list[int] = []
        stack = [~root for root in roots]
        stack.reverse()
        args = self.args
        while stack:
            row = stack.pop()
            if row >= 0:
                rows.append(row)
            elif ~row not in seen:
                row = ~row
                seen.add(row)
                stack.append(row)
                stack.extend([~arg for arg in reversed(args[row]) if arg not in seen])
        return rows

    def graph(self, prefix: str, roots: Sequence[int]) -> Graph:
        """Return the graph of ``roots`` as scaly.viz would record it."""
        rows = self.order(roots)
        ids = {row: f"{prefix}{i}" for i, row in enumerate(rows)}
        nodes: list[GraphNode] = []
        edges: list[GraphEdge] = []
        for i, row in enumerate(rows):
            kind = self.kinds[self.kind_of[row]]
            node_id = ids[row]
            label = f"{kind.title}\n%{i}\n{kind.detail}"
            nodes.append({"id": node_id, "label": label, "color": kind.color})
            for position, arg in enumerate(self.args[row]):
                edges.append({"from": ids[arg], "to": node_id, "label": str(position)})
        return {"nodes": nodes, "edges": edges, "outputs": [ids[root] for root in roots]}


def _args(delta: GraphDelta) -> list[Sequence[int]]:
    if len(delta.rows) != len(delta.arity) or sum(delta.arity) != len(delta.args):
        raise PayloadError("the columns of the graph differ in length")
    rows: list[Sequence[int]] = []
    start = 0
    for row, arity in enumerate(delta.arity, delta.first):
        references = delta.args[start : start + arity]
        start += arity
        args = [row - ref if ref >= 0 else -1 - ref for ref in references]
        if any(not 0 <= arg < row for arg in args):
            raise PayloadError("a node of the graph uses one that does not come before it")
        rows.append(args)
    return rows
