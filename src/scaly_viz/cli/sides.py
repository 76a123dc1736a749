"""Owns what BASE and NEW of a comparison stand for: all recordings somewhere, or a chosen one."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from scaly_viz import settings
from scaly_viz.analysis.report import Open
from scaly_viz.analysis.summary import RecordingSummary, summarize
from scaly_viz.cli import reading
from scaly_viz.cli.selection import select_recording, split_place
from scaly_viz.errors import ScalyVizError
from scaly_viz.recording import Recording
from scaly_viz.sources.address import is_address, parse_address

# What ends so was meant as a file, and no recording is called like it.
_ENDINGS = (".jsonl", ".json", ".gz", ".zst")


@dataclass(frozen=True, slots=True)
class Side:
    """One side: its recordings, oldest first and at least one, and how one of them is opened.

    ``is_chosen`` where a recording was named, and not all of a place are meant.
    """

    asked: str
    recordings: Sequence[RecordingSummary]
    open: Open
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class _Place:
    """All recordings at a place."""

    recordings: Sequence[RecordingSummary]
    open: Open


class Sides:
    """Finds sides; a file that both stand for is read once."""

    def __init__(self, path: str | None, *, strict: bool) -> None:
        self._path = path
        self._strict = strict
        self._places: dict[str | None, _Place] = {}

    def find(self, asked: str) -> Side:
        """Return what ``asked`` stands for.

        That is, in this order: the address of a backend, with ``#ID`` one of its recordings; a file or
        folder; ``PATH#RECORDING``; a recording of ``path``, as "scaly-viz show" understands it, with or
        without ``#`` before it.

        Raises:
            ScalyVizError: there is no such thing, it has no recordings, or cannot be read.
        """
        if is_address(asked):
            return self._in_backend(asked)
        if asked and os.path.lexists(Path(asked).expanduser()):
            return self._side(asked, asked, None)
        if place := split_place(asked):
            return self._side(asked, *place)
        if asked.startswith("#") and asked != "#":
            return self._side(asked, self._path, asked[1:])
        path = asked.partition("#")[0]
        if os.sep in path or path.endswith(_ENDINGS):
            reading.of_recordings(path)
        try:
            return self._side(asked, self._path, asked)
        except ScalyVizError as error:
            raise ScalyVizError(f"there is no file {asked!r}, and {error}") from error

    def _in_backend(self, asked: str) -> Side:
        address, _, word = asked.partition("#")
        shown = str(parse_address(asked))  # without a password
        if not word:
            return self._side(shown, address, None)
        recording = reading.choose(address, word, strict=self._strict)
        if recording is None:
            raise ScalyVizError(reading.nothing_there(address).splitlines()[0])
        summary = summarize(recording)
        return Side(f"{shown}#{word}", [summary], lambda _: recording, is_chosen=True)

    def _side(self, asked: str, path: str | None, word: str | None) -> Side:
        if path not in self._places:
            self._places[path] = self._read(path)
        place = self._places[path]
        if not place.recordings and path is None:
            raise ScalyVizError(f"there are no recordings yet in {settings.recording_path()}")
        if not place.recordings:
            raise ScalyVizError(reading.nothing_there(path).splitlines()[0])
        if word is None:
            return Side(asked, place.recordings, place.open, is_chosen=False)
        chosen = select_recording(place.recordings, word)
        return Side(asked, [chosen], place.open, is_chosen=True)

    def _read(self, path: str | None) -> _Place:
        if path is not None and is_address(path):
            from scaly_viz.cli import backend

            return _Place(*backend.listed(path, strict=self._strict))
        recordings = reading.read(path, strict=self._strict)
        by_id = {recording.id: recording for recording in recordings}
        return _Place([*map(summarize, recordings)], _opener(by_id))


def only(side: Side, functions: str) -> Side:
    """Return ``side`` with the recordings of functions that match the glob ``functions``."""
    kept = [each for each in side.recordings if fnmatchcase(each.function, functions)]
    return Side(side.asked, kept, side.open, side.is_chosen)


def facing(side: Side, other: Side) -> Side:
    """Return of ``side`` what may be compared with ``other``: of a chosen one's function, if that is chosen."""
    if side.is_chosen or not other.is_chosen or not other.recordings:
        return side
    function, name = other.recordings[0].function, other.recordings[0].name
    kept = [each for each in side.recordings if each.function == function]
    same = [each for each in kept if each.name == name]
    return Side(side.asked, same or kept, side.open, side.is_chosen)


def _opener(by_id: Mapping[str, Recording]) -> Open:
    return lambda summary: by_id[summary.id]
