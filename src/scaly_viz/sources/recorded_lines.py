"""Owns the spans of recordings as lines of OTLP JSON: as they were recorded, where that is one line a span."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

from opentelemetry.sdk.trace import ReadableSpan

from scaly_viz import attributes as a
from scaly_viz.respan import span_of_record
from scaly_viz.sources.files import Document
from scaly_viz.span_record import SpanRecord
from scaly_viz_exporters.span_lines import LineError, line_of
from scaly_viz_exporters.span_lines import spans_of as spans_of_line


class SpanLine(NamedTuple):
    """A span, and its line with its end."""

    span: ReadableSpan
    line: bytes

    @property
    def recording(self) -> str:
        """Id of the recording that the span belongs to."""
        return recording_of(self.span)

    @property
    def trace_id(self) -> str:
        """Id of its trace, 32 hex digits."""
        context = self.span.get_span_context()
        return f"{context.trace_id:032x}" if context else ""

    @property
    def span_id(self) -> str:
        """Its id, 16 hex digits."""
        context = self.span.get_span_context()
        return f"{context.span_id:016x}" if context else ""


def recording_of(span: ReadableSpan) -> str:
    """Return the id of the recording that ``span`` belongs to, empty where it belongs to none."""
    recording = (span.attributes or {}).get(a.RECORDING_ID)
    return recording if isinstance(recording, str) else ""


def lines_of(
    document: Document, records: Sequence[SpanRecord] | None = None
) -> tuple[list[SpanLine], int]:
    """Return the spans of recordings in ``document``, and how many others there are.

    What the tolerant reader leaves out is left out here, too; ``records`` are what it has read.
    """
    spans = _spans(document, records)
    ours = [span for span in spans if recording_of(span)]
    data = document.line.data.rstrip()
    if len(spans) == 1 and ours and b"\n" not in data:
        return [SpanLine(ours[0], data + b"\n")], 0
    return [SpanLine(span, line_of(span)) for span in ours], len(spans) - len(ours)


def _spans(document: Document, records: Sequence[SpanRecord] | None) -> list[ReadableSpan]:
    """Return the spans with all that OTLP has; of what only a tolerant reader can read, what we know of."""
    if not (document.spans(events=False) if records is None else records):
        return []
    with suppress(LineError):
        spans = spans_of_line(document.line.data)
        if spans:
            return spans
    return [span_of_record(each) for each in (document.spans() if records is None else records)]
