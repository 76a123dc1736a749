"""Owns what a recording file and its segments hold, line by line: whose each line is, and where it is."""

from __future__ import annotations

import io
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from scaly_viz import attributes as a
from scaly_viz.analysis.summary import summarize
from scaly_viz.assembling import assemble
from scaly_viz.errors import RecordingFileError
from scaly_viz.recording import Recording
from scaly_viz.retention.policy import Holding
from scaly_viz.sources.lines import Line, LineSplitter, Report, documents
from scaly_viz.sources.otlp_json import decode_line
from scaly_viz.sources.snapshot import open_file, snapshot
from scaly_viz.sources.streams import can_pack, content, is_compressed
from scaly_viz.span_record import SpanRecord

# A render may take long, and its process tell nothing of it: so long after its last span it may go on.
BUSY_S = 3600.0

type FileId = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Extent:
    """One line that can be cut out: where it is in the file's plain content, and the recordings that it holds."""

    start: int
    end: int
    recordings: tuple[str, ...]


@dataclass(slots=True)
class HeldFile:
    """One file. ``size`` is how far it was read, ``plain_size`` what that is without compression.

    ``torn`` is where a last line without a line end begins that is no document, None where there is none.
    """

    path: Path
    identity: FileId
    size: int
    plain_size: int = 0
    head: bytes = b""
    extents: list[Extent] = field(default_factory=list)
    damaged: list[Extent] = field(default_factory=list)
    torn: int | None = None
    is_whole: bool = True

    @property
    def share(self) -> float:
        """What a byte of the content takes on disk."""
        return self.size / self.plain_size if self.plain_size else 1.0


class Inventory:
    """What the file ``path`` and its segments hold, oldest file first."""

    def __init__(self, path: Path, report: Report) -> None:
        self.path = path
        self.files: list[HeldFile] = []
        self._report = report
        self._fixed: set[str] = set()
        self._spans: list[SpanRecord] = []
        with snapshot(path, report) as shot:
            for segment in shot.segments:
                opened = open_file(segment, report)
                if opened:
                    with opened:
                        self._scan(opened, segment, os.fstat(opened.fileno()).st_size)
            if shot.active:
                self._scan(shot.active, path, shot.size)

    def holdings(self, now: float) -> list[Holding]:
        """Return the recordings, oldest first; ``now`` is seconds since the epoch."""
        sizes: dict[str, float] = {}
        for file in self.files:
            for extent in file.extents:
                share = (extent.end - extent.start) * file.share / len(extent.recordings)
                for recording in extent.recordings:
                    sizes[recording] = sizes.get(recording, 0.0) + share
        recordings = assemble(self._spans)
        return [
            Holding(summarize(r), round(sizes.get(r.id, 0)), self._kept_for(r, now))
            for r in recordings
        ]

    def damaged(self) -> int:
        """Return how many lines cannot be read."""
        return sum(len(file.damaged) + (file.torn is not None) for file in self.files)

    def shared(self, going: Iterable[str]) -> set[str]:
        """Return those of ``going`` that share a line with a recording that stays."""
        left = {*going}
        found: set[str] = set()
        while True:
            more = {
                recording
                for file in self.files
                for extent in file.extents
                if not left.issuperset(extent.recordings)
                for recording in extent.recordings
                if recording in left
            }
            if not more:
                return found
            found |= more
            left -= more

    def _kept_for(self, recording: Recording, now: float) -> str:
        if recording.id in self._fixed:
            return "it shares a line with something else"
        if recording.root is None and now - recording.end_ns / 1e9 < BUSY_S:
            return "it may still be written"
        return ""

    def _scan(self, opened: io.FileIO, path: Path, size: int) -> None:
        status = os.fstat(opened.fileno())
        held = HeldFile(path, (status.st_dev, status.st_ino), size, head=opened.read(8))
        opened.seek(0)
        self.files.append(held)

        def read(count: int) -> bytes:
            return opened.read(min(count, size - opened.tell()))

        def damaged(cause: str) -> None:
            held.is_whole = False
            self._report(f"{path.name}: {cause}; nothing of the file is removed")

        def overlong(number: int) -> None:
            self._report(f"{path.name}:{number}: too long to be looked into; it stays")

        splitter = LineSplitter(overlong)
        for line in documents(_lines(content(read, damaged), splitter, held)):
            self._take(line, held)
        if not can_pack(held.head):
            damaged("its compression is not one that is written here")
        if not is_compressed(held.head):
            held.plain_size = size
        if not held.is_whole:
            self._fixed.update(r for extent in held.extents for r in extent.recordings)
            held.extents.clear()
            held.damaged.clear()
            held.torn = None

    def _take(self, line: Line, held: HeldFile) -> None:
        try:
            spans = decode_line(line.data, f"{held.path.name}:{line.number}", events=False)
        except RecordingFileError:
            if b"\n" in line.data:  # blank lines in it are not told, so where it ends is not known
                return
            if line.is_ended:
                held.damaged.append(_extent(line, ()))
            else:
                held.torn = line.start
            return
        ids = [span.attributes.get(a.RECORDING_ID) for span in spans]
        ours = dict.fromkeys(id_ for id_ in ids if isinstance(id_, str) and id_)
        self._spans += [span for span in spans if span.attributes.get(a.RECORDING_ID) in ours]
        # An indented document, or one with spans of others, is not taken apart.
        if b"\n" in line.data or len(ours) < len({*ids}):
            self._fixed.update(ours)
        elif ours:
            held.extents.append(_extent(line, tuple(ours)))


def _extent(line: Line, recordings: Sequence[str]) -> Extent:
    end = line.start + len(line.data) + line.is_ended
    return Extent(line.start, end, tuple(recordings))


def _lines(chunks: Iterable[bytes], splitter: LineSplitter, held: HeldFile) -> Iterator[Line]:
    for chunk in chunks:
        held.plain_size += len(chunk)
        yield from splitter.feed(chunk)
    rest = splitter.rest()
    if rest is not None:
        yield rest
