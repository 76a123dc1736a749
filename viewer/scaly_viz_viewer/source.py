"""Owns what is known of one file or folder of recordings, and keeps it current as the files change."""

from __future__ import annotations

import hashlib
import itertools
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable
from pathlib import Path

import msgspec

from scaly_viz import sources
from scaly_viz.analysis.summary import RecordingSummary, summarize
from scaly_viz.recording import Recording
from scaly_viz.sources.scaly_viz_json import is_scaly_viz
from scaly_viz_viewer import index_file
from scaly_viz_viewer.index import MAX_PROBLEMS, RecordingIndex

_PLAIN_ID = re.compile(r"[0-9A-Za-z_-]{1,64}", re.ASCII)
# To read so much again takes longer than anybody should wait.
_SAVE_BYTES = 8 * 1024**2
_revisions = itertools.count(1)


def key_of(recording_id: str, position: int = 0) -> str:
    """Return what a recording is addressed by: its id, or a digest where that cannot stand in a URL.

    ``position`` tells recordings of one id apart.
    """
    if position == 0 and _PLAIN_ID.fullmatch(recording_id):
        return recording_id
    text = f"{position}:{recording_id}".encode("utf-8", "surrogatepass")
    return f"x-{hashlib.sha256(text).hexdigest()[:32]}"


def new_revision() -> int:
    """Return a number that no recording of any source has had."""
    return next(_revisions)


class Source(ABC):
    """One file or folder of recordings.

    ``revisions`` holds a number for each recording, by key, which is new, among all
    sources, whenever its content is. What has changed last is last in it.
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


def source_at(path: Path) -> Source:
    """Return the source for what ``path`` is now; what does not exist yet will be a file of ours."""
    return ListSource(path) if is_scaly_viz(path) else SpanSource(path)


def is_outdated(source: Source) -> bool:
    """Tell whether a file of another format has taken the place of the source's."""
    is_file = isinstance(source, SpanSource | ListSource)
    return is_file and isinstance(source, ListSource) != is_scaly_viz(source.path)


class SpanSource(Source):
    """OTLP lines: only what was appended since the last look, or since the last program, is read."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._index = RecordingIndex(path)
        self.problems = self._index.problems
        self._ids: dict[str, str] = {}
        self._saved_bytes = 0
        state = index_file.load(path)
        if state is not None:
            self._take_note(self._index.resume(state))
            self.problems = self._index.problems

    def refresh(self) -> None:
        """Read what was appended, and find out what is gone."""
        self._take_note(self._index.refresh())
        if self._index.read_bytes - self._saved_bytes > _SAVE_BYTES:
            self._saved_bytes = self._index.read_bytes
            index_file.save(self.path, self._index.state())

    def summary(self, key: str) -> RecordingSummary:
        """Return the short form, made of the spans without their payloads."""
        return msgspec.structs.replace(self._index.summary(self._ids[key]), id=key)

    def open(self, key: str) -> Recording | None:
        """Assemble the recording from its lines in the files."""
        return self._index.open(self._ids[key])

    def _take_note(self, ids: Iterable[str]) -> None:
        for id_ in dict.fromkeys(ids):
            key = key_of(id_)
            self.revisions.pop(key, None)
            if id_ in self._index:
                self._ids[key] = id_
                self.revisions[key] = next(_revisions)
            else:
                self._ids.pop(key, None)


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
            self._recordings = keyed(sources.load(self.path, self._report))
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


def keyed(recordings: Iterable[Recording]) -> dict[str, Recording]:
    """Return the recordings by what they are addressed by."""
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
