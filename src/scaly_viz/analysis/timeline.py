"""Owns when each step of a render ran, and which other renders ran meanwhile in its process."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from scaly_viz.analysis.summary import RecordingSummary
from scaly_viz.recording import Recording


class TimelineSpan(msgspec.Struct, frozen=True):
    """One bar; times are seconds, ``start_s`` since the render began.

    ``recording`` is what the bar belongs to, and ``step`` the index of its step, None for a render.
    ``depth`` is 0 for the render, 1 for its steps, and 2 for renders that ran inside of a step.
    """

    name: str
    recording: str
    step: int | None
    status: str
    start_s: float
    duration_s: float
    depth: int


class Timeline(msgspec.Struct, frozen=True):
    """The bars of one recording, in the order of their beginning; the render itself is the first."""

    spans: list[TimelineSpan]


def timeline(recording: Recording, key: str, others: Iterable[RecordingSummary]) -> Timeline:
    """Return the bars of ``recording``, which ``key`` addresses.

    Of ``others``, those count that began while it ran, in the same process.
    """
    begin, end = recording.start_ns / 1e9, recording.end_ns / 1e9
    name, status = recording.name, recording.status
    spans = [TimelineSpan(name, key, None, status, 0.0, recording.duration_s, 0)]
    for step in recording.steps:
        if not step.placeholder:
            start_s = step.start_ns / 1e9 - begin
            state = "ok" if step.changed else "same"
            spans.append(
                TimelineSpan(step.name, key, step.index, state, start_s, step.duration_s, 1)
            )
    process, host = recording.head.resource.get("process.pid"), _host(recording)
    for other in others:
        is_near = other.process == process is not None and other.host == host
        if is_near and other.id != key and begin <= other.started_at < end:
            start_s = other.started_at - begin
            spans.append(
                TimelineSpan(other.name, other.id, None, other.status, start_s, other.duration_s, 2)
            )
    return Timeline(sorted(spans, key=lambda span: (span.start_s, span.depth)))


def _host(recording: Recording) -> str:
    return str(recording.head.resource.get("host.name", ""))
