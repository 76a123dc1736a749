"""Owns the lock that lets one process at a time write a recording file.

It is a plain ``flock`` on a file beside the data, on Windows a lock of its first byte, which the
kernel drops when its holder dies. The filelock package takes the same lock, but importing it costs
160 ms, and its hooks can delay a ``fork`` of the host program by 30 s, refuse it, or end the child.
"""

from __future__ import annotations

import functools
import io
import os
import sys
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from scaly_viz_exporters.private_files import open_private

_FIRST_DELAY_S = 0.0005
_LONGEST_DELAY_S = 0.02

_held: weakref.WeakSet[io.FileIO] = weakref.WeakSet()

if sys.platform == "win32":
    import msvcrt

    def _lock(file: io.FileIO) -> None:
        file.seek(0)
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except PermissionError as error:  # what Windows calls a lock that another has
            raise BlockingIOError(error.errno, error.strerror) from error

    def _unlock(file: io.FileIO) -> None:
        file.seek(0)
        msvcrt.locking(file.fileno(), msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _lock(file: io.FileIO) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def _unlock(file: io.FileIO) -> None:
        fcntl.flock(file, fcntl.LOCK_UN)


def lock_path(path: Path) -> Path:
    """Return the lock file of the recording file ``path``."""
    return path.with_name(path.name + ".lock")


@contextmanager
def writers_lock(path: Path, timeout_s: float, *, create: bool = True) -> Iterator[bool]:
    """Hold the lock of the writers of ``path``; yield whether it was had within ``timeout_s``.

    It is not had where a stopped process keeps it, on a file system without locks, and, unless
    ``create``, where there is no lock file. It excludes the threads of one process, too.
    """
    _forget_locks_in_forked_children()
    lock = _acquire(lock_path(path), time.monotonic() + timeout_s, create)
    try:
        yield lock is not None
    finally:
        if lock is not None:
            _release(lock)


@contextmanager
def claim(path: Path) -> Iterator[bool]:
    """Hold the lock that ``path`` itself is, made where it is missing; yield False where another has it.

    On a file system without locks it is had at once: nobody there could do better.
    """
    _forget_locks_in_forked_children()
    lock = io.FileIO(path, "r+", opener=lambda name, _: open_private(name, os.O_RDWR))
    _held.add(lock)
    try:
        yield _is_locked(lock) and _is_at(lock, path)
    finally:
        _release(lock)


def _is_locked(lock: io.FileIO) -> bool:
    try:
        _lock(lock)
    except BlockingIOError:
        return False
    except OSError:
        pass
    return True


def _acquire(path: Path, deadline: float, create: bool) -> io.FileIO | None:
    delay = _FIRST_DELAY_S
    while True:
        lock = _open(path, create)
        if lock is None:
            return None
        _held.add(lock)
        try:
            _lock(lock)
            if _is_at(lock, path):
                return lock
        except BlockingIOError:
            pass
        except OSError:
            lock.close()
            return None
        lock.close()
        if time.monotonic() + delay > deadline:
            return None
        time.sleep(delay)
        delay = min(2 * delay, _LONGEST_DELAY_S)


def _open(path: Path, create: bool) -> io.FileIO | None:
    if create:
        return io.FileIO(path, "r+", opener=lambda name, _: open_private(name, os.O_RDWR))
    try:
        return io.FileIO(path, "r+")
    except OSError:
        return None


def _is_at(lock: io.FileIO, path: Path) -> bool:
    """Tell a lock on a file that was deleted meanwhile, which keeps nobody out, from a good one."""
    try:
        # On Windows an open file cannot be deleted.
        return sys.platform == "win32" or os.path.samestat(os.fstat(lock.fileno()), path.stat())
    except FileNotFoundError:
        return False


def _release(lock: io.FileIO) -> None:
    if not lock.closed:  # a forked child has closed its copy
        # Closing is not enough while a forked child still has the descriptor.
        with suppress(OSError):
            _unlock(lock)
        lock.close()


@functools.cache
def _forget_locks_in_forked_children() -> None:
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_close_inherited)


def _close_inherited() -> None:
    """Close what another thread of the parent held, lest the child keep it beyond the parent."""
    for lock in list(_held):
        lock.close()
    _held.clear()
