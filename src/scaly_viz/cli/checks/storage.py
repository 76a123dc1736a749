"""Owns checking the folder of recordings: that it can be written, by nobody else, and has room."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from scaly_viz import settings
from scaly_viz.cli.checks import Finding, Verdict, content
from scaly_viz.cli.quantities import size
from scaly_viz.errors import RecordingFolderError
from scaly_viz.sources.files import segments
from scaly_viz_exporters.file_lock import lock_path, writers_lock

_AREA = "storage"
_LOCK_S = 1.0
_TOO_LITTLE = 100 * 10**6
_LITTLE = 10**9


def check() -> Iterator[Finding]:
    """Look at the folder, the file in it, and the disk below."""
    try:
        folder = settings.recording_dir()
    except RecordingFolderError as error:
        yield Finding(_AREA, Verdict.PROBLEM, str(error), f"set {settings.DIR.name}")
        return
    if not folder.is_absolute():
        text = f"{folder} is relative: each working directory has its own; here {folder.absolute()}"
        yield Finding(_AREA, Verdict.NOTE, text, f"give the whole path in {settings.DIR.name}")
    yield from _folder(folder)
    yield from _file(settings.recording_path())
    yield from _disk(folder)


def _folder(folder: Path) -> Iterator[Finding]:
    exists = os.path.lexists(folder)
    if exists and not folder.is_dir():
        text = f"{folder} is no folder"
        yield Finding(_AREA, Verdict.PROBLEM, text, f"remove it, or set {settings.DIR.name}")
        return
    at = _nearest(folder)
    try:
        with tempfile.NamedTemporaryFile(dir=at, prefix=".scaly-viz-doctor-"):
            pass
    except OSError as error:
        text = f"{folder} cannot be {'written to' if exists else 'made'}: {error.strerror}"
        advice = f"set {settings.DIR.name} to another folder"
        if isinstance(error, PermissionError):
            advice = f"make {at} writable for you, or {advice}"
        yield Finding(_AREA, Verdict.PROBLEM, text, advice)
        return
    if not exists:
        yield Finding(_AREA, Verdict.OK, f"recordings will go to {folder}, which is yet to be made")
        return
    mode = stat.S_IMODE(folder.stat().st_mode)
    if os.name == "posix" and mode & 0o077:
        text = f"others may look into {folder} (mode {mode:04o})"
        yield Finding(_AREA, Verdict.WARNING, text, f"chmod 700 {folder}")
    else:
        yield Finding(_AREA, Verdict.OK, f"recordings go to {folder}, which is yours alone")


def _file(path: Path) -> Iterator[Finding]:
    if os.path.lexists(path) and not stat.S_ISREG(path.lstat().st_mode):
        text = f"{path} is no regular file, so nothing is written to it"
        yield Finding(_AREA, Verdict.PROBLEM, text, f"move it away, or set {settings.DIR.name}")
        return
    files = [file for file in segments(path) if file.is_file()]
    if not files:
        return
    unwritable = path.exists() and not os.access(path, os.R_OK | os.W_OK)
    if unwritable:
        text = f"{path} may not be read and written by you"
        yield Finding(_AREA, Verdict.PROBLEM, text, f"chown it to yourself, or chmod 600 {path}")
        return
    total = sum(file.stat().st_size for file in files)
    limit = settings.size(os.environ, settings.MAX_BYTES)
    parts = "one file" if len(files) == 1 else f"{len(files):,} files"
    text = f"{size(total)} of recordings in {parts}; the oldest go beyond {limit / 1e6:,.0f} MB"
    yield Finding(_AREA, Verdict.OK, text)
    yield from content.check(path, total)
    if lock_path(path).exists():
        with writers_lock(path, _LOCK_S, create=False) as locked:
            if not locked:
                text = f"{lock_path(path)} is held, or its file system has no locks"
                advice = (
                    "look for a stopped process that records; on a network share set another folder"
                )
                yield Finding(_AREA, Verdict.WARNING, text, advice)


def _disk(folder: Path) -> Iterator[Finding]:
    with suppress(OSError):
        at = _nearest(folder)
        usage = shutil.disk_usage(at)
        if not usage.total:  # no disk, as /proc
            return
        free = usage.free
        text = f"{free / 1e9:,.1f} GB are free on the disk of {folder}"
        advice = f"set {settings.DIR.name} to a folder on another disk"
        if any(file.is_file() for file in segments(settings.recording_path())):
            advice = f"scaly-viz prune --older-than 30d, or {advice}"
        if free < _TOO_LITTLE:
            yield Finding(_AREA, Verdict.PROBLEM, f"only {free / 1e6:,.0f} MB are free", advice)
        elif free < _LITTLE:
            yield Finding(_AREA, Verdict.WARNING, text, advice)
        else:
            yield Finding(_AREA, Verdict.OK, text)


def _nearest(path: Path) -> Path:
    """Return ``path``, or what there is of the way to it."""
    path = path.absolute()
    while not os.path.lexists(path) and path != path.parent:
        path = path.parent
    return path
