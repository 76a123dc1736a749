"""Owns how files and folders that only their owner may read are made, whatever the umask."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path

# A planted link is not followed, and a pipe cannot make us wait for its other end.
_SAFELY = (
    getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_BINARY", 0)
)


def open_private(path: str | os.PathLike[str], flags: int) -> int:
    """Open ``path``, made with mode 0600 where it does not exist, and return its descriptor."""
    with suppress(FileNotFoundError):
        return os.open(path, flags | _SAFELY)
    try:
        descriptor = os.open(path, flags | _SAFELY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:  # another process was faster
        return os.open(path, flags | _SAFELY)
    set_mode(descriptor, 0o600)
    return descriptor


def set_mode(descriptor: int, mode: int) -> None:
    """Give an open file its mode, whatever the umask; on Windows, its folder says who may read it."""
    if sys.platform != "win32":
        os.fchmod(descriptor, mode)


def make_private_folder(folder: Path) -> None:
    """Make ``folder`` with mode 0700, and its parents; one that exists keeps its mode."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    try:
        folder.mkdir(mode=0o700)
    except FileExistsError:
        if not folder.is_dir():
            raise
        return
    folder.chmod(0o700)
