"""Owns following recording files that grow, are rotated, cleared, and made again."""

from __future__ import annotations

import hashlib
import io
import os
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from scaly_viz.sources.folder import data_files
from scaly_viz.sources.lines import Line, LineSplitter, Report, ReportLimit, overlong, spans_of
from scaly_viz.sources.snapshot import Snapshot, open_file, snapshot
from scaly_viz.sources.streams import CHUNK_BYTES, content, is_compressed, read_or_tell
from scaly_viz.span_record import SpanRecord

_FINGERPRINT_BYTES = 64 * 1024
_MAX_TOLD = 1000


class Follower:
    """Gives the spans that were completed in a file, or in a folder's files, since the last look.

    The file need not exist yet. No file is open between two looks.
    """

    def __init__(self, path: str | os.PathLike[str], report: Report) -> None:
        self._path = Path(path)
        self._report = _once(report)
        self._files: dict[Path, _FileFollower] = {}

    def poll(self) -> list[SpanRecord]:
        """Return the spans whose lines were completed since the last call, oldest first."""
        return list(self.stream())

    def stream(self) -> Iterator[SpanRecord]:
        """Yield what ``poll`` returns; better for a first look at a big file."""
        for file in data_files(self._path, self._report):
            follower = self._files.setdefault(file, _FileFollower(file, self._report))
            yield from follower.stream()


def _once(report: Report) -> Report:
    """Do not repeat at every look what is wrong with a file."""
    told: set[str] = set()

    def tell(text: str) -> None:
        if text not in told:
            if len(told) == _MAX_TOLD:
                told.clear()
            told.add(text)
            report(text)

    return tell


@dataclass(frozen=True, slots=True)
class _Mark:
    """How far one file has been read; it is known by its inode, as rotation renames it."""

    name: str = ""
    size: int = 0
    modified_ns: int = 0
    offset: int = 0
    line: int = 1
    in_overlong_line: bool = False
    fingerprint: bytes = b""


class _FileFollower:
    """Follows one file and its segments."""

    def __init__(self, path: Path, report: Report) -> None:
        self._path = path
        self._report = report
        self._marks: dict[tuple[int, int], _Mark] = {}

    def stream(self) -> Iterator[SpanRecord]:
        found = {}
        with snapshot(self._path, self._report) as shot:
            for file, name, is_rotated in _opened(shot, self._path, self._report):
                look = _Look(file, name, self._report)
                found[look.inode] = name
                mark = self._marks.get(look.inode, _Mark())
                if look.has_news(mark):
                    yield from self._spans(look, mark, is_rotated)
                    self._marks[look.inode] = look.mark
            names = {path.name for path in (*shot.segments, self._path)} - {*found.values()}
        # A file that is there but could not be opened this time is not forgotten.
        self._marks = {
            inode: mark
            for inode, mark in self._marks.items()
            if inode in found or (mark.name in names and (self._path.parent / mark.name).exists())
        }

    def _spans(self, look: _Look, mark: _Mark, is_rotated: bool) -> Iterator[SpanRecord]:
        if not look.is_compressed():
            return look.plain(mark if look.continues(mark) else _Mark(), is_rotated)
        plain_name = look.name.rpartition(".")[0]
        was_read = any(other.name == plain_name for other in self._marks.values())
        return look.compressed(sys.maxsize if was_read else mark.line)


def _opened(shot: Snapshot, path: Path, report: Report) -> Iterator[tuple[io.FileIO, str, bool]]:
    for segment in shot.segments:
        file = open_file(segment, report)
        if file:
            with file:
                yield file, segment.name, True
    if shot.active:
        yield shot.active, path.name, False


class _Look:
    """One look at one open file; ``mark`` tells afterwards how far it has been read."""

    def __init__(self, file: io.FileIO, name: str, report: Report) -> None:
        self.name = name
        self.mark = _Mark()
        self._file = file
        self._report = ReportLimit(name, report)
        self._status = os.fstat(file.fileno())
        self.inode = (self._status.st_dev, self._status.st_ino)

    def has_news(self, mark: _Mark) -> bool:
        """Tell whether the file has changed since ``mark``."""
        now = (self.name, self._status.st_size, self._status.st_mtime_ns)
        return (mark.name, mark.size, mark.modified_ns) != now

    def is_compressed(self) -> bool:
        """Tell a compressed file, which can only be read from its start."""
        self._file.seek(0)
        return is_compressed(self._read(8))

    def continues(self, mark: _Mark) -> bool:
        """Tell a file that has grown from one that was cut, or that took a deleted one's inode."""
        size = self._status.st_size
        return 0 < mark.offset <= size and mark.fingerprint == self._fingerprint(mark.offset)

    def plain(self, mark: _Mark, is_rotated: bool) -> Iterator[SpanRecord]:
        """Yield from the complete lines; in a rotated file the last one will get no line end."""
        splitter = LineSplitter(overlong(self.name, self._report), mark.line, mark.in_overlong_line)
        self._file.seek(mark.offset)
        for chunk in iter(lambda: self._read(CHUNK_BYTES), b""):
            yield from self._spans(splitter.feed(chunk))
        offset = mark.offset + splitter.ended_at
        if is_rotated or splitter.skips:
            yield from self._last(splitter)
            offset += splitter.held()
        self._finish(offset, splitter)

    def compressed(self, first_line: int) -> Iterator[SpanRecord]:
        """Yield from the lines from ``first_line`` on; those before were read at the last look."""
        splitter = LineSplitter(overlong(self.name, self._report))
        problems: list[str] = []
        self._file.seek(0)
        for chunk in content(self._read, problems.append):
            lines = (line for line in splitter.feed(chunk) if line.number >= first_line)
            yield from self._spans(lines)
        for problem in problems:
            self._report(f"{self.name}: {problem}")
        if not problems and splitter.number >= first_line:
            yield from self._last(splitter)
            splitter.number += 1
        self._finish(0, splitter)

    def _spans(self, lines: Iterable[Line]) -> Iterator[SpanRecord]:
        for line in lines:
            yield from spans_of(line, self.name, self._report)

    def _last(self, splitter: LineSplitter) -> Iterator[SpanRecord]:
        rest = splitter.rest()
        if rest:
            yield from self._spans([rest])

    def _finish(self, offset: int, splitter: LineSplitter) -> None:
        self._report.close()
        self.mark = _Mark(
            name=self.name,
            size=self._status.st_size,
            modified_ns=self._status.st_mtime_ns,
            offset=offset,
            line=splitter.number,
            in_overlong_line=splitter.skips,
            fingerprint=self._fingerprint(offset),
        )

    def _fingerprint(self, offset: int) -> bytes:
        start = max(0, offset - _FINGERPRINT_BYTES)
        self._file.seek(start)
        return hashlib.blake2b(self._read(offset - start), digest_size=16).digest()

    def _read(self, count: int) -> bytes:
        return read_or_tell(
            self._file.read, count, lambda cause: self._report(f"{self.name}: {cause}")
        )
