"""Owns a consistent view of a recording file that others append to and rotate meanwhile."""

from __future__ import annotations

import io
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from scaly_viz.sources.lines import Report
from scaly_viz_exporters.segments import rotated

_ATTEMPTS = 100
_NONBLOCK = getattr(os, "O_NONBLOCK", 0)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The segments of a file, oldest first, and the file itself, open, up to ``size``."""

    segments: list[Path]
    active: io.FileIO | None
    size: int


@contextmanager
def snapshot(path: Path, report: Report) -> Iterator[Snapshot]:
    """Open ``path`` at a moment at which it was not rotated; a missing file is no error.

    A line that was there when the snapshot was taken is in it exactly once. Segments no longer
    change their names, so that only the active file must be kept open.
    """
    segments, active = _consistent(path, report)
    try:
        yield Snapshot(segments, active, os.fstat(active.fileno()).st_size if active else 0)
    finally:
        if active:
            active.close()


def open_file(path: Path, report: Report) -> io.FileIO | None:
    """Open the regular file ``path``; None where it is missing, or for a reported reason."""
    try:
        # A pipe that nobody writes to would keep us waiting.
        file = io.FileIO(path, opener=lambda name, flags: os.open(name, flags | _NONBLOCK))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        report(f"{path.name}: {error.strerror}; the file was left out")
        return None
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        report(f"{path.name}: not a regular file; it was left out")
        return None
    return file


def segments_of(path: Path, report: Report) -> list[Path]:
    """Return the rotated segments of ``path``, oldest first, those that can be found."""
    try:
        return rotated(path)
    except OSError as error:
        report(f"{path.parent}: {error.strerror}; rotated segments were left out")
        return []


def _consistent(path: Path, report: Report) -> tuple[list[Path], io.FileIO | None]:
    for attempt in range(1, _ATTEMPTS + 1):
        segments = segments_of(path, report)
        active = open_file(path, report)
        if segments_of(path, report) == segments:
            break
        if attempt == _ATTEMPTS:
            report(f"{path.name}: rotated all the time; some spans may be missing")
        elif active:
            active.close()
    return segments, active
