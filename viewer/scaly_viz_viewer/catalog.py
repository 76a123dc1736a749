"""Owns the recordings of all sources as the API sees them: listed, and opened one at a time."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from scaly_viz.analysis.groups import ordered
from scaly_viz.analysis.summary import RecordingSummary
from scaly_viz.errors import ScalyVizError
from scaly_viz.recording import Recording
from scaly_viz.settings import recording_path
from scaly_viz.sources.address import Address, is_address, parse_address
from scaly_viz_viewer.backend_source import BackendSource
from scaly_viz_viewer.given import GivenSource
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
    """The recordings of files, folders and tracing backends. Every look at them takes note of changes first."""

    def __init__(self, sources: Sequence[Path | Address | Source]) -> None:
        self._sources = [_source(each) for each in sources]
        self._opened: dict[str, Opened] = {}
        self._seen = _Seen()
        self._lock = threading.Lock()

    def recordings(self) -> list[RecordingSummary]:
        """Return the short forms of all recordings, the newest first."""
        with self._lock:
            seen = self._refreshed()
            if seen.summaries is None:
                listed = [
                    msgspec.structs.replace(source.summary(key), source=source.path.name)
                    for key, source in seen.places.items()
                ]
                seen.summaries = ordered(listed, "started", ascending=False)
            return seen.summaries

    def revisions(self) -> Mapping[str, int]:
        """Return a number for each recording, which is new whenever its content is."""
        with self._lock:
            seen = self._refreshed()
            if seen.revisions is None:
                places = seen.places.items()
                seen.revisions = {key: source.revisions[key] for key, source in places}
            return seen.revisions

    def open(self, key: str) -> Opened | None:
        """Return the recording that is addressed by ``key``, if there is one."""
        with self._lock:
            source = self._refreshed().places.get(key)
            if source is None:
                return None
            opened = self._opened.pop(key, None)
            if opened is None or opened.revision != source.revisions[key]:
                recording = source.open(key)
                if recording is None:
                    return None
                summary = msgspec.structs.replace(source.summary(key), source=source.path.name)
                opened = Opened(recording, summary, source.revisions[key])
            self._opened[key] = opened
            if len(self._opened) > _MAX_OPEN:
                del self._opened[next(iter(self._opened))]
            return opened

    def sources(self) -> list[SourceSummary]:
        """Return what is known of each source."""
        with self._lock:
            self._refreshed()
            return [_summary(source) for source in self._sources]

    def _refreshed(self) -> _Seen:
        """Find out what has changed; of a recording that several sources have, the first source counts."""
        for i, source in enumerate(self._sources):
            if is_outdated(source):
                self._sources[i] = source_at(source.path)
                self._opened.clear()
            self._sources[i].refresh()
        state = tuple((id(source), *_state(source)) for source in self._sources)
        if state != self._seen.state:
            last_first = reversed(self._sources)
            places = {key: source for source in last_first for key in source.revisions}
            self._seen = _Seen(state, places)
        return self._seen


@dataclass(slots=True)
class _Seen:
    """Where each recording is, and what was made of that, until something changes."""

    state: tuple[tuple[int, ...], ...] | None = None
    places: dict[str, Source] = field(default_factory=dict)
    summaries: list[RecordingSummary] | None = None
    revisions: dict[str, int] | None = None


def _source(given: Path | Address | Source) -> Source:
    if isinstance(given, Source):
        return given
    return BackendSource(given) if isinstance(given, Address) else source_at(given)


def _state(source: Source) -> tuple[int, int]:
    """Return numbers that are others whenever a recording is added, changed or gone."""
    return len(source.revisions), next(reversed(source.revisions.values()), 0)


def _summary(source: Source) -> SourceSummary:
    if isinstance(source, BackendSource):
        name = str(source.address)
        return SourceSummary(name, name, len(source.revisions), [*source.problems])
    path = source.path
    if isinstance(source, GivenSource):
        return SourceSummary(path.name, "", len(source.revisions), [])
    missing = [] if path.exists() else [f"{path}: does not exist yet; it is waited for"]
    return SourceSummary(path.name, str(path), len(source.revisions), [*missing, *source.problems])


def paths_of(
    source: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | None,
) -> list[Path | Address]:
    """Return the paths that ``source`` names, absolute, and the addresses of tracing backends.

    Where it names none, that of the local file.

    Raises:
        ScalyVizError: one is neither a path nor could become one, nor an address.
    """
    given = [source] if isinstance(source, str | os.PathLike) else source or ()
    return list(dict.fromkeys(map(_path_of, given))) or [recording_path().absolute()]


def _path_of(given: str | os.PathLike[str]) -> Path | Address:
    if is_address(given):
        return parse_address(given)
    if "://" in str(given):
        raise ScalyVizError(
            f"{given}: only files, folders and tracing backends (jaeger:URL, tempo:URL) can be served"
        )
    path = Path(given).expanduser().absolute()
    if not path.parent.is_dir() and path != recording_path().absolute():
        raise ScalyVizError(f"{path}: no such file, and there is no folder {path.parent}")
    return path
