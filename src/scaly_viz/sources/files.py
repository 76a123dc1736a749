"""Owns reading the spans of recording files: one file with its segments, or a folder of them."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from scaly_viz.errors import RecordingFileError
from scaly_viz.sources.folder import data_files
from scaly_viz.sources.follower import Follower
from scaly_viz.sources.lines import (
    MAX_LINE_BYTES,
    Line,
    LineSplitter,
    Report,
    ReportLimit,
    documents,
    overlong,
    spans_of,
)
from scaly_viz.sources.otlp_json import decode_line
from scaly_viz.sources.snapshot import open_file, segments_of, snapshot
from scaly_viz.sources.streams import content, is_compressed, read_or_tell
from scaly_viz.span_record import SpanRecord
from scaly_viz_exporters.file_lock import writers_lock

__all__ = ["Document", "Follower", "read_documents", "read_spans", "segments"]

_LOCK_TIMEOUT_S = 1.0


def segments(path: Path) -> list[Path]:
    """Return the rotated segments of ``path``, oldest first, and ``path`` itself."""
    return [*segments_of(path, lambda _: None), path]


def read_spans(
    path: str | os.PathLike[str], report: Report, *, events: bool = True
) -> Iterator[SpanRecord]:
    """Yield the spans of the file ``path`` and its segments, or of the files of a folder.

    Without ``events`` they have no payloads, which takes far less memory.

    What cannot be read is left out and passed to ``report`` as one line of text with file, line
    and cause. Memory is bounded by the longest line. A missing file has no spans.
    """
    for document in read_documents(path, report):
        yield from document.spans(events=events)


def read_documents(path: str | os.PathLike[str], report: Report) -> Iterator[Document]:
    """Yield the lines that ``read_spans`` reads, as they are."""
    for file in data_files(Path(path), report):
        with snapshot(file, report) as shot:
            for segment in shot.segments:
                opened = open_file(segment, report)
                if opened:
                    with opened:
                        yield from _Reader(opened, segment, report).documents()
            if shot.active:
                yield from _Reader(shot.active, file, report, shot.size).documents()


class Document(NamedTuple):
    """One document of OTLP JSON, from the file ``name``."""

    line: Line
    name: str
    report: Report

    def spans(self, *, events: bool = True) -> list[SpanRecord]:
        """Return its spans; what cannot be read is reported."""
        return spans_of(self.line, self.name, self.report, events=events)


class _Reader:
    """Reads one open file, the active one up to ``size`` only."""

    def __init__(
        self, file: io.FileIO, path: Path, report: Report, size: int | None = None
    ) -> None:
        self._file = file
        self._path = path
        self._size = size
        self._tell = report
        self._report = ReportLimit(path.name, report)
        self._splitter = LineSplitter(overlong(path.name, self._report))
        self._is_damaged = False

    def documents(self) -> Iterator[Document]:
        for line in documents(self._lines()):
            yield Document(line, self._path.name, self._report)
        self._report.close()

    def _lines(self) -> Iterator[Line]:
        for chunk in content(self._read, self._damaged):
            yield from self._splitter.feed(chunk)
        rest = self._splitter.rest()
        if rest and not _is_document(rest.data):
            rest = None if self._is_damaged else self._completed(rest)
        if rest:
            yield rest

    def _read(self, count: int) -> bytes:
        if self._size is not None:
            count = min(count, self._size - self._file.tell())
        return self._file.read(count)

    def _damaged(self, cause: str) -> None:
        self._is_damaged = True
        self._tell(f"{self._path.name}:{self._splitter.number}: {cause}")

    def _completed(self, torn: Line) -> Line:
        """Read the last line again when no writer is in the middle of it any more."""
        self._file.seek(0)
        if self._size is None or is_compressed(self._file.read(8)):
            return torn
        with writers_lock(self._path, _LOCK_TIMEOUT_S, create=False):
            self._file.seek(self._splitter.ended_at)
            data = read_or_tell(self._file.read, MAX_LINE_BYTES, self._damaged)
        data, end, _ = data.partition(b"\n")
        return Line(torn.number, data, is_ended=bool(end)) if data.strip() else torn


def _is_document(data: bytes) -> bool:
    try:
        decode_line(data, "")
    except RecordingFileError:
        return False
    return True
