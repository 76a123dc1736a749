"""Owns making recording files for the tests: hand-made content, written by the real SDK and exporter."""

from __future__ import annotations

import itertools
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path

from opentelemetry.context import Context
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor

from scaly_viz import attributes as a
from scaly_viz.codec import Encoder, FailedPayload, Payload, text_payload
from scaly_viz.spans import Failure, Head, RecordingSpans, StepSpan
from scaly_viz_exporters.json_file import JsonFileExporter

type Content = str | Payload | FailedPayload
type Steps = Sequence[Mapping[str, Content]]

SECOND = 1_000_000_000
STEPS: Steps = (
    {"assembly": "expr.module {\n}\n"},
    {"assembly": "prog.module {\n}\n", "listing": "for i in 0..3\n"},
    {"code": "void f(void) {}\n"},
)

# Of 2026-09-21: what is recent by the clock of the machine is none of these.
_clock = itertools.count(1_790_000_000, 60)


class Recorder:
    """Writes recordings to ``path``, each a minute of the clock later than the one before."""

    def __init__(self, path: Path, segment_bytes: int | None = None) -> None:
        provider = TracerProvider(shutdown_on_exit=False)
        exporter = JsonFileExporter(path, segment_bytes=segment_bytes)
        provider.add_span_processor(SimpleSpanProcessor(exporter))
        self._tracer = provider.get_tracer("scaly_viz")

    def record(
        self,
        function: str = "f",
        *,
        label: str | None = None,
        steps: Steps = STEPS,
        failure: Failure | None = None,
        recording_id: str | None = None,
    ) -> str:
        """Write a whole recording and return its id."""
        running = self.begin(function, label=label, recording_id=recording_id)
        for step in steps:
            running.add(step)
        running.finish(failure)
        return running.id

    def begin(
        self, function: str = "f", *, label: str | None = None, recording_id: str | None = None
    ) -> Running:
        """Begin a recording that stays incomplete until it is finished."""
        id_ = uuid.uuid4().hex if recording_id is None else recording_id
        start = next(_clock) * SECOND
        spans = RecordingSpans(self._tracer, Head(id_, function, label), Context(), start, {})
        return Running(id_, spans, start)


class Running:
    """A recording whose render has not ended."""

    def __init__(self, id_: str, spans: RecordingSpans, start_ns: int) -> None:
        self.id = id_
        self._spans = spans
        self._encoder = Encoder()
        self._start_ns = start_ns
        self._steps = 0

    def add(self, contents: Mapping[str, Content]) -> None:
        """Write one step."""
        events = []
        for kind, content in contents.items():
            payload = text_payload(kind, content) if isinstance(content, str) else content
            events += [(kind, attributes) for attributes in self._encoder.encode(payload)]
        index, self._steps = self._steps, self._steps + 1
        start = self._start_ns + index * SECOND
        attributes: dict[str, str | int] = {
            a.STEP_NAME: f"pass:number_{index}",
            a.STEP_INDEX: index,
        }
        self._spans.add_step(StepSpan("pass", start, start + SECOND, attributes, events))

    def finish(self, failure: Failure | None = None) -> None:
        """Write the root."""
        attributes: dict[str, str | int] = {a.RECORDING_STEPS: self._steps}
        if failure is not None:
            attributes[a.ERROR] = f"{failure.type}({failure.message!r})"
        end = self._start_ns + self._steps * SECOND
        self._spans.finish(end, attributes, failure)
