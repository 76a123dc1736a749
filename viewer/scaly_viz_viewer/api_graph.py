"""Owns the routes that explain graphs and memory; ``docs/api.md`` describes them."""

from __future__ import annotations

from collections.abc import Callable, Hashable

from flask import Blueprint, Response

from scaly_viz.analysis.graph_columns import columns, node_detail
from scaly_viz.analysis.outline import Grouped, group, outline
from scaly_viz.analysis.workspace import workspace
from scaly_viz.errors import PayloadError
from scaly_viz.recording import GRAPH, Step
from scaly_viz_viewer import requested
from scaly_viz_viewer.catalog import Opened
from scaly_viz_viewer.memo import Memo
from scaly_viz_viewer.responses import ApiError, json_response

graph_api = Blueprint("graph_api", __name__, url_prefix="/api/v1/recordings/<key>/steps/<index>")

# A page asks for outline and columns of one step, and then for nodes of it.
_groups: Memo[Grouped] = Memo(3, lambda grouped: len(grouped.graph.rows), 100_000)


@graph_api.get("/outline", provide_automatic_options=False)
def show_outline(key: str, index: str) -> Response:
    """Answer the groups of a step's graph."""
    step, grouped = _grouped(key, index)
    return json_response(outline(grouped, step))


@graph_api.get("/graph", provide_automatic_options=False)
def show_graph(key: str, index: str) -> Response:
    """Answer a step's graph as columns."""
    step, grouped = _grouped(key, index)
    return json_response(columns(grouped, step))


@graph_api.get("/graph/nodes/<node>", provide_automatic_options=False)
def show_node(key: str, index: str, node: str) -> Response:
    """Answer all that is known of one node."""
    _, grouped = _grouped(key, index)
    short = node.isascii() and node.isdigit() and len(node) < 10
    found = node_detail(grouped, int(node)) if short else None
    if found is None:
        raise ApiError(404, "node_not_found", "the graph has no node of this number")
    return json_response(found)


@graph_api.get("/workspace", provide_automatic_options=False)
def show_workspace(key: str, index: str) -> Response:
    """Answer the map of the memory of a step's program."""
    opened = requested.opened(key)
    step = requested.step_of(opened, index)
    _must_have(step, "assembly")
    return json_response(_read(opened, lambda: workspace(opened.recording, step)))


def _grouped(key: str, index: str) -> tuple[Step, Grouped]:
    opened = requested.opened(key)
    step = requested.step_of(opened, index)
    _must_have(step, GRAPH)
    return step, _read(opened, lambda: grouped_of(opened, step))


def grouped_of(opened: Opened, step: Step) -> Grouped:
    """Return the graph of ``step`` with its groups; under the lock of ``opened``.

    Raises:
        PayloadError: the step has no graph, or it cannot be rebuilt.
    """
    what = (opened.recording.id, opened.revision, step.index, _state(opened))
    return _groups.get(what, lambda: group(opened.recording, step))


def _state(opened: Opened) -> Hashable:
    """A graph's groups depend on the graphs before it, and on those of the functions that it calls."""
    graphs = (step.payloads.get(GRAPH) for step in opened.recording.steps)
    return tuple(payload.digest if payload else "" for payload in graphs)


def _must_have(step: Step, kind: str) -> None:
    if kind not in step.payloads:
        raise ApiError(404, "payload_not_found", f"the step has no {kind}")


def _read[Found](opened: Opened, make: Callable[[], Found]) -> Found:
    try:
        with opened.lock:
            return make()
    except PayloadError as error:
        raise ApiError(422, "payload_unreadable", str(error)) from error
