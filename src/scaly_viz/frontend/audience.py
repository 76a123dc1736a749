"""Owns who is told of renders while they happen: ``scaly-viz run``, which shows how far a compile is."""

from __future__ import annotations

from typing import Protocol

from scaly_viz.frontend.guard import Guard
from scaly_viz.span_record import SpanRecord


class Listener(Protocol):
    """Hears of renders: ``began``, ``took`` and ``ended`` in the compiler's thread, the others in ours."""

    def began(self, recording: str, name: str) -> None:
        """A render whose recording has this id, and is shown by ``name``, has begun."""

    def took(self, recording: str, step: str) -> None:
        """The compiler has made the step of this name."""

    def ended(self, recording: str) -> None:
        """The render has ended, somehow."""

    def wrote(self, span: SpanRecord) -> None:
        """A span of a recording was written."""

    def tick(self) -> None:
        """A quarter of a second, at most, has passed during a render."""


class Audience:
    """Passes on what happens to the listener, if there is one; its errors are told and go no further."""

    def __init__(self, guard: Guard) -> None:
        self._guard = guard
        self.listener: Listener | None = None

    def began(self, recording: str, name: str) -> None:
        """Tell that a render has begun."""
        if self.listener is not None:
            self._guard.run("telling of a render", self.listener.began, recording, name)

    def took(self, recording: str, step: str) -> None:
        """Tell that a step was made."""
        if self.listener is not None:
            self._guard.run("telling of a step", self.listener.took, recording, step)

    def ended(self, recording: str) -> None:
        """Tell that a render has ended."""
        if self.listener is not None:
            self._guard.run("telling of a render's end", self.listener.ended, recording)

    def wrote(self, span: SpanRecord) -> None:
        """Tell that a span was written."""
        if self.listener is not None:
            self._guard.run("telling of a span", self.listener.wrote, span)

    def tick(self) -> None:
        """Tell that time has passed."""
        if self.listener is not None:
            self._guard.run("showing progress", self.listener.tick)
