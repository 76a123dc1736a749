"""Owns what a recording file and its segments hold, line by line: whose each line is, and where it is."""

from __future__ import annotations

import io
import os
from collections import deque
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
        lines: deque[Line] = deque()
        for document in documents(_lines(content(read, damaged), splitter, held, lines)):
            parts = [lines.popleft() for _ in range(document.data.count(b"\n") + 1)]
            self._take(document, parts, held)
        if not can_pack(held.head):
            damaged("its compression is not one that is written here")
        if not is_compressed(held.head):
            held.plain_size = size
        if not held.is_whole:
            self._fixed.update(r for extent in held.extents for r in extent.recordings)
            held.extents.clear()
            held.damaged.clear()
            held.torn = None

    def _take(self, document: Line, lines: Sequence[Line], held: HeldFile) -> None:
        try:
            spans = decode_line(document.data, f"{held.path.name}:{document.number}", events=False)
        except RecordingFileError:
            held.damaged += [_extent(line, line, ()) for line in lines if line.is_ended]
            if not document.is_ended:
                held.torn = lines[-1].start
            return
        ids = [span.attributes.get(a.RECORDING_ID) for span in spans]
        ours = dict.fromkeys(id_ for id_ in ids if isinstance(id_, str) and id_)
        self._spans += [span for span in spans if span.attributes.get(a.RECORDING_ID) in ours]
        if len(ours) < len({*ids}):  # with spans of others it is not taken apart
            self._fixed.update(ours)
        elif ours:
            held.extents.append(_extent(lines[0], lines[-1], tuple(ours)))


def _extent(first: Line, last: Line, recordings: tuple[str, ...]) -> Extent:
    return Extent(first.start, last.start + len(last.data) + last.is_ended, recordings)


def _lines(
    chunks: Iterable[bytes], splitter: LineSplitter, held: HeldFile, seen: deque[Line]
) -> Iterator[Line]:
    """Yield the lines, which ``seen`` takes note of: documents do not tell where their lines were."""
    for chunk in chunks:
        held.plain_size += len(chunk)
        for line in splitter.feed(chunk):
            seen.append(line)
            yield line
    rest = splitter.rest()
    if rest is not None:
        seen.append(rest)
        yield rest
