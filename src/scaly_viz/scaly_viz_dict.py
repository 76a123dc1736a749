"""Owns the way from the dict that scaly.viz makes of a render to a recording."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scaly_viz import attributes as a
from scaly_viz import codec, graph_table
from scaly_viz.recording import Recording, Step
from scaly_viz.span_record import AttributeValue, SpanRecord

# The year 2262, beyond which nanoseconds exceed 64 bits.
_LATEST_S = 9_223_372_036
_STEP_KEYS = ("name", "phase", "dialect")


def from_dict(data: Mapping[str, Any], origin: str) -> Recording:
    """Return a recording of scaly.viz, of any age, in our form; keys that it lacks stay empty."""
    start_ns = _nanoseconds(data.get("started_at"))
    error = data.get("error")
    listed = data.get("steps") or []
    attributes: dict[str, AttributeValue] = {
        a.RECORDING_ID: str(data.get("id", "")),
        a.RECORDING_STEPS: len(listed),
        a.FUNCTION_NAME: str(data.get("function", "")),
    }
    if data.get("name") not in (None, data.get("function")):
        attributes[a.LABEL] = str(data["name"])
    if error is not None:
        attributes[a.ERROR] = str(error)
    root = SpanRecord(
        trace_id="",
        span_id="",
        parent_span_id="",
        name=f"{a.SPAN_RENDER} {data.get('function', '')}",
        start_ns=start_ns,
        end_ns=start_ns,
        attributes=attributes,
        events=(),
        status="unset" if error is None else "error",
        status_message="" if error is None else str(error),
        resource={},
        scope="scaly.viz",
        origin=origin,
    )
    before: dict[str, str] = {}
    steps = []
    for i, step in enumerate(listed):
        steps.append(_step_from_dict(i, step, start_ns, before))
        before |= {kind: payload.digest for kind, payload in steps[-1].payloads.items()}
    return Recording(str(data.get("id", "")), root, steps, [], spans=(root,))


def _nanoseconds(seconds: object) -> int:
    usable = isinstance(seconds, int | float) and 0 <= seconds < _LATEST_S
    return round(seconds * 1e9) if usable and isinstance(seconds, int | float) else 0


def _step_from_dict(
    index: int, data: Mapping[str, Any], start_ns: int, before: Mapping[str, str]
) -> Step:
    attributes: dict[str, AttributeValue] = {
        a.STEP_NAME: str(data.get("name", "")),
        a.STEP_INDEX: index,
        a.STEP_PHASE: str(data.get("phase", "")),
        a.STEP_DIALECT: str(data.get("dialect", "")),
    }
    step = Step(index, attributes, start_ns, start_ns)
    for kind, value in data.items():
        if kind in _STEP_KEYS or value is None:
            continue
        payload = (
            codec.text_payload(kind, value)
            if isinstance(value, str)
            else codec.Payload(kind, graph_table.encode_json(value), codec.JSON)
        )
        step.payloads[kind] = codec.as_read(payload)
    attributes[a.STEP_CHANGED] = any(
        before.get(kind) != payload.digest for kind, payload in step.payloads.items()
    )
    graph = data.get("graph")
    for key, name in ((a.GRAPH_NODES, "nodes"), (a.GRAPH_EDGES, "edges")):
        if isinstance(graph, Mapping) and isinstance(graph.get(name), list):
            attributes[key] = len(graph[name])
    if isinstance(data.get("code"), str):
        attributes[a.CODE_BYTES] = len(data["code"].encode("utf-8", "surrogatepass"))
        attributes[a.CODE_LINES] = len(data["code"].splitlines())
    return step
