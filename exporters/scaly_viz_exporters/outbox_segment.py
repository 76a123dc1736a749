"""Owns one closed file of the outbox: reading it line by line, and noting how far it is delivered."""

from __future__ import annotations

import io
import logging
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from scaly_viz_exporters.parcels import Message, Parcel
from scaly_viz_exporters.private_files import open_private
from scaly_viz_exporters.span_lines import LineError, spans_of

REFUSED = "refused"
PARTLY_REJECTED = "partly-rejected"
UNREADABLE = "unreadable"
ASIDE = (REFUSED, PARTLY_REJECTED, UNREADABLE)

# To copy more would hold up an exit.
_MOST_TO_COPY = 64 * 1024**2

type KeepAside = Callable[[str, bytes, str], Path]

_log = logging.getLogger("scaly_viz")


class Segment:
    """The lines of ``path``, which nobody appends to any more; ``keep_aside`` takes what cannot be sent."""

    def __init__(self, path: Path, keep_aside: KeepAside) -> None:
        self.path = path
        self._keep_aside = keep_aside
        self._note = path.with_suffix(".sent")
        status = path.stat()
        self._size = status.st_size
        self._identity = f"{status.st_ino:020} {self._size:020} {status.st_mtime_ns:020}"

    def parcels(self) -> Iterator[Parcel]:
        """Yield the lines that are not delivered; what cannot be read has a problem instead of spans."""
        end = self._acknowledged()
        if end >= self._size:
            self._delete()
            return
        with io.BufferedReader(io.FileIO(self.path)) as file:
            file.seek(end)
            while line := file.readline():
                end += len(line)
                yield _parcel(line, end)

    def delivered(self, message: Message) -> None:
        """Note that all lines up to the end of ``message`` are acknowledged; delete the file after the last."""
        end = message[-1].end
        if end >= self._size:
            try:
                self._delete()
                return
            except PermissionError:
                if sys.platform != "win32":  # where a file that is being read cannot be deleted yet
                    raise
        # Of one length and over itself: that needs no room on a full disk.
        text = f"{end:020} {self._identity}\n".encode()
        with suppress(OSError), io.FileIO(self._note, "r+", opener=_open_note) as note:
            note.write(text)

    def refused(self, message: Message, why: str) -> None:
        """Move ``message`` to the refused ones, or to those that nobody can read."""
        self._move(UNREADABLE if message[0].problem else REFUSED, message, why)

    def partly_rejected(self, message: Message, why: str) -> None:
        """Move ``message`` to those of which the backend has taken some."""
        self._move(PARTLY_REJECTED, message, why)

    def _move(self, kind: str, message: Message, why: str) -> None:
        self._keep_aside(kind, b"".join(parcel.line for parcel in message), why)
        self.delivered(message)

    def _acknowledged(self) -> int:
        """Return the noted end; a note on another file of this name, deleted long ago, counts for nothing."""
        try:
            text = self._note.read_text("ascii")
        except (OSError, ValueError):
            return 0
        end, _, identity = text.rstrip("\n").partition(" ")
        return int(end) if identity == self._identity and end.isdigit() else 0

    def cut(self) -> None:
        """Cut off what is delivered, unless that is too much work, or the disk is full."""
        end = self._acknowledged()
        if not 0 < end < self._size or self._size - end > _MOST_TO_COPY:
            return
        rest = self.path.with_name(f"{self.path.name}.tmp")
        try:
            with self.path.open("rb") as file:
                file.seek(end)
                data = file.read()
            with os.fdopen(open_private(rest, os.O_WRONLY | os.O_TRUNC), "wb") as file:
                file.write(data)
            # The note does not hold for the new file: it is another one of that name.
            rest.replace(self.path)
        except OSError as error:
            _log.debug("%s: cannot be cut: %s", self.path, error)
            rest.unlink(missing_ok=True)
        else:
            self._note.unlink(missing_ok=True)

    def _delete(self) -> None:
        self.path.unlink(missing_ok=True)
        self._note.unlink(missing_ok=True)


def _open_note(name: str, flags: int) -> int:
    return open_private(name, os.O_RDWR)


def _parcel(line: bytes, end: int) -> Parcel:
    if not line.strip():
        return Parcel(b"", (), 0, end)
    try:
        return Parcel(line, spans_of(line), len(line), end)
    except LineError as error:
        return Parcel(line, (), len(line), end, str(error))
