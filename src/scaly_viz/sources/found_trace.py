"""Owns what the search of a tracing backend says of a trace."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from scaly_viz.span_record import SpanRecord


@dataclass(frozen=True, slots=True)
class FoundTrace:
    """A trace that may have recordings.

    ``spans`` are those of its recordings, None where the search does not give them; they have their
    payloads if ``is_whole``. ``mark`` changes when the trace does, as far as a search can tell.
    """

    trace_id: str
    start_ns: int
    spans: Sequence[SpanRecord] | None = None
    is_whole: bool = False
    mark: str = ""
