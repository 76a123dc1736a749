"""Owns how an exported file is written: whole or not at all, and never over another one unasked."""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from scaly_viz.errors import ScalyVizError

# How file systems without hard links say so; Windows, on FAT, by the last.
_NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK, errno.EINVAL)


def check_free(path: Path, *, force: bool) -> None:
    """Raise where ``path`` cannot be written, as far as that can be told before.

    Raises:
        ScalyVizError: it is a folder, its folder is missing, or there is a file and not ``force``.
    """
    kind = _kind(path)
    if kind == stat.S_IFDIR:
        raise ScalyVizError(f"{path}: is a folder")
    if kind in (stat.S_IFREG, stat.S_IFLNK) and not force:
        raise ScalyVizError(f"{path}: exists already; --force replaces it")
    if kind is None and not path.parent.is_dir():
        raise ScalyVizError(f"{path}: there is no folder {path.parent}")


def write_file(path: Path, chunks: Iterable[bytes], *, force: bool) -> int:
    """Write ``chunks`` to ``path``, and return how many bytes that were.

    Others see the whole file or none; with ``force`` the new one or the old one. A device or a pipe
    is written to.

    Raises:
        ScalyVizError: as ``check_free`` does.
        OSError: the disk is full, say; nothing is left behind.
    """
    check_free(path, force=force)
    try:
        kind = _kind(path)
        if kind not in (None, stat.S_IFREG, stat.S_IFLNK):
            with path.open("wb") as device:
                return sum(device.write(chunk) for chunk in chunks)
        return _write_beside(Path(os.path.realpath(path)), chunks, force=force)
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), str(path)) from error


def _write_beside(target: Path, chunks: Iterable[bytes], *, force: bool) -> int:
    """Write a file beside ``target``, which then takes its place."""
    made = target.with_name(f".{target.name[:40]}.{secrets.token_hex(4)}")
    try:
        with made.open("xb") as file:
            size = sum(file.write(chunk) for chunk in chunks)
        _put(made, target, force=force)
    except BaseException:
        with suppress(OSError):
            made.unlink(missing_ok=True)
        raise
    return size


def _put(made: Path, target: Path, *, force: bool) -> None:
    if not force:
        try:
            os.link(made, target)  # which, unlike a rename, fails where a file has come meanwhile
        except FileExistsError:
            raise ScalyVizError(f"{target}: exists already; --force replaces it") from None
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
        else:
            made.unlink()
            return
    made.replace(target)


def _kind(path: Path) -> int | None:
    """Return the kind of what ``path`` leads to, that of a link which leads nowhere, None for nothing."""
    try:
        return stat.S_IFMT(path.stat().st_mode)
    except FileNotFoundError:
        return stat.S_IFLNK if path.is_symlink() else None
    except NotADirectoryError:
        return None
