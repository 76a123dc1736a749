"""Owns what ``scaly-viz import`` does: where to, from which files, and what came of it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from scaly_viz import settings
from scaly_viz.cli import output, reading
from scaly_viz.cli.characters import visible
from scaly_viz.cli.quantities import plural
from scaly_viz.errors import ScalyVizError
from scaly_viz.imports import recognition
from scaly_viz.imports.arrivals import Arrival, RecordingFile
from scaly_viz.imports.readers import lines_in
from scaly_viz.sources.lines import Report


def place(path: str | None) -> Path:
    """Return the recording file that ``--recording-path`` names.

    Raises:
        ScalyVizError: lines cannot be appended to it.
    """
    if path is None:
        return settings.recording_path()
    found = Path(path).expanduser()
    if found.is_dir() or path.endswith(("/", os.sep)):
        found /= settings.FILE_NAME
    if found.suffix in (".gz", ".zst"):
        raise ScalyVizError(f"{path}: compressed files cannot be appended to")
    if found.exists() and recognition.kind_of(found) not in (recognition.OTLP, None):
        raise ScalyVizError(f"{path}: is no file of OTLP JSON lines, which recordings are kept in")
    return found


@dataclass(frozen=True, slots=True)
class Arrived:
    """One recording of one file."""

    file: Path
    arrival: Arrival

    @property
    def state(self) -> str:
        """What became of it: ``imported``, ``completed``, or ``present``, which it was already."""
        if not self.arrival.added:
            return "present"
        return "completed" if self.arrival.present else "imported"

    def as_json(self) -> dict[str, object]:
        """Return it for a program."""
        return {
            "file": str(self.file),
            "id": self.arrival.id,
            "name": self.arrival.name,
            "state": self.state,
            "spans": self.arrival.added,
        }

    def in_words(self) -> str:
        """Return it for a person."""
        spans = plural(self.arrival.added, "span")
        words = {
            "imported": f"imported, {spans}",
            "completed": f"completed, {spans} added",
            "present": "is there already",
        }
        if self.arrival.other:
            words["present"] += ", with spans of other ids, and was left as it is"
        return visible(f"{self.arrival.name} ({self.arrival.id[:8]}): {words[self.state]}")


@dataclass(frozen=True, slots=True)
class Imported:
    """What became of all files; ``problems`` are of those that could not be read."""

    arrived: list[Arrived]
    problems: list[str]
    files: int

    def fail_if_unreadable(self) -> None:
        """Raise where there was a file that has no recordings.

        Raises:
            ScalyVizError: there was.
        """
        if self.problems and self.files == 1:
            raise ScalyVizError(self.problems[0])
        for problem in self.problems:
            output.warn(problem)
        if self.problems:
            count = len(self.problems)
            raise ScalyVizError(f"nothing came from {count:,} of {self.files:,} files")


def run(target: Path, files: Sequence[str], report: Report) -> Imported:
    """Import ``files`` into ``target``, one after the other; the others too where one cannot be read.

    Raises:
        OSError: ``target`` cannot be written.
    """
    recordings = RecordingFile(target, report)
    imported = Imported([], [], len(files))
    for given in files:
        try:
            file = reading.existing(given)
            arrivals = recordings.add(lines_in(file, report))
        except ScalyVizError as error:
            imported.problems.append(str(error))
            continue
        imported.arrived.extend(Arrived(file, arrival) for arrival in arrivals)
        if not arrivals:
            imported.problems.append(f"{file}: there are no recordings in it")
    return imported
