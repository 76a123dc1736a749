"""Owns the span tree of a recording; the only module that makes spans and events."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from opentelemetry.context import Context
from opentelemetry.trace import Span, Status, StatusCode, Tracer, set_span_in_context

from scaly_viz import attributes as a
from scaly_viz.mirror import MirrorTracer

type Value = str | bool | int | float | Sequence[str]

# The Collector's receivers take 4 MiB a message and its JSON-lines receiver 1 MiB a line.
SPAN_CHARS = 800_000
_EVENT_CHARS = 700
# Jaeger on Badger refuses a message with an attribute over 65,000 bytes, its key and ids included.
TEXT_BYTES = 60_000
_MAX_INT = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Head:
    """What every span of a recording says of it."""

    recording_id: str
    function: str
    label: str | None

    def attributes(self) -> dict[str, Value]:
        """Return the attributes that every span carries."""
        attributes: dict[str, Value] = {
            a.RECORDING_ID: self.recording_id,
            a.SCHEMA: a.SCHEMA_VERSION,
            a.FUNCTION_NAME: self.function,
        }
        if self.label is not None:
            attributes[a.LABEL] = self.label
        return attributes


@dataclass(frozen=True, slots=True)
class StepSpan:
    """One step, ready to become a span: times in nanoseconds since the epoch, events as (kind, attributes)."""

    name: str
    start_ns: int
    end_ns: int
    attributes: Mapping[str, Value]
    events: Sequence[tuple[str, Mapping[str, Value]]]


@dataclass(frozen=True, slots=True)
class Failure:
    """How a render failed: exception class, message, and the stack trace where there is one."""

    type: str
    message: str
    stacktrace: str = ""


class RecordingSpans:
    """The root span of one recording, and the steps below it."""

    def __init__(
        self,
        tracer: Tracer | MirrorTracer,
        head: Head,
        parent: Context,
        start_ns: int,
        attributes: Mapping[str, Value],
    ) -> None:
        self._tracer = tracer
        self._head = head.attributes()
        self._root = tracer.start_span(
            f"{a.SPAN_RENDER} {printable(head.function)}",
            context=parent,
            attributes=clean(self._head | dict(attributes)),
            start_time=start_ns,
            record_exception=False,
            set_status_on_exception=False,
        )
        self._context = set_span_in_context(self._root, Context())

    @property
    def recorded(self) -> bool:
        """False where the tracer's provider drops the span: it is disabled, or its sampler said no."""
        return self._root.is_recording()

    def add_step(self, step: StepSpan) -> None:
        """Emit ``step``; what does not fit its span continues in child spans named ``payload``."""
        chunks = list(put_together(step.events))
        span = self._start(step.name, self._context, step, step.attributes)
        _add_events(span, chunks[0] if chunks else (), step.end_ns)
        context = set_span_in_context(span, Context())
        span.end(step.end_ns)
        for chunk in chunks[1:]:
            index = {a.STEP_INDEX: step.attributes[a.STEP_INDEX]}
            child = self._start(a.SPAN_PAYLOAD, context, step, index)
            _add_events(child, chunk, step.end_ns)
            child.end(step.end_ns)

    def finish(
        self, end_ns: int, attributes: Mapping[str, Value], failure: Failure | None = None
    ) -> None:
        """End the root span, as failed where there is a ``failure``."""
        self._root.set_attributes(clean(attributes))
        if failure is not None:
            self._root.set_attributes(clean({a.ERROR_TYPE: failure.type}))
            self._root.set_status(Status(StatusCode.ERROR, bounded(printable(failure.message))))
            if failure.stacktrace:
                event = {
                    "exception.type": failure.type,
                    "exception.message": failure.message,
                    "exception.stacktrace": failure.stacktrace,
                }
                self._root.add_event(a.EVENT_EXCEPTION, clean(event), end_ns)
        self._root.end(end_ns)

    def _start(
        self, name: str, parent: Context, step: StepSpan, attributes: Mapping[str, Value]
    ) -> Span:
        return self._tracer.start_span(
            printable(name),
            context=parent,
            attributes=clean(self._head | dict(attributes)),
            start_time=step.start_ns,
            record_exception=False,
            set_status_on_exception=False,
        )


def step_span_name(name: str, dialect: str) -> str:
    """Return the low-cardinality name of the span of the step that scaly.viz calls ``name``."""
    if name == "expression":
        return a.SPAN_EXPRESSION_GRAPH
    if dialect == "expr":
        return a.SPAN_NORMALIZE
    if dialect == "c":
        return a.SPAN_EMIT
    prefix, _, rest = name.partition(":")
    return f"{a.SPAN_PASS} {rest}" if prefix == "pass" else a.SPAN_LOWER


def printable(text: str) -> str:
    """Return ``text`` as UTF-8 can carry it: a lone surrogate becomes its escape."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def bounded(text: str) -> str:
    """Return ``text`` as every backend takes it: of one over ``TEXT_BYTES`` its first and its last part."""
    if len(text) * 4 <= TEXT_BYTES:
        return text
    encoded = text.encode("utf-8")
    if len(encoded) <= TEXT_BYTES:
        return text
    half = TEXT_BYTES // 2 - 50
    first, last = (part.decode("utf-8", "ignore") for part in (encoded[:half], encoded[-half:]))
    return f"{first}\n[... cut: {len(encoded)} bytes in all ...]\n{last}"


def clean(attributes: Mapping[str, Value]) -> dict[str, Value]:
    """Return ``attributes`` within what OTLP can carry: UTF-8 texts and 64-bit integers.

    A text with lone surrogates is escaped, and comes a second time as a JSON string, to lose nothing.
    What is too long for a backend loses its middle.
    """
    cleaned: dict[str, Value] = {}
    for key, value in attributes.items():
        if isinstance(value, str):
            text = printable(value)
            cleaned[key] = bounded(text)
            if text != value:
                exact = json.dumps(value)
                if len(exact) <= TEXT_BYTES:
                    cleaned[key + a.JSON_SUFFIX] = exact
        elif isinstance(value, int) and not isinstance(value, bool):
            cleaned[key] = max(-_MAX_INT, min(value, _MAX_INT))
        elif isinstance(value, bool | float):
            cleaned[key] = value
        else:
            # Jaeger keeps a list as one text.
            cleaned[key] = tuple(_first_of(printable(item) for item in value))
    return cleaned


def _first_of(items: Iterable[str]) -> Iterable[str]:
    size = 2
    for item in items:
        size += len(json.dumps(item)) + 2
        if size > TEXT_BYTES:
            return
        yield item


def put_together(
    events: Iterable[tuple[str, Mapping[str, Value]]],
) -> Iterable[list[tuple[str, Mapping[str, Value]]]]:
    """Put ``events``, (kind, attributes) each, together as one span can carry them, in order."""
    chunk: list[tuple[str, Mapping[str, Value]]] = []
    size = 0
    for event in events:
        # Control and non-ASCII characters of a plain body take up to six bytes each in JSON.
        chars = _EVENT_CHARS + sum(_width(v) for v in event[1].values() if isinstance(v, str))
        if chunk and size + chars > SPAN_CHARS:
            yield chunk
            chunk, size = [], 0
        chunk.append(event)
        size += chars
    if chunk:
        yield chunk


def _add_events(
    span: Span, events: Iterable[tuple[str, Mapping[str, Value]]], time_ns: int
) -> None:
    for kind, attributes in events:
        span.add_event(f"{a.EVENT_PREFIX}{kind}", clean(attributes), time_ns)


def _width(text: str) -> int:
    return len(text) if text.isascii() and text.isprintable() else 6 * len(text)
