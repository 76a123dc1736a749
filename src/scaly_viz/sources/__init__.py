"""Owns reading recordings from wherever they are: our files, other OTLP files, scaly.viz's format."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from typing import Any

from scaly_viz.errors import RecordingFileError, RecordingWarning
from scaly_viz.recording import Recording, assemble, from_dict
from scaly_viz.sources.files import read_spans
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
    """Return the recordings at ``path``, in any format that we know, in the order of their ends."""
    if is_scaly_viz(path):
        name = os.path.basename(path)
        return [from_dict(data, name) for data in read_recordings(path, report)]
    return assemble(read_spans(path, report))


def load_dicts(path: str | os.PathLike[str], *, strict: bool = False) -> list[dict[str, Any]]:
    """Return the recordings at ``path``, in any format that we know, as scaly.viz's dicts.

    Raises:
        RecordingFileError: with ``strict``, something cannot be read.
    """
    report = fail if strict else warn
    if is_scaly_viz(path):
        return read_recordings(path, report)
    dicts = []
    for recording in load(path, report):
        result = recording.to_dict()
        for problem in result.get("problems", []):
            report(f"{recording.head.origin}: recording {recording.id} ({recording.name}): {problem}")
        dicts.append(result)
    return dicts
