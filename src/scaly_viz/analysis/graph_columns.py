"""Owns the columns of a step's graph: one array per property, so that a browser can hold a big one."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

import msgspec

from scaly_viz.analysis.graph_names import LONGEST, label_of, name_of, short
from scaly_viz.analysis.outline import Grouped
from scaly_viz.graph_table import Kind
from scaly_viz.recording import Step
from scaly_viz.span_record import JsonValue

_LONGEST_VALUE = 20_000


class GraphColumns(msgspec.Struct, frozen=True):
    """The nodes of a step's graph, numbered so that arguments come before their users.

    ``title``, ``label``, ``detail`` and ``name`` are indices of ``titles``, ``labels``, ``details`` and
    ``names`` (name -1 for none); a label says what the node is in few words: ``35``, ``var i``,
    ``mul``. ``row`` is who the node is: the same number in another step of the recording is the same
    node. Node i has the arguments ``args[arg_offsets[i]:arg_offsets[i + 1]]``. ``group`` is the
    entry of the outline in which it is first used, -1 for none; ``state`` is 1 for what is new in this
    step, 2 for what took the place of another. ``count`` nodes are the step's own, the others belong to
    functions that it calls.
    """

    step: int
    count: int
    titles: list[str]
    labels: list[str]
    details: list[str]
    names: list[str]
    title: list[int]
    label: list[int]
    detail: list[int]
    name: list[int]
    row: list[int]
    arg_offsets: list[int]
    args: list[int]
    group: list[int]
    state: list[int]
    roots: list[int]


class NodeReference(msgspec.Struct, frozen=True):
    """Another node, as a link to it shows it."""

    node: int
    title: str
    detail: str
    group: int


class NodeDetail(msgspec.Struct, frozen=True):
    """All that is known of one node. ``users_total`` counts those beyond ``users`` as well."""

    node: int
    row: int
    title: str
    detail: str
    name: str
    attributes: dict[
        str, Any
    ]  # JsonValue, which msgspec cannot describe: it takes no recursive type
    state: int
    group: int
    args: list[NodeReference]
    users: list[NodeReference]
    users_total: int


_MOST_REFERENCES = 200


class KindDetail(msgspec.Struct, frozen=True):
    """What is known of all nodes of a kind, in full but for what is longer than anybody reads."""

    title: str
    detail: str
    name: str
    attributes: dict[str, Any]  # see NodeDetail


def kind_detail(kind: Kind) -> KindDetail:
    """Return what is known of the nodes of ``kind``."""
    return KindDetail(
        title=short(kind.title, _LONGEST_VALUE),
        detail=short(kind.detail, _LONGEST_VALUE),
        name=short(name_of(kind), _LONGEST_VALUE),
        attributes={short(key): _bounded(value) for key, value in kind.attributes.items()},
    )


def columns(grouped: Grouped, step: Step) -> GraphColumns:
    """Return the graph of ``grouped``, which is that of ``step``, as columns."""
    graph = grouped.graph
    titles: dict[str, int] = {}
    details: dict[str, int] = {}
    names: dict[str, int] = {}
    labels: dict[str, int] = {}
    palette: dict[int, tuple[int, int, int, int]] = {}
    for i in dict.fromkeys(graph.kind):
        kind = graph.kinds[i]
        name = short(name_of(kind))
        palette[i] = (
            titles.setdefault(short(kind.title), len(titles)),
            details.setdefault(short(kind.detail), len(details)),
            names.setdefault(name, len(names)) if name else -1,
            labels.setdefault(label_of(kind), len(labels)),
        )
    states = grouped.changes.states
    return GraphColumns(
        step=step.index,
        count=grouped.count,
        titles=[*titles],
        labels=[*labels],
        details=[*details],
        names=[*names],
        title=[palette[i][0] for i in graph.kind],
        label=[palette[i][3] for i in graph.kind],
        detail=[palette[i][1] for i in graph.kind],
        name=[palette[i][2] for i in graph.kind],
        row=graph.rows,
        arg_offsets=[*accumulate(map(len, graph.args), initial=0)],
        args=[arg for args in graph.args for arg in args],
        group=grouped.group,
        state=states + [0] * (len(graph.rows) - len(states)),
        roots=graph.roots,
    )


def node_detail(grouped: Grouped, node: int) -> NodeDetail | None:
    """Return what is known of ``node``, None where there is no such node."""
    graph = grouped.graph
    if not 0 <= node < len(graph.rows):
        return None
    kind = kind_detail(graph.kinds[graph.kind[node]])
    users = [user for user, args in enumerate(graph.args) if node in args]
    states = grouped.changes.states
    return NodeDetail(
        node=node,
        row=graph.rows[node],
        title=kind.title,
        detail=kind.detail,
        name=kind.name,
        attributes=kind.attributes,
        state=states[node] if node < len(states) else 0,
        group=grouped.group[node],
        args=[_reference(grouped, arg) for arg in graph.args[node][:_MOST_REFERENCES]],
        users=[_reference(grouped, user) for user in users[:_MOST_REFERENCES]],
        users_total=len(users),
    )


def _reference(grouped: Grouped, node: int) -> NodeReference:
    kind = grouped.graph.kinds[grouped.graph.kind[node]]
    detail = short(kind.detail, LONGEST)
    return NodeReference(node, short(kind.title, LONGEST), detail, grouped.group[node])


def _bounded(value: JsonValue) -> JsonValue:
    if isinstance(value, str):
        return short(value, _LONGEST_VALUE)
    encoded = msgspec.json.encode(value)
    if len(encoded) <= _LONGEST_VALUE:
        return value
    return short(encoded.decode("utf-8", "replace"), _LONGEST_VALUE)
