"""Owns the files that remember indexes: big recording files are then listed without being read again."""

from __future__ import annotations

import contextlib
import hashlib
import os
from pathlib import Path

import msgspec

from scaly_viz import log
from scaly_viz._version import __version__
from scaly_viz.analysis.summary import RecordingSummary
from scaly_viz.errors import RecordingFolderError
from scaly_viz.settings import INDEX_FOLDER, recording_dir
from scaly_viz_exporters.private_files import make_private_folder, open_private
from scaly_viz_viewer.index import IndexState

_MAX_FILES = 32
_CHECKSUM_BYTES = 16


class _Saved(msgspec.Struct):
    """The content of one file. What another version wrote, or of another path, is not used."""

    version: str
    path: str
    state: IndexState


_VERSION = f"{__version__} {','.join(RecordingSummary.__struct_fields__)}"


def load(path: Path) -> IndexState | None:
    """Return what was saved for the recordings at ``path``, None where there is nothing usable."""
    try:
        data = _file(path).read_bytes()
        if _checksum(data[_CHECKSUM_BYTES:]) != data[:_CHECKSUM_BYTES]:
            return None
        saved = msgspec.msgpack.decode(data[_CHECKSUM_BYTES:], type=_Saved)
    except (OSError, RecordingFolderError, msgspec.MsgspecError, ValueError):
        return None
    is_ours = saved.version == _VERSION and saved.path == os.path.realpath(path)
    return saved.state if is_ours else None


def save(path: Path, state: IndexState) -> None:
    """Remember ``state``; where that cannot be done, the files will be read again."""
    try:
        file = _file(path)
        make_private_folder(file.parent)
        _drop_oldest(file.parent)
        data = msgspec.msgpack.encode(_Saved(_VERSION, os.path.realpath(path), state))
        draft = file.with_suffix(f".{os.getpid()}")
        with os.fdopen(open_private(draft, os.O_WRONLY | os.O_TRUNC), "wb") as opened:
            opened.write(_checksum(data) + data)
        draft.replace(file)
    except (OSError, RecordingFolderError, ValueError, OverflowError) as error:
        # msgspec has no integers over 64 bits; on ReFS, of Windows, inodes have 128.
        log.debug("the index of %s is not saved", path, error=error)


def _checksum(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=_CHECKSUM_BYTES).digest()


def _file(path: Path) -> Path:
    name = hashlib.sha256(os.fsencode(os.path.realpath(path))).hexdigest()[:32]
    return recording_dir() / INDEX_FOLDER / f"{name}.msgpack"


def _drop_oldest(folder: Path) -> None:
    with contextlib.suppress(OSError):
        files = sorted(folder.iterdir(), key=lambda file: file.stat().st_mtime)
        for file in files[: -_MAX_FILES + 1]:
            file.unlink()
