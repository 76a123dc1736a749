"""Owns the recordings of all sources as the API sees them: listed, and opened one at a time."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from scaly_viz.analysis.summary import RecordingSummary
from scaly_viz.errors import ScalyVizError
from scaly_viz.recording import Recording
from scaly_viz.settings import recording_path
from scaly_viz_viewer.source import Source, is_outdated, source_at

# An opened recording holds what was decoded of it: tens of megabytes of a big one.
_MAX_OPEN = 3


class SourceSummary(msgspec.Struct, frozen=True):
    """One source in a list; ``problems`` says in words what of it cannot be read."""

    name: str
    path: str
    recordings: int
    problems: list[str]


@dataclass(frozen=True, slots=True)
class Opened:
    """A recording whose payloads can be decoded, by one thread at a time."""

    recording: Recording
    summary: RecordingSummary
    revision: int
    lock: threading.Lock = field(default_factory=threading.Lock)


class Catalog:
    """The recordings of some files and folders. Every look at them takes note of changes first."""

    def __init__(self, paths: Sequence[Path], cache_bytes: int) -> None:
        self._cache_bytes = cache_bytes
        self._sources = [source_at(path, cache_bytes) for path in paths]
        self._opened: dict[str, Opened] = {}
        self._lock = threading.Lock()

    def recordings(self) -> list[RecordingSummary]:
        """Return the short forms of all recordings, the newest first."""
        with self._lock:
            summaries = [source.summary(key) for key, source in self._refreshed().items()]
        return sorted(summaries, key=lambda summary: (summary.started_at, summary.id), reverse=True)

    def open(self, key: str) -> Opened | None:
        """Return the recording that is addressed by ``key``, if there is one."""
        with self._lock:
            source = self._refreshed().get(key)
            if source is None:
                return None
            opened = self._opened.pop(key, None)
            if opened is None or opened.revision != source.revisions[key]:
                recording = source.open(key)
                if recording is None:
                    return None
                opened = Opened(recording, source.summary(key), source.revisions[key])
            self._opened[key] = opened
            if len(self._opened) > _MAX_OPEN:
                del self._opened[next(iter(self._opened))]
            return opened

    def sources(self) -> list[SourceSummary]:
        """Return what is known of each source."""
        with self._lock:
            self._refreshed()
            return [_summary(source) for source in self._sources]

    def _refreshed(self) -> dict[str, Source]:
        """Return where each recording is; of one that several sources have, the first source."""
        for i, source in enumerate(self._sources):
            if is_outdated(source):
                self._sources[i] = source_at(source.path, self._cache_bytes)
                self._opened.clear()
            self._sources[i].refresh()
        return {key: source for source in reversed(self._sources) for key in source.revisions}


def _summary(source: Source) -> SourceSummary:
    path = source.path
    missing = [] if path.exists() else [f"{path}: does not exist yet; it is waited for"]
    return SourceSummary(path.name, str(path), len(source.revisions), [*missing, *source.problems])


def paths_of(
    source: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | None,
) -> list[Path]:
    """Return the paths that ``source`` names, absolute; that of the local file where it names none.

    Raises:
        ScalyVizError: one is neither a path nor could become one.
    """
    given = [source] if isinstance(source, str | os.PathLike) else source or ()
    return list(dict.fromkeys(map(_path_of, given))) or [recording_path().absolute()]


def _path_of(given: str | os.PathLike[str]) -> Path:
    if "://" in str(given):
        raise ScalyVizError(f"{given}: only files and folders can be served")
    path = Path(given).expanduser().absolute()
    if not path.parent.is_dir() and path != recording_path().absolute():
        raise ScalyVizError(f"{path}: no such file, and there is no folder {path.parent}")
    return path
