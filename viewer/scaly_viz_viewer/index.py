"""Owns where in its files each recording is, and its short form; no payload is held or decoded."""

from __future__ import annotations

import itertools
import os
from array import array
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from scaly_viz import attributes as a
from scaly_viz.analysis.summary import RecordingSummary, summarize
from scaly_viz.assembling import assemble
from scaly_viz.recording import Recording
from scaly_viz.sources.files import read_spans
from scaly_viz.sources.follower import FileId, FollowedFile, Follower, Found, Gone, Moved, is_about
from scaly_viz.sources.lines import Line, spans_of
from scaly_viz.sources.snapshot import open_file
from scaly_viz.span_record import SpanRecord

MAX_PROBLEMS = 100

# Recordings whose spans, without payloads, are kept: those that may still grow.
_MAX_GROWING = 200
# A place is four numbers: file, line, offset, size. This offset: somewhere in a compressed file.
_PLACE = 4
_COMPRESSED = -1


class Entry(msgspec.Struct):
    """One recording: its short form, and the lines that its spans are in."""

    id: str
    places: array[int]
    summary: RecordingSummary | None = None


class IndexState(msgspec.Struct, array_like=True):
    """What an index knows, for a later one to go on with; ``entries`` are id, places, short form."""

    followed: list[FollowedFile]
    files: list[FileId]
    entries: list[tuple[str, bytes, RecordingSummary]]
    problems: list[str]


class RecordingIndex:
    """The recordings of a file or folder, known by their ids; only what was appended is read."""

    def __init__(self, path: Path) -> None:
        self.read_bytes = 0
        """How many bytes of lines with spans were read so far."""
        self.problems: dict[str, None] = {}
        self._path = path
        self._follower = Follower(path, self._report, events=False)
        self._files: list[FileId] = []
        self._entries: dict[str, Entry] = {}
        self._growing: dict[str, dict[str, SpanRecord]] = {}

    def __len__(self) -> int:
        """Return how many recordings there are."""
        return len(self._entries)

    def refresh(self) -> Iterator[str]:
        """Take note of what has changed; yield the ids of recordings that did, or are gone."""
        for change in self._follower.changes():
            if isinstance(change, Found):
                self.read_bytes += change.size
                yield from self._add(change)
            elif isinstance(change, Moved):
                self._move(change)
            else:
                yield from self._remove(change)

    def __contains__(self, recording_id: str) -> bool:
        """Tell whether there is such a recording."""
        return recording_id in self._entries

    def summary(self, recording_id: str) -> RecordingSummary:
        """Return the short form of a recording, made of its spans without their payloads."""
        entry = self._entries[recording_id]
        if entry.summary is None:
            spans = self._growing.get(recording_id)
            read = self._spans(entry, events=False) if spans is None else spans.values()
            for recording in assemble(read):
                entry.summary = summarize(recording)
                if recording.root is not None:
                    self._growing.pop(recording_id, None)
        assert entry.summary is not None, f"recording {recording_id} has no spans"
        return entry.summary

    def open(self, recording_id: str) -> Recording | None:
        """Return a recording, None where the files have lost it meanwhile."""
        return next(iter(assemble(self._spans(self._entries[recording_id]))), None)

    def state(self) -> IndexState:
        """Return what is known."""
        entries = [
            (id_, entry.places.tobytes(), self.summary(id_)) for id_, entry in self._entries.items()
        ]
        return IndexState(self._follower.state(), self._files, entries, [*self.problems])

    def resume(self, state: IndexState) -> list[str]:
        """Go on from ``state``, and return the ids of its recordings."""
        self._follower.resume(state.followed)
        self._files = state.files
        self.problems = dict.fromkeys(state.problems)
        for id_, places, summary in state.entries:
            self._entries[id_] = Entry(id_, array("q", places), summary)
        return list(self._entries)

    def _add(self, found: Found) -> Iterator[str]:
        for span in found.spans:
            id_ = span.attributes.get(a.RECORDING_ID)
            if isinstance(id_, str) and id_:
                entry = self._entries.get(id_)
                if entry is None:
                    entry = self._entries[id_] = Entry(id_, array("q"))
                    self._growing[id_] = {}
                self._add_span(entry, span)
                _add_place(entry.places, self._file_number(found.file), found)
                yield id_

    def _add_span(self, entry: Entry, span: SpanRecord) -> None:
        entry.summary = None
        spans = self._growing.pop(entry.id, None)
        if spans is None:
            return
        spans.setdefault(span.span_id, span)
        # What grows moves to the end: those that are given up first are done.
        self._growing[entry.id] = spans
        if len(self._growing) > _MAX_GROWING:
            oldest = next(iter(self._growing))
            self.summary(oldest)
            self._growing.pop(oldest, None)

    def _file_number(self, file: FileId) -> int:
        if file not in self._files:
            self._files.append(file)
        return self._files.index(file)

    def _move(self, moved: Moved) -> None:
        old, new = self._file_number(moved.old), self._file_number(moved.new)
        for entry in self._entries.values():
            for i in range(0, len(entry.places), _PLACE):
                if entry.places[i] == old:
                    entry.places[i], entry.places[i + 2] = new, _COMPRESSED

    def _remove(self, gone: Gone) -> Iterator[str]:
        for problem in [problem for problem in self.problems if is_about(gone.name, problem)]:
            del self.problems[problem]
        if gone.file not in self._files:
            return
        number = self._files.index(gone.file)
        for entry in list(self._entries.values()):
            places = [*itertools.batched(entry.places, _PLACE)]
            left = [place for place in places if place[0] != number]
            if len(left) == len(places):
                continue
            entry.places = array("q", itertools.chain.from_iterable(left))
            entry.summary = None
            self._growing.pop(entry.id, None)
            if not left:
                del self._entries[entry.id]
            yield entry.id

    def _report(self, problem: str) -> None:
        if len(self.problems) < MAX_PROBLEMS:
            self.problems[problem] = None

    def _spans(self, entry: Entry, *, events: bool = True) -> Iterable[SpanRecord]:
        spans: Iterable[SpanRecord] | None = self._spans_at(entry, events)
        if spans is None:
            # Compressed, or rotated a moment ago: found by looking through everything.
            spans = read_spans(self._path, _ignore, events=events)
        return (span for span in spans if span.attributes.get(a.RECORDING_ID) == entry.id)

    def _spans_at(self, entry: Entry, events: bool) -> list[SpanRecord] | None:
        """Return the spans of the entry's lines; None where a line is not where it was."""
        paths = self._follower.places()
        spans: list[SpanRecord] = []
        by_file = itertools.groupby(
            sorted(itertools.batched(entry.places, _PLACE)), key=lambda place: place[0]
        )
        for number, places in by_file:
            inode = self._files[number]
            path = paths.get(inode)
            read = None if path is None else _read(path, inode, [*places], events)
            if read is None:
                return None
            spans += read
        ids = {span.attributes.get(a.RECORDING_ID) for span in spans}
        return spans if entry.id in ids else None


def _add_place(places: array[int], number: int, found: Found) -> None:
    offset = _COMPRESSED if found.offset is None else found.offset
    place = (number, found.line, offset, found.size)
    if tuple(places[-_PLACE:]) != place:
        places.extend(place)


def _read(
    path: Path, inode: FileId, places: list[tuple[int, ...]], events: bool
) -> list[SpanRecord] | None:
    opened = open_file(path, _ignore)
    if opened is None:
        return None
    spans: list[SpanRecord] = []
    with opened as file:
        status = os.fstat(file.fileno())
        if (status.st_dev, status.st_ino) != inode:
            return None
        for _, line, offset, size in places:
            if offset == _COMPRESSED:
                return None
            file.seek(offset)
            whole = Line(line, file.read(size), is_ended=True)
            spans += spans_of(whole, path.name, _ignore, events=events)
    return spans


def _ignore(_: str) -> None:
    """Leave to the follower what is wrong with a file."""
