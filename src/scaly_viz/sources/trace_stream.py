"""Owns the reading of answers that hold many traces, one trace at a time."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby
from typing import NamedTuple

import ijson  # type: ignore[import-untyped]  # has no types

from scaly_viz import attributes as a
from scaly_viz.errors import BackendError, RecordingFileError
from scaly_viz.sources.http import Body
from scaly_viz.sources.lines import Report
from scaly_viz.sources.otlp_json import decode_resource
from scaly_viz.span_record import SpanRecord

# In a JSON string the quotes would be escaped, so this is an error that ends a stream.
_ERROR = re.compile(rb'\{\s*"error"\s*:\s*\{.*?"message"\s*:\s*"((?:[^"\\]|\\.)*)"', re.DOTALL)


class Trace(NamedTuple):
    """One trace: when it began, in nanoseconds, and those of its spans that belong to recordings."""

    trace_id: str
    start_ns: int
    spans: list[SpanRecord]


def traces(body: Body, origin: str, report: Report) -> Iterator[Trace]:
    """Yield the traces of an answer of Jaeger's API, in its order; each comes in one piece.

    Memory is bounded by one trace. Spans that belong to no recording are passed over.

    Raises:
        BackendError: the answer is damaged or breaks off, or tells of an error.
    """
    for trace_id, spans in groupby(_spans(body, origin, report), lambda span: span.trace_id):
        start, kept = 1 << 64, []
        for span in spans:
            start = min(start, span.start_ns)
            if a.RECORDING_ID in span.attributes:
                kept.append(span)
        yield Trace(trace_id, start, kept)


def _spans(body: Body, origin: str, report: Report) -> Iterator[SpanRecord]:
    # Without the envelope of the HTTP gateway the same message begins at its own field.
    envelope = "" if re.match(rb'\{\s*"resource_?[Ss]pans"', body.start()) else "result."
    prefix = f"{envelope}resourceSpans.item"
    latest = ""
    try:
        for item in ijson.items(body, prefix, multiple_values=True, use_float=True):
            try:
                spans = decode_resource(item, origin)
            except RecordingFileError as error:
                report(f"{error}; these spans were left out")
                continue
            yield from spans
            if spans and spans[-1].trace_id != latest:
                latest = spans[-1].trace_id
                body.allow_more()
    except ijson.JSONError as error:
        cause = str(error).partition("\n")[0][:100]
        raise BackendError(f"{origin}: the answer is no JSON or breaks off: {cause}") from error
    said = _ERROR.search(body.tail)
    if said:
        message = said[1].decode("utf-8", "replace")[:200]
        raise BackendError(f"{origin}: the search failed in the middle: {message}")
