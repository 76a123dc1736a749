"""Owns what is known of one file or folder of recordings, and keeps it current as the files change."""

from __future__ import annotations

import hashlib
import itertools
import os
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from scaly_viz import attributes as a
from scaly_viz import sources
from scaly_viz.analysis.summary import RecordingSummary, summarize
from scaly_viz.recording import Recording, assemble
from scaly_viz.sources.files import Follower, read_spans, segments
from scaly_viz.sources.folder import data_files
from scaly_viz.sources.scaly_viz_json import is_scaly_viz
from scaly_viz.sources.snapshot import open_file
from scaly_viz.span_record import SpanRecord

MAX_PROBLEMS = 100

_PLAIN_ID = re.compile(r"[0-9A-Za-z_-]{1,64}", re.ASCII)
_HEAD_BYTES = 1024
_revisions = itertools.count(1)


def key_of(recording_id: str, position: int = 0) -> str:
    """Return what a recording is addressed by: its id, or a digest where that cannot stand in a URL.

    ``position`` tells recordings of one id apart.
    """
    if position == 0 and _PLAIN_ID.fullmatch(recording_id):
        return recording_id
    text = f"{position}:{recording_id}".encode("utf-8", "surrogatepass")
    return f"x-{hashlib.sha256(text).hexdigest()[:32]}"


class Source(ABC):
    """One file or folder of recordings.

    ``revisions`` holds a number for each recording, by key, which is new, among all
    sources, whenever its content is.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.problems: dict[str, None] = {}
        self.revisions: dict[str, int] = {}

    @abstractmethod
    def refresh(self) -> None:
        """Take note of what has changed in the files."""

    @abstractmethod
    def summary(self, key: str) -> RecordingSummary:
        """Return the short form of a recording of ``revisions``."""

    @abstractmethod
    def open(self, key: str) -> Recording | None:
        """Return a recording of ``revisions``, None where its file has lost it meanwhile."""

    def _report(self, problem: str) -> None:
        if len(self.problems) < MAX_PROBLEMS:
            self.problems[problem] = None


def source_at(path: Path, cache_bytes: int) -> Source:
    """Return the source for what ``path`` is now; what does not exist yet will be a file of ours."""
    return ListSource(path) if is_scaly_viz(path) else SpanSource(path, cache_bytes)


def is_outdated(source: Source) -> bool:
    """Tell whether a file of another format has taken the place of the source's."""
    return isinstance(source, ListSource) != is_scaly_viz(source.path)


@dataclass(slots=True)
class _Entry:
    """What is kept of one recording: its spans by id, or only its short form where memory is short."""

    recording_id: str
    spans: dict[str, SpanRecord] | None = field(default_factory=dict)
    size: int = 0
    summary: RecordingSummary | None = None
    is_summary_current: bool = False


class SpanSource(Source):
    """OTLP lines: only what was appended since the last look is read."""

    def __init__(self, path: Path, cache_bytes: int) -> None:
        super().__init__(path)
        self._cache_bytes = cache_bytes
        self._files: dict[tuple[int, int], _File] = {}
        self._entries: dict[str, _Entry] = {}
        self._size = 0
        self._follower = Follower(self.path, self._report)

    def refresh(self) -> None:
        """Read what was appended; read all anew where a file has gone or was cut."""
        files = _files(self.path)
        if not _continues(files, self._files):
            self._reset()
        self._files = files
        for span in self._follower.stream():
            recording_id = span.attributes.get(a.RECORDING_ID)
            if isinstance(recording_id, str) and recording_id:
                self._add(recording_id, span)

    def summary(self, key: str) -> RecordingSummary:
        """Return the short form, made of the spans without their payloads."""
        entry = self._entries[key]
        if not entry.is_summary_current:
            entry.is_summary_current = True
            bare = (msgspec.structs.replace(span, events=()) for span in self._spans(entry))
            for recording in assemble(bare):
                entry.summary = msgspec.structs.replace(summarize(recording), id=key)
        assert entry.summary is not None, (
            "every recording is summarized before its spans are given up"
        )
        return entry.summary

    def open(self, key: str) -> Recording | None:
        """Assemble the recording, from the files where memory no longer has it."""
        return next(iter(assemble(self._spans(self._entries[key]))), None)

    def _reset(self) -> None:
        self._entries.clear()
        self._size = 0
        self._follower = Follower(self.path, self._report)
        self.problems.clear()
        self.revisions.clear()

    def _add(self, recording_id: str, span: SpanRecord) -> None:
        key = key_of(recording_id)
        # What grows moves to the end: the recordings that are given up first are done.
        entry = self._entries.pop(key, None) or _Entry(recording_id)
        self._entries[key] = entry
        if entry.spans is not None:
            if entry.spans.setdefault(span.span_id, span) is not span:
                return
            entry.size += _size(span)
            self._size += _size(span)
        entry.is_summary_current = False
        self.revisions[key] = next(_revisions)
        self._shrink()

    def _shrink(self) -> None:
        if self._size <= self._cache_bytes:
            return
        for key, entry in list(self._entries.items())[:-1]:
            if self._size <= self._cache_bytes * 3 // 4:
                break
            if entry.spans is not None:
                self.summary(key)
                entry.spans = None
                self._size -= entry.size

    def _spans(self, entry: _Entry) -> Iterable[SpanRecord]:
        if entry.spans is not None:
            return entry.spans.values()
        spans = read_spans(self.path, _ignore)
        return (s for s in spans if s.attributes.get(a.RECORDING_ID) == entry.recording_id)


class ListSource(Source):
    """A file of scaly.viz, which is rewritten, and so read, as a whole."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._stamp: tuple[int, ...] = ()
        self._recordings: dict[str, Recording] = {}
        self._summaries: dict[str, RecordingSummary] = {}

    def refresh(self) -> None:
        """Read the file if it is not the one that was read last."""
        stamp = _stamp(self.path)
        if stamp != self._stamp:
            self._stamp = stamp
            self.problems.clear()
            self._recordings = _keyed(sources.load(self.path, self._report))
            self._summaries.clear()
            self.revisions = dict.fromkeys(self._recordings, next(_revisions))

    def summary(self, key: str) -> RecordingSummary:
        """Return the short form."""
        if key not in self._summaries:
            summary = summarize(self._recordings[key])
            self._summaries[key] = msgspec.structs.replace(summary, id=key)
        return self._summaries[key]

    def open(self, key: str) -> Recording | None:
        """Return a copy, so that what is decoded of it can be forgotten."""
        return self._recordings[key].undecoded()


def _keyed(recordings: Iterable[Recording]) -> dict[str, Recording]:
    counts: dict[str, int] = {}
    keyed = {}
    for recording in recordings:
        position = counts.get(recording.id, 0)
        counts[recording.id] = position + 1
        keyed[key_of(recording.id, position)] = recording
    return keyed


def _stamp(path: Path) -> tuple[int, ...]:
    try:
        status = path.stat()
    except OSError:
        return (0,)
    return (status.st_ino, status.st_size, status.st_mtime_ns)


@dataclass(frozen=True, slots=True)
class _File:
    size: int
    head: bytes


def _files(path: Path) -> dict[tuple[int, int], _File]:
    return dict(_look(path))


def _look(path: Path) -> Iterator[tuple[tuple[int, int], _File]]:
    for active in data_files(path, _ignore):
        for name in segments(active):
            file = open_file(name, _ignore)
            if file:
                with file:
                    status = os.fstat(file.fileno())
                    head = file.read(_HEAD_BYTES)
                yield (status.st_dev, status.st_ino), _File(status.st_size, head)


def _continues(files: dict[tuple[int, int], _File], before: dict[tuple[int, int], _File]) -> bool:
    """Tell whether all files are still there, under any name, and have only grown."""
    return all(
        (file := files.get(inode)) is not None
        and file.size >= old.size
        and file.head.startswith(old.head)
        for inode, old in before.items()
    )


def _size(span: SpanRecord) -> int:
    """Return about how many bytes of memory ``span`` takes."""
    bodies = sum(len(str(event.attributes.get(a.PAYLOAD_BODY, ""))) for event in span.events)
    return 4_000 + 1_000 * len(span.events) + bodies


def _ignore(_: str) -> None:
    """Leave to the follower what is wrong with a file."""
