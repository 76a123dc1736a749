"""Owns reading recordings from wherever they are: our files, other OTLP files, scaly.viz's format, backends."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from scaly_viz.assembling import assemble
from scaly_viz.errors import RecordingFileError, RecordingWarning
from scaly_viz.recording import Recording
from scaly_viz.scaly_viz_dict import from_dict
from scaly_viz.sources.address import is_address
from scaly_viz.sources.files import read_spans
from scaly_viz.sources.folder import scaly_viz_files
from scaly_viz.sources.scaly_viz_json import is_scaly_viz, read_recordings

type Report = Callable[[str], None]


def warn(message: str) -> None:
    """Report a problem as a ``RecordingWarning``."""
    warnings.warn(message, RecordingWarning, stacklevel=3)


def fail(message: str) -> None:
    """Report a problem by raising it.

    Raises:
        RecordingFileError: always.
    """
    raise RecordingFileError(message)


def load(path: str | os.PathLike[str], report: Report = warn) -> list[Recording]:
    """Return the recordings at ``path``, in any format that we know, in the order of their ends.

    ``path`` is a file or a folder, in which scaly.viz's ``recordings.json`` counts too, or the address
    of a tracing backend, ``jaeger:URL`` or ``tempo:URL``.

    Raises:
        BackendError: the backend does not answer as it should.
    """
    if is_address(path):
        from scaly_viz.sources.backend import load_backend

        return load_backend(os.fspath(path), report)
    try:
        return _load(Path(path), report)
    except (OSError, ValueError) as error:
        # Of the path itself: too long, not permitted, a NUL in it.
        report(f"{path!s:.200}: cannot be read: {error}")
        return []


def _load(path: Path, report: Report) -> list[Recording]:
    files = scaly_viz_files(path)
    recordings = [
        from_dict(data, file.name) for file in files for data in read_recordings(file, report)
    ]
    if files and not path.is_dir():
        return recordings
    return sorted([*recordings, *assemble(read_spans(path, report))], key=_end)


def load_dicts(path: str | os.PathLike[str], *, strict: bool = False) -> list[dict[str, Any]]:
    """Return the recordings at ``path``, in any format that we know, as scaly.viz's dicts.

    Raises:
        RecordingFileError: with ``strict``, something cannot be read.
        BackendError: a backend does not answer as it should.
    """
    report = fail if strict else warn
    try:
        if not is_address(path) and not Path(path).is_dir() and is_scaly_viz(path):
            return read_recordings(path, report)
    except (OSError, ValueError) as error:
        report(f"{path!s:.200}: cannot be read: {error}")
        return []
    dicts = []
    for recording in load(path, report):
        result = recording.to_dict()
        for problem in result.get("problems", []):
            where = f"{recording.head.origin}: recording {recording.id} ({recording.name})"
            report(f"{where}: {problem}")
        dicts.append(result)
    return dicts


def _end(recording: Recording) -> int:
    return recording.end_ns
