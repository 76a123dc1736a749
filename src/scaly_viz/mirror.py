"""Owns the copy of each of our spans that goes through an application's own provider.

What the application's limits, sampler or processors do to the copy, they do not do to ours.
"""

from __future__ import annotations

from collections.abc import Mapping
from operator import methodcaller
from typing import Any

from opentelemetry.context import Context
from opentelemetry.trace import (
    NonRecordingSpan,
    Span,
    SpanContext,
    Status,
    StatusCode,
    Tracer,
    get_current_span,
    set_span_in_context,
)
from opentelemetry.util.types import Attributes, AttributeValue

from scaly_viz.application import Application
from scaly_viz.ids import SystemIds


class MirrorTracer:
    """Starts each span twice: through the application's tracer, and, with the same ids, through our own."""

    def __init__(
        self, own: Tracer, ids: SystemIds, copies: Tracer, application: Application
    ) -> None:
        self._own = own
        self._ids = ids
        self._copies = copies
        self._application = application

    def start_span(self, name: str, context: Context, **options: Any) -> MirroredSpan:
        """Start a span as ``opentelemetry.trace.Tracer.start_span`` does, with the same ``options``."""
        parent = get_current_span(context)
        beside = context
        if isinstance(parent, MirroredSpan):
            context = set_span_in_context(parent.own, Context())
            beside = parent.as_parent()
        start = methodcaller("start_span", name, context=beside, **options)
        copy: Span | None = self._application.attempt("starting a span", start, self._copies)
        ids = None
        if copy is not None:
            ids = self._application.attempt("starting a span", _new_ids, copy, beside)
        with self._ids.given(ids):
            own = self._own.start_span(name, context=context, **options)
        if copy is not None and own.is_recording():
            self._application.attempt("starting a span", self._application.started, name, copy, ids)
        return MirroredSpan(own, copy, beside, self._application)


class MirroredSpan(Span):
    """One of our spans, and its copy where the application's tracer made one."""

    def __init__(
        self, own: Span, copy: Span | None, context: Context, application: Application
    ) -> None:
        self.own = own
        self._copy = copy
        self._context = context
        self._application = application

    def as_parent(self) -> Context:
        """Return the context in which copies of child spans are started: the caller's, with this span."""
        parent = self._copy
        if parent is None:
            parent = NonRecordingSpan(self.own.get_span_context())
        return set_span_in_context(parent, self._context)

    def get_span_context(self) -> SpanContext:
        """Return the ids of our span."""
        return self.own.get_span_context()

    def is_recording(self) -> bool:
        """Return whether our span records, whatever its copy does."""
        return self.own.is_recording()

    def set_attributes(self, attributes: Mapping[str, AttributeValue]) -> None:
        """Set attributes of both."""
        self.own.set_attributes(attributes)
        self._mirror("set_attributes", attributes)

    def set_attribute(self, key: str, value: AttributeValue) -> None:
        """Set an attribute of both."""
        self.set_attributes({key: value})

    def add_event(
        self, name: str, attributes: Attributes = None, timestamp: int | None = None
    ) -> None:
        """Add an event to both."""
        self.own.add_event(name, attributes, timestamp)
        self._mirror("add_event", name, attributes, timestamp)

    def update_name(self, name: str) -> None:
        """Rename both."""
        self.own.update_name(name)
        self._mirror("update_name", name)

    def set_status(self, status: Status | StatusCode, description: str | None = None) -> None:
        """Set the status of both."""
        self.own.set_status(status, description)
        self._mirror("set_status", status, description)

    def record_exception(
        self,
        exception: BaseException,
        attributes: Attributes = None,
        timestamp: int | None = None,
        escaped: bool = False,
    ) -> None:
        """Record an exception on both."""
        self.own.record_exception(exception, attributes, timestamp, escaped)
        self._mirror("record_exception", exception, attributes, timestamp, escaped)

    def end(self, end_time: int | None = None) -> None:
        """End both, and have what the copy lost told."""
        self.own.end(end_time)
        self._mirror("end", end_time)
        if self._copy is not None:
            self._application.attempt(
                "comparing spans", self._application.ended, self.own, self._copy
            )

    def _mirror(self, method: str, *arguments: object) -> None:
        if self._copy is not None:
            call = methodcaller(method, *arguments)
            self._application.attempt(f"Span.{method}", call, self._copy)


def _new_ids(span: Span, context: Context) -> SpanContext | None:
    """Return the ids of ``span``; None where a disabled tracer answered with those of its parent."""
    ids, parent = span.get_span_context(), get_current_span(context).get_span_context()
    return ids if ids.is_valid and ids.span_id != parent.span_id else None
