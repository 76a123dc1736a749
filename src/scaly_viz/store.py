"""Owns this process's recordings in memory, as encoded spans and within a budget of bytes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from itertools import chain
from typing import cast

from opentelemetry.sdk.trace import Event, ReadableSpan, SpanProcessor
from opentelemetry.util.types import AnyValue

from scaly_viz import attributes as a
from scaly_viz import log
from scaly_viz.span_record import Attributes, EventRecord, SpanRecord


class SpanStore:
    """The spans of recent recordings; beyond ``max_bytes`` the oldest whole recordings go."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        # Reentrant: a signal handler may look at recordings in the middle of this.
        self._lock = threading.RLock()
        self._spans: dict[str, list[SpanRecord]] = {}
        self._sizes: dict[str, int] = {}
        self._total = 0
        self._told = False
        self.added: Callable[[SpanRecord], None] | None = None
        """Called with each span that is added."""

    def add(self, span: SpanRecord) -> None:
        """Keep ``span``."""
        recording = str(span.attributes[a.RECORDING_ID])
        with self._lock:
            self._spans.setdefault(recording, []).append(span)
            size = _size(span)
            self._sizes[recording] = self._sizes.get(recording, 0) + size
            self._total += size
            while self._total > self._max_bytes and len(self._spans) > 1:
                oldest = next(iter(self._spans))
                del self._spans[oldest]
                self._total -= self._sizes.pop(oldest, 0)
                self._tell()
        if self.added is not None:
            self.added(span)

    def spans(self) -> list[SpanRecord]:
        """Return all spans, those of the oldest recording first."""
        with self._lock:
            return list(chain.from_iterable(self._spans.values()))

    def clear(self) -> None:
        """Forget all spans."""
        with self._lock:
            self._spans.clear()
            self._sizes.clear()
            self._total = 0

    def _tell(self) -> None:
        if not self._told:
            self._told = True
            log.warn(
                "recordings() now forgets this process's oldest recordings: they exceed"
                " SCALY_VIZ_MEMORY_BYTES=%d; load_recordings() still reads those in the file",
                self._max_bytes,
            )

    def after_fork(self) -> None:
        """Make the copy in a forked child usable."""
        self._lock = threading.RLock()


class StoreProcessor(SpanProcessor):
    """Hands every ended span of scaly-viz to a store."""

    def __init__(self, store: SpanStore) -> None:
        self._store = store

    def on_end(self, span: ReadableSpan) -> None:
        """Keep ``span`` if it belongs to a recording."""
        if span.attributes and a.RECORDING_ID in span.attributes:
            self._store.add(record(span))


def record(span: ReadableSpan) -> SpanRecord:
    """Return the neutral form of an ended SDK span."""
    context = span.get_span_context()
    scope = span.instrumentation_scope
    return SpanRecord(
        trace_id=f"{context.trace_id:032x}" if context else "",
        span_id=f"{context.span_id:016x}" if context else "",
        parent_span_id=f"{span.parent.span_id:016x}" if span.parent else "",
        name=span.name,
        start_ns=span.start_time or 0,
        end_ns=span.end_time or 0,
        attributes=_attributes(span.attributes),
        events=tuple([_event(event) for event in span.events]),
        status=span.status.status_code.name.lower(),
        status_message=span.status.description or "",
        resource=_attributes(span.resource.attributes),
        scope=scope.name if scope else "",
        origin="this process",
    )


def _event(event: Event) -> EventRecord:
    return EventRecord(event.name, event.timestamp, _attributes(event.attributes))


def _attributes(attributes: Mapping[str, AnyValue] | None) -> Attributes:
    # The SDK's type of values is ours, but for bytes inside sequences, which we never write.
    return cast("Attributes", dict(attributes or {}))


def _size(span: SpanRecord) -> int:
    bodies = sum(len(str(e.attributes.get(a.PAYLOAD_BODY, ""))) for e in span.events)
    return 1_000 + 300 * len(span.events) + bodies
