"""Owns a CSV file of what each step of each recording took: a row a step, to be plotted or compared in CI."""

from __future__ import annotations

import csv
import os
from collections.abc import Sequence
from pathlib import Path

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

_COLUMNS = ("recording", "function", "step", "seconds", "nodes", "flops")


class PassTimesExporter(SpanExporter):
    """Appends to the file that ``PASS_TIMES_FILE`` names, by default ``pass_times.csv``."""

    def __init__(self) -> None:
        # Whoever finds an exporter by its name constructs it without arguments.
        self._path = Path(os.environ.get("PASS_TIMES_FILE", "pass_times.csv"))

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Append the steps among ``spans``; an OSError says what is wrong with the file."""
        rows = [row for span in spans if (row := _row(span))]
        with self._path.open("a", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            if rows and file.tell() == 0:
                writer.writerow(_COLUMNS)
            writer.writerows(rows)
        return SpanExportResult.SUCCESS


def _row(span: ReadableSpan) -> tuple[object, ...] | None:
    attributes = span.attributes or {}
    step = attributes.get("scaly.step.name")
    if step is None or span.start_time is None or span.end_time is None:
        # The root of a recording, a span of its payloads, or one of the application's own.
        return None
    return (
        attributes["scaly.recording.id"],
        attributes["scaly.function.name"],
        step,
        (span.end_time - span.start_time) / 1e9,
        attributes.get("scaly.graph.nodes"),
        attributes.get("scaly.program.flops"),
    )
