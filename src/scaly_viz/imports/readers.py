"""Owns reading the files that can be imported: their spans, as lines, one after the other."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from scaly_viz.errors import RecordingFileError
from scaly_viz.imports import html, recognition
from scaly_viz.respan import spans_of_dict
from scaly_viz.sources.files import Document, read_documents
from scaly_viz.sources.folder import data_files, scaly_viz_files
from scaly_viz.sources.lines import Line, Report
from scaly_viz.sources.recorded_lines import SpanLine, lines_of
from scaly_viz.sources.scaly_viz_stream import recordings_one_by_one
from scaly_viz_exporters.span_lines import line_of


def lines_in(path: Path, report: Report) -> Iterator[SpanLine]:
    """Yield the spans of the recordings in ``path``, a file or a folder; damage is reported.

    Raises:
        RecordingFileError: it is a file that recordings cannot be read from.
    """
    if path.is_dir():
        yield from _of_folder(path, report)
        return
    kind = recognition.kind_of(path)
    if kind == recognition.OTLP:
        yield from _of_documents(path, report)
    elif kind == recognition.SCALY_VIZ:
        yield from _of_scaly_viz(path, report)
    elif kind == recognition.HTML:
        yield from _of_page(path, report)
    else:
        why = recognition.WITHOUT_CONTENT.get(
            kind or "", "no file of recordings; see scaly-viz import --help"
        )
        raise RecordingFileError(f"{path}: {why}")


def _of_folder(path: Path, report: Report) -> Iterator[SpanLine]:
    pages = sorted(file for file in path.glob("*.html") if file.is_file())
    for file in [*data_files(path, report), *scaly_viz_files(path), *pages]:
        # Of a rotated file that is gone the segments are there still.
        reader = lines_in if file.exists() else _of_documents
        try:
            yield from reader(file, report)
        except RecordingFileError as error:
            report(f"{error}; the file was left out")


def _of_documents(path: Path, report: Report) -> Iterator[SpanLine]:
    for document in read_documents(path, report):
        yield from lines_of(document)[0]


def _of_scaly_viz(path: Path, report: Report) -> Iterator[SpanLine]:
    for data in recordings_one_by_one(path, report):
        for span in spans_of_dict(data, path.name):
            yield SpanLine(span, line_of(span))


def _of_page(path: Path, report: Report) -> Iterator[SpanLine]:
    for number, line in enumerate(html.lines(path, report), start=1):
        yield from lines_of(Document(Line(number, line, is_ended=True), path.name, report))[0]
