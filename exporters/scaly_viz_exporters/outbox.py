"""Owns the folder in which spans wait for a backend: appended by many processes, delivered by one at a time.

``spans.jsonl`` is appended to under the writers' lock. Whoever delivers holds ``delivery.lock``,
renames that file to the next numbered segment, which never changes again, sends its lines in order,
and deletes it. Only how far a segment is acknowledged needs a note beside it.
"""

from __future__ import annotations

import errno
import os
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from scaly_viz_exporters import segments
from scaly_viz_exporters.file_lock import claim, writers_lock
from scaly_viz_exporters.line_file import append_lines, open_to_append
from scaly_viz_exporters.outbox_segment import ASIDE, REFUSED, Segment
from scaly_viz_exporters.private_files import make_private_folder, open_private

FILE_NAME = "spans.jsonl"
_REASONS = "reasons.txt"
_LOCK_TIMEOUT_S = 2.0
_MAX_REASON = 300
_LONG_DEAD_S = 3600.0


class OutboxFullError(OSError):
    """The outbox has reached its limit."""


class Outbox:
    """Spans that wait in ``folder``, as lines of OTLP JSON, at most ``max_bytes`` of them."""

    def __init__(self, folder: Path, max_bytes: int) -> None:
        self.folder = folder
        self.path = folder / FILE_NAME
        self.max_bytes = max_bytes

    def append(self, lines: bytes) -> None:
        """Keep whole ``lines``; when it returns they survive the end of this process.

        Raises:
            OutboxFullError: they would exceed the limit.
            OSError: they cannot be written; nothing of them is kept.
        """
        if self.size() + len(lines) > self.max_bytes:
            raise OutboxFullError(errno.EDQUOT, f"holds {self.max_bytes} bytes", str(self.folder))
        try:
            self._append(self.path, lines)
        except FileNotFoundError:
            make_private_folder(self.folder.parent)
            make_private_folder(self.folder)
            self._append(self.path, lines)

    def size(self) -> int:
        """Return how many bytes wait or are kept aside."""
        folders = (self.folder, *(self.folder / kind for kind in ASIDE))
        return sum(_size(file) for folder in folders for file in _files(folder))

    def waiting_bytes(self) -> int:
        """Return how many bytes wait to be delivered, those of a segment that is half sent included."""
        return sum(_size(file) for file in _files(self.folder))

    def refused_bytes(self) -> int:
        """Return how many bytes were refused, and are sent again on request."""
        return sum(_size(file) for file in _files(self.folder / REFUSED))

    @contextmanager
    def delivering(self) -> Iterator[Delivery | None]:
        """Be the one who delivers; None where another process or thread is."""
        if not self.folder.is_dir():
            yield Delivery(self)
            return
        with claim(self.folder / "delivery.lock") as claimed:
            delivery = Delivery(self) if claimed else None
            try:
                yield delivery
            finally:
                if delivery is not None:
                    delivery.end()

    def keep_aside(self, kind: str, lines: bytes, why: str) -> Path:
        """Keep ``lines`` where they are not sent from, with the reason; return the file.

        Raises:
            OSError: they cannot be written.
        """
        folder = self.folder / kind
        make_private_folder(folder)
        self._append(folder / FILE_NAME, lines)
        reason = f"{time.strftime('%Y-%m-%dT%H:%M:%S%z')} {why[:_MAX_REASON]}\n"
        with suppress(OSError), open_to_append(folder / _REASONS) as file:
            append_lines(file, reason.encode("utf-8", "backslashreplace"))
        return folder / FILE_NAME

    def take(self) -> bool:
        """Have what is being appended to become a segment; return False where a writer has stopped."""
        with writers_lock(self.path, _LOCK_TIMEOUT_S) as locked:
            if locked and self.path.exists():
                segments.rotate(self.path)
        return locked

    def put_back_refused(self) -> None:
        """Let what was refused be sent once more, behind all that waits; only for who delivers."""
        for refused in sorted(_files(self.folder / REFUSED)):
            refused.rename(segments.next_segment(self.path))

    def _append(self, path: Path, lines: bytes) -> None:
        with writers_lock(path, _LOCK_TIMEOUT_S) as locked:
            if locked:
                with open_to_append(path) as file:
                    append_lines(file, lines)
                return
        # A file that others may rename at any time must not be written to without the lock.
        _write_apart(path, lines)


class Delivery:
    """The right to deliver what waits in an outbox."""

    def __init__(self, outbox: Outbox) -> None:
        self._outbox = outbox
        self._last: Segment | None = None
        self.complete = True
        """False where a writer that has stopped keeps back what it may be in the middle of."""

    def segments(self) -> Iterator[Segment]:
        """Yield what waits at the first call, oldest first."""
        self._clear_up()
        yield from self._closed()
        if self._outbox.path.exists():
            self.complete = self._outbox.take()
            yield from self._closed()

    def put_back_refused(self) -> None:
        """Let what was refused be sent once more, behind all that waits."""
        self._outbox.put_back_refused()

    def end(self) -> None:
        """Leave in the outbox exactly what is not delivered."""
        if self._last is not None:
            self._last.cut()

    def _closed(self) -> Iterator[Segment]:
        apart = sorted(self._outbox.folder.glob("apart-*.jsonl"))
        for path in (*segments.rotated(self._outbox.path), *apart):
            if not path.is_file():  # a stranger's folder, say, which must not hold up the others
                continue
            self._last = Segment(path, self._outbox.keep_aside)
            yield self._last

    def _clear_up(self) -> None:
        """Delete what processes that were killed have left half done."""
        for note in self._outbox.folder.glob("*.sent"):
            if not note.with_suffix(".jsonl").exists():
                note.unlink(missing_ok=True)
        for file in self._outbox.folder.glob("*.tmp"):
            if time.time() - file.stat().st_mtime > _LONG_DEAD_S:
                file.unlink(missing_ok=True)


def _write_apart(beside: Path, lines: bytes) -> None:
    name = f"apart-{time.time_ns():020}-{secrets.token_hex(4)}.jsonl"
    made = beside.with_name(f"{name}.tmp")
    descriptor = open_private(made, os.O_WRONLY)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(lines)
        made.rename(beside.with_name(name))
    except BaseException:
        made.unlink(missing_ok=True)
        raise


def _files(folder: Path) -> Iterator[Path]:
    with suppress(OSError):
        yield from (file for file in folder.iterdir() if file.suffix == ".jsonl")


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except OSError:  # delivered meanwhile
        return 0
