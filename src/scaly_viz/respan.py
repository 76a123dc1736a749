"""Owns the way back from what was read to spans that can be sent: of span records, and of scaly.viz's recordings.

scaly.viz has no spans, so its recordings get some whose ids follow from their content: sent twice,
they are the same.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any, cast

from opentelemetry.context import Context
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import Event, ReadableSpan, SpanLimits, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.id_generator import IdGenerator
from opentelemetry.sdk.trace.sampling import ALWAYS_ON
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import SpanContext
from opentelemetry.trace.status import Status, StatusCode
from opentelemetry.util.types import AnyValue

from scaly_viz import attributes as a
from scaly_viz._version import __version__
from scaly_viz.codec import Encoder, Payload
from scaly_viz.recording import Recording, Step
from scaly_viz.scaly_viz_dict import from_dict
from scaly_viz.span_record import Attributes, SpanRecord
from scaly_viz.spans import Failure, Head, RecordingSpans, StepSpan, Value, step_span_name

_STATUS = {"ok": StatusCode.OK, "error": StatusCode.ERROR}
_COUNTED = (a.GRAPH_NODES, a.GRAPH_EDGES, a.CODE_BYTES, a.CODE_LINES)


def span_of_record(record: SpanRecord) -> ReadableSpan:
    """Return ``record`` as a finished span of the SDK."""
    trace_id = int(record.trace_id or "0", 16)
    parent = int(record.parent_span_id or "0", 16)
    code = _STATUS.get(record.status, StatusCode.UNSET)
    return ReadableSpan(
        name=record.name,
        context=SpanContext(trace_id, int(record.span_id or "0", 16), is_remote=False),
        parent=SpanContext(trace_id, parent, is_remote=False) if parent else None,
        resource=Resource(_values(record.resource)),
        attributes=_values(record.attributes),
        events=[Event(e.name, _values(e.attributes), e.time_ns) for e in record.events],
        status=Status(code, record.status_message if code is StatusCode.ERROR else None),
        start_time=record.start_ns,
        end_time=record.end_ns,
        instrumentation_scope=InstrumentationScope(record.scope) if record.scope else None,
    )


def spans_of_dict(data: Mapping[str, Any], origin: str) -> Sequence[ReadableSpan]:
    """Return the spans that a recording of scaly.viz would have had, all at the time when it began."""
    seed = hashlib.sha256(json.dumps(data, sort_keys=True).encode()).digest()
    recording = from_dict(data, origin)
    memory = InMemorySpanExporter()
    unset = SpanLimits.UNSET
    provider = TracerProvider(
        sampler=ALWAYS_ON,
        resource=Resource({"service.name": "scaly"}),
        shutdown_on_exit=False,
        id_generator=_IdsOf(seed),
        span_limits=SpanLimits(max_events=unset, max_span_attributes=unset),
    )
    provider.add_span_processor(SimpleSpanProcessor(memory))
    head = Head(recording.id or seed.hex()[:32], recording.function, recording.label)
    spans = RecordingSpans(
        provider.get_tracer(a.SCOPE, __version__), head, Context(), recording.start_ns, {}
    )
    encoder = Encoder()
    for step in recording.steps:
        spans.add_step(_step_span(recording, step, encoder))
    error = recording.error
    ended: dict[str, Value] = {a.RECORDING_STEPS: len(recording.steps)}
    failure = None
    if error is not None:
        ended[a.ERROR] = error
        failure = Failure(error.partition("(")[0], error)
    spans.finish(recording.end_ns, ended, failure)
    return memory.get_finished_spans()


def _step_span(recording: Recording, step: Step, encoder: Encoder) -> StepSpan:
    attributes: dict[str, Value] = {
        a.STEP_NAME: step.name,
        a.STEP_INDEX: step.index,
        a.STEP_PHASE: step.phase,
        a.STEP_DIALECT: step.dialect,
        a.STEP_CHANGED: step.changed,
        **{key: figure for key in _COUNTED if (figure := step.figure(key)) is not None},
    }
    events = [
        (kind, encoded)
        for kind, payload in step.payloads.items()
        for encoded in encoder.encode(Payload(kind, recording.data(step, kind), payload.media_type))
    ]
    name = step_span_name(step.name, step.dialect)
    return StepSpan(name, step.start_ns, step.end_ns, attributes, events)


class _IdsOf(IdGenerator):
    """Ids that follow from a seed."""

    def __init__(self, seed: bytes) -> None:
        self._seed = seed
        self._spans = 0

    def generate_trace_id(self) -> int:
        return int.from_bytes(self._seed[:16]) or 1

    def generate_span_id(self) -> int:
        self._spans += 1
        digest = hashlib.sha256(self._seed + self._spans.to_bytes(8)).digest()
        return int.from_bytes(digest[:8]) or 1


def _values(attributes: Attributes) -> dict[str, AnyValue]:
    # As wide as the SDK's type, under another name.
    return cast("dict[str, AnyValue]", dict(attributes))
