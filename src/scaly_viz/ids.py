"""Owns the ids of our own spans: random ones of the operating system, or those of an application's copy."""

from __future__ import annotations

import threading
from collections.abc import Generator
from contextlib import contextmanager

from opentelemetry.sdk.trace.id_generator import IdGenerator
from opentelemetry.trace import SpanContext

from scaly_viz.system import system


class SystemIds(IdGenerator):
    """Ids from the operating system: the SDK's own generator would advance the user's ``random`` state."""

    def __init__(self) -> None:
        self._given = threading.local()

    def generate_span_id(self) -> int:
        """Return a random id, or the given one."""
        given: SpanContext | None = getattr(self._given, "context", None)
        return given.span_id if given else system().number(64)

    def generate_trace_id(self) -> int:
        """Return a random id, or the given one."""
        given: SpanContext | None = getattr(self._given, "context", None)
        return given.trace_id if given else system().number(128)

    @contextmanager
    def given(self, context: SpanContext | None) -> Generator[None]:
        """Give the span that this thread starts inside the block the ids of ``context``, if there is one."""
        self._given.context = context
        try:
            yield
        finally:
            self._given.context = None
