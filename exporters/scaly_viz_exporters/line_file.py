"""Owns appending whole lines to a file: all of them or none, and never onto a torn line."""

from __future__ import annotations

import errno
import io
import os
import stat
from contextlib import suppress
from pathlib import Path

from scaly_viz_exporters.private_files import open_private

_KINDS = {
    stat.S_IFLNK: "a symbolic link",
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def open_to_append(path: Path) -> io.FileIO:
    """Open the regular file ``path``, made with mode 0600 where it does not exist."""
    try:
        file = io.FileIO(
            path, "a+", opener=lambda name, flags: open_private(name, flags & ~os.O_CREAT)
        )
    except OSError as error:
        _refuse_other_kinds(path, error)
        raise
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        _refuse_other_kinds(path, None)
    return file


def append_lines(file: io.FileIO, lines: bytes) -> None:
    """Append ``lines``, which end with a newline; on an error the file is as it was before."""
    size = file.seek(0, os.SEEK_END)
    if _ends_torn(file, size):
        lines = b"\n" + lines
    written = 0
    try:
        while written < len(lines):
            written += file.write(memoryview(lines)[written:]) or 0
    except BaseException:
        with suppress(OSError):
            _undo(file, size, written)
        raise


def _ends_torn(file: io.FileIO, size: int) -> bool:
    if size == 0:
        return False
    file.seek(size - 1)
    return file.read(1) != b"\n"


def _undo(file: io.FileIO, size: int, written: int) -> None:
    # A writer that could not get the lock may have appended since: its lines must stay.
    if os.fstat(file.fileno()).st_size == size + written:
        file.truncate(size)


def _refuse_other_kinds(path: Path, cause: OSError | None) -> None:
    try:
        kind = _KINDS.get(stat.S_IFMT(path.lstat().st_mode))
    except OSError:
        return
    if kind:
        number = cause.errno if cause else errno.EINVAL
        raise OSError(number, f"is {kind}, not a regular file", str(path)) from cause
