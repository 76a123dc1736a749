"""Owns following recording files that grow, are rotated, cleared, and made again."""

from __future__ import annotations

import hashlib
import io
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from scaly_viz.sources.folder import data_files
from scaly_viz.sources.lines import Line, LineSplitter, Report, ReportLimit, overlong, spans_of
from scaly_viz.sources.snapshot import Snapshot, open_file, snapshot
from scaly_viz.sources.streams import CHUNK_BYTES, content, is_compressed, read_or_tell
from scaly_viz.span_record import SpanRecord

_FINGERPRINT_BYTES = 64 * 1024
_MAX_TOLD = 1000


type FileId = tuple[int, int]
"""Device and inode: what a file is known by, as rotation renames it."""


class Found(NamedTuple):
    """The spans of one line; its ``size`` bytes begin at ``offset``, None in a compressed file."""

    file: FileId
    line: int
    offset: int | None
    size: int
    spans: list[SpanRecord]


class Moved(NamedTuple):
    """What was found in the file ``old`` is, compressed, in ``new`` now."""

    old: FileId
    new: FileId


class Gone(NamedTuple):
    """What was found in the file no longer counts: it was deleted, cut, or written anew."""

    file: FileId
    name: str


type Change = Found | Moved | Gone


def is_about(name: str, report: str) -> bool:
    """Tell whether a report is about the file called ``name``."""
    return report.startswith(f"{name}:")


class Follower:
    """Gives the spans that were completed in a file, or in a folder's files, since the last look.

    The file need not exist yet. No file is open between two looks. Without ``events`` spans have none.
    """

    def __init__(
        self, path: str | os.PathLike[str], report: Report, *, events: bool = True
    ) -> None:
        self._path = Path(path)
        self._tell = report
        self._told: set[str] = set()
        self._events = events
        self._files: dict[Path, _FileFollower] = {}

    def poll(self) -> list[SpanRecord]:
        """Return the spans whose lines were completed since the last call, oldest first."""
        return list(self.stream())

    def stream(self) -> Iterator[SpanRecord]:
        """Yield what ``poll`` returns; better for a first look at a big file."""
        for change in self.changes():
            if isinstance(change, Found):
                yield from change.spans

    def changes(self) -> Iterator[Change]:
        """Yield what was found since the last call, where, and what of before no longer counts."""
        files = data_files(self._path, self._report)
        missing = [file for file in self._files if file not in files and not file.exists()]
        for file in (*files, *missing):
            for change in self._follower(file).changes():
                if isinstance(change, Gone):
                    self._told = {text for text in self._told if not is_about(change.name, text)}
                yield change
        for file in missing:
            if not self._files[file].marks:
                del self._files[file]

    def places(self) -> dict[FileId, Path]:
        """Return the files of the last look."""
        return {
            inode: path.parent / mark.name
            for path, follower in self._files.items()
            for inode, mark in follower.marks.items()
        }

    def state(self) -> list[FollowedFile]:
        """Return how far all files have been read, for ``resume``."""
        return [
            FollowedFile(str(path), inode, mark)
            for path, follower in self._files.items()
            for inode, mark in follower.marks.items()
        ]

    def resume(self, state: Sequence[FollowedFile]) -> None:
        """Go on where another follower of the same path was."""
        for file in state:
            self._follower(Path(file.path)).marks[file.inode] = file.mark

    def _follower(self, file: Path) -> _FileFollower:
        return self._files.setdefault(file, _FileFollower(file, self._report, self._events))

    def _report(self, text: str) -> None:
        """Do not repeat at every look what is wrong with a file."""
        if text not in self._told:
            if len(self._told) == _MAX_TOLD:
                self._told.clear()
            self._told.add(text)
            self._tell(text)


class Mark(msgspec.Struct, frozen=True, array_like=True):
    """How far one file has been read."""

    name: str = ""
    size: int = 0
    modified_ns: int = 0
    offset: int = 0
    line: int = 1
    in_overlong_line: bool = False
    fingerprint: bytes = b""


class FollowedFile(msgspec.Struct, frozen=True, array_like=True):
    """How far one file of a follower has been read; ``path`` is that of the active file."""

    path: str
    inode: FileId
    mark: Mark


class _FileFollower:
    """Follows one file and its segments."""

    def __init__(self, path: Path, report: Report, events: bool) -> None:
        self.marks: dict[FileId, Mark] = {}
        self._path = path
        self._report = report
        self._events = events

    def changes(self) -> Iterator[Change]:
        found = {}
        with snapshot(self._path, self._report) as shot:
            for file, name, is_rotated in _opened(shot, self._path, self._report):
                look = _Look(file, name, self._report, self._events)
                found[look.inode] = name
                mark = self.marks.get(look.inode, Mark())
                if look.has_news(mark):
                    yield from self._changes(look, mark, is_rotated)
                    self.marks[look.inode] = look.mark
            names = {path.name for path in (*shot.segments, self._path)} - {*found.values()}
        for inode, mark in list(self.marks.items()):
            # A file that is there but could not be opened this time is not forgotten.
            is_there = mark.name in names and (self._path.parent / mark.name).exists()
            if inode not in found and not is_there:
                del self.marks[inode]
                yield Gone(inode, mark.name)

    def _changes(self, look: _Look, mark: Mark, is_rotated: bool) -> Iterator[Change]:
        if look.is_compressed():
            yield from self._compressed(look, mark)
            return
        if not look.continues(mark):
            if mark != Mark():
                yield Gone(look.inode, mark.name)
            mark = Mark()
        yield from look.plain(mark, is_rotated)

    def _compressed(self, look: _Look, mark: Mark) -> Iterator[Change]:
        plain_name = look.name.rpartition(".")[0]
        read = [inode for inode, other in self.marks.items() if other.name == plain_name]
        for inode in read:
            yield Moved(inode, look.inode)
        yield from look.compressed(sys.maxsize if read else mark.line)


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

    def __init__(self, file: io.FileIO, name: str, report: Report, events: bool) -> None:
        self.name = name
        self.mark = Mark()
        self._events = events
        self._file = file
        self._report = ReportLimit(name, report)
        self._status = os.fstat(file.fileno())
        self.inode = (self._status.st_dev, self._status.st_ino)

    def has_news(self, mark: Mark) -> bool:
        """Tell whether the file has changed since ``mark``."""
        now = (self.name, self._status.st_size, self._status.st_mtime_ns)
        return (mark.name, mark.size, mark.modified_ns) != now

    def is_compressed(self) -> bool:
        """Tell a compressed file, which can only be read from its start."""
        self._file.seek(0)
        return is_compressed(self._read(8))

    def continues(self, mark: Mark) -> bool:
        """Tell a file that has grown from one that was cut, or that took a deleted one's inode."""
        size = self._status.st_size
        return 0 < mark.offset <= size and mark.fingerprint == self._fingerprint(mark.offset)

    def plain(self, mark: Mark, is_rotated: bool) -> Iterator[Found]:
        """Yield from the complete lines; in a rotated file the last one will get no line end."""
        splitter = LineSplitter(overlong(self.name, self._report), mark.line, mark.in_overlong_line)
        self._file.seek(mark.offset)
        for chunk in iter(lambda: self._read(CHUNK_BYTES), b""):
            yield from self._found(splitter.feed(chunk), mark.offset)
        offset = mark.offset + splitter.ended_at
        if is_rotated or splitter.skips:
            yield from self._last(splitter, mark.offset)
            offset += splitter.held()
        self._finish(offset, splitter)

    def compressed(self, first_line: int) -> Iterator[Found]:
        """Yield from the lines from ``first_line`` on; those before were read at the last look."""
        splitter = LineSplitter(overlong(self.name, self._report))
        problems: list[str] = []
        self._file.seek(0)
        for chunk in content(self._read, problems.append):
            lines = (line for line in splitter.feed(chunk) if line.number >= first_line)
            yield from self._found(lines, None)
        for problem in problems:
            self._report(f"{self.name}: {problem}")
        if not problems and splitter.number >= first_line:
            yield from self._last(splitter, None)
            splitter.number += 1
        self._finish(0, splitter)

    def _found(self, lines: Iterable[Line], base: int | None) -> Iterator[Found]:
        for line in lines:
            spans = spans_of(line, self.name, self._report, events=self._events)
            if spans:
                offset = None if base is None else base + line.start
                yield Found(self.inode, line.number, offset, len(line.data), spans)

    def _last(self, splitter: LineSplitter, base: int | None) -> Iterator[Found]:
        rest = splitter.rest()
        if rest:
            yield from self._found([rest], base)

    def _finish(self, offset: int, splitter: LineSplitter) -> None:
        self._report.close()
        self.mark = Mark(
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
