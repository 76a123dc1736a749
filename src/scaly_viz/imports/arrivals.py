"""Owns what of a file to be imported goes into a recording file: every span that is not there yet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from opentelemetry.sdk.trace import ReadableSpan

from scaly_viz import attributes as a
from scaly_viz.errors import RecordingFileError
from scaly_viz.sources.files import read_spans
from scaly_viz.sources.lines import Report
from scaly_viz.sources.recorded_lines import SpanLine
from scaly_viz_exporters.json_file import JsonFileExporter

# So much is written at once.
_BATCH_BYTES = 4_000_000


@dataclass(slots=True)
class Arrival:
    """One recording of an imported file: how many of its spans were added, and how many were there.

    ``other`` tells that there is another recording of this id, which was left as it is.
    """

    id: str
    name: str
    added: int = 0
    present: int = 0
    other: bool = False


@dataclass(slots=True)
class _Known:
    trace_id: str
    spans: set[str] = field(default_factory=set)


class RecordingFile:
    """The file that recordings are imported into, and what it has."""

    def __init__(self, path: Path, report: Report) -> None:
        self._exporter = JsonFileExporter(path)
        self._known: dict[str, _Known] = {}
        for span in read_spans(path, report, events=False):
            recording = span.attributes.get(a.RECORDING_ID)
            if isinstance(recording, str) and recording:
                known = self._known.setdefault(recording, _Known(span.trace_id))
                known.spans.add(span.span_id)

    def add(self, lines: Iterable[SpanLine]) -> list[Arrival]:
        """Append the spans that are not there yet, in their order, and return what came.

        Raises:
            RecordingFileError: some could not be encoded.
            OSError: the file cannot be written.
        """
        arrivals: dict[str, Arrival] = {}
        for batch in _batches(self._new(lines, arrivals)):
            if not self._exporter.export(batch).value == 0:
                raise RecordingFileError("some spans cannot be written as OTLP JSON")
        return [*arrivals.values()]

    def _new(self, lines: Iterable[SpanLine], arrivals: dict[str, Arrival]) -> Iterator[SpanLine]:
        for line in lines:
            arrival = arrivals.setdefault(line.recording, Arrival(line.recording, _name(line.span)))
            known = self._known.setdefault(line.recording, _Known(line.trace_id))
            if known.trace_id != line.trace_id:
                arrival.other = True
            elif line.span_id in known.spans:
                arrival.present += 1
            else:
                known.spans.add(line.span_id)
                arrival.added += 1
                yield line


def _batches(lines: Iterable[SpanLine]) -> Iterator[list[ReadableSpan]]:
    batch: list[ReadableSpan] = []
    size = 0
    for span, line in lines:
        batch.append(span)
        size += len(line)
        if size > _BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _name(span: ReadableSpan) -> str:
    attributes = span.attributes or {}
    return str(attributes.get(a.LABEL) or attributes.get(a.FUNCTION_NAME, ""))
