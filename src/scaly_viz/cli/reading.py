"""Owns what the commands read: the recordings at a path, and what is wrong there, said on standard error."""

from __future__ import annotations

import os
import sys
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from scaly_viz import settings, sources
from scaly_viz.analysis.summary import RecordingSummary, summarize
from scaly_viz.assembling import assemble
from scaly_viz.cli import output
from scaly_viz.cli.characters import visible
from scaly_viz.cli.selection import select_recording
from scaly_viz.errors import ScalyVizError
from scaly_viz.imports import recognition
from scaly_viz.recording import Recording
from scaly_viz.sources.address import is_address
from scaly_viz.sources.files import read_spans, segments
from scaly_viz.sources.scaly_viz_json import is_scaly_viz

# From this size on reading takes long enough to say so.
_BIG_BYTES = 32 * 1024**2


def summaries(path: str | None, *, strict: bool) -> list[RecordingSummary]:
    """Return the short forms of the recordings at ``path``, by default the local file's, oldest first.

    Raises:
        ScalyVizError: there is nothing at ``path``; with ``strict``, something cannot be read or is
            missing from a recording.
    """
    if path is not None and is_address(path):
        from scaly_viz.cli import backend

        return backend.summaries(path, strict=strict)
    return [*map(summarize, read(path, strict=strict, payloads=False))]


def choose(path: str | None, word: str, *, strict: bool) -> Recording | None:
    """Return the recording at ``path`` that ``word`` names, None where there are no recordings.

    Raises:
        ScalyVizError: as ``summaries`` does; ``word`` names none.
    """
    if path is not None and is_address(path):
        from scaly_viz.cli import backend

        return backend.choose(path, word, strict=strict)
    recordings = read(path, strict=strict)
    return select_recording(recordings, word) if recordings else None


def read(path: str | None, *, strict: bool, payloads: bool = True) -> list[Recording]:
    """Return the recordings at ``path``, by default the local file's, oldest first.

    What cannot be read is told as warnings. Without ``payloads`` they have none, which takes far
    less memory.

    Raises:
        ScalyVizError: there is nothing at ``path``; with ``strict``, something cannot be read or is
            missing from a recording.
    """
    place = settings.recording_path() if path is None else of_recordings(path)
    report = sources.fail if strict else output.warn
    with patience(place):
        if payloads or is_scaly_viz(place):
            recordings = sources.load(place, report)
        else:
            recordings = assemble(read_spans(place, report, events=False))
    if strict:
        for recording in recordings:
            for problem in recording.problems:
                name = f"recording {recording.id} ({recording.name})"
                sources.fail(f"{recording.head.origin}: {name}: {problem}")
    return recordings


def existing(path: str) -> Path:
    """Return ``path`` if there is something that can be read.

    Raises:
        ScalyVizError: there is not.
    """
    place = Path(path).expanduser()
    if not os.path.lexists(place):
        raise ScalyVizError(f"{path}: no such file or folder")
    if not os.access(place, os.R_OK):
        raise ScalyVizError(
            f"{path}: permission denied" if place.exists() else f"{path}: dangling link"
        )
    return place


def of_recordings(path: str) -> Path:
    """Return ``path`` if recordings can be read from it, or a folder of theirs.

    Raises:
        ScalyVizError: there is nothing, or a file of another kind.
    """
    place = existing(path)
    # To look into a pipe would be to take from it.
    kind = recognition.kind_of(place) if place.is_file() else None
    if kind == recognition.HTML:
        raise ScalyVizError(f"{path}: is a page; scaly-viz import takes recordings out of one")
    if kind in recognition.WITHOUT_CONTENT:
        raise ScalyVizError(f"{path}: {recognition.WITHOUT_CONTENT[kind]}")
    return place


def nothing_there(path: str | None) -> str:
    """Say that there are no recordings, and how to make one."""
    if path is not None and is_address(path):
        from scaly_viz.cli import backend

        return backend.nothing_there(path)
    place = settings.recording_path() if path is None else Path(path).expanduser()
    if path is None:
        lines = [
            f"No recordings yet in {visible(str(place))}. These lines make one:",
            "",
            "    import scaly_viz",
            "    scaly_viz.visualize(f)                 # f: a function of scaly",
            "    scaly.codegen.aot.render_c_source(f)   # or call f: every compile is recorded",
        ]
    else:
        lines = [f"No recordings in {visible(path)}."]
    foreign = (place if place.is_dir() else place.parent) / "recordings.json"
    if foreign != place and foreign.exists():
        lines += ["", f"What scaly.viz recorded: --recording-path {visible(str(foreign))}"]
    return "\n".join(lines)


def patience(place: Path) -> AbstractContextManager[object]:
    """Tell the person at the terminal that a big file is being read."""
    bytes_ = size(place)
    if bytes_ < _BIG_BYTES or not sys.stderr.isatty():
        return nullcontext()
    from rich.console import Console

    return Console(stderr=True).status(f"reading {bytes_ / 1e6:,.0f} MB", spinner="line")


def size(place: Path) -> int:
    """Return how many bytes the recordings at ``place`` take on disk."""
    files = place.iterdir() if place.is_dir() else segments(place)
    return sum(file.stat().st_size for file in files if file.is_file())
