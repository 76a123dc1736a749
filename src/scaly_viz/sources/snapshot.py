"""Owns a consistent view of a recording file that others append to and rotate meanwhile."""

from __future__ import annotations

import io
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from scaly_viz.errors import RecordingFileError
from scaly_viz_exporters.segments import rotated

_ATTEMPTS = 100


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The segments of a file, oldest first, and the file itself, open, up to ``size``."""

    segments: list[Path]
    active: io.FileIO | None
    size: int


@contextmanager
def snapshot(path: Path) -> Iterator[Snapshot]:
    """Open ``path`` at a moment at which it was not rotated; a missing file is no error.

    A line that was there when the snapshot was taken is in it exactly once. Segments no longer
    change their names, so that only the active file must be kept open.
    """
    segments, active = _consistent(path)
    try:
        yield Snapshot(segments, active, os.fstat(active.fileno()).st_size if active else 0)
    finally:
        if active:
            active.close()


def open_file(path: Path) -> io.FileIO | None:
    """Open the regular file ``path``, None where it is missing; say what else is wrong."""
    try:
        # A pipe that nobody writes to would keep us waiting.
        file = io.FileIO(path, opener=lambda name, flags: os.open(name, flags | _NONBLOCK))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise RecordingFileError(f"{path.name}: cannot be opened: {error.strerror}") from error
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise RecordingFileError(f"{path.name}: not a regular file")
    return file


_NONBLOCK = getattr(os, "O_NONBLOCK", 0)


def _consistent(path: Path) -> tuple[list[Path], io.FileIO | None]:
    for _ in range(_ATTEMPTS):
        before = rotated(path)
        active = open_file(path)
        if rotated(path) == before:
            break
        if active:
            active.close()
            active = None
    else:
        raise RecordingFileError(f"{path.name}: rotated too often to be read")
    return before, active
