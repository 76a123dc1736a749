"""Owns snapshots of figures: what a file under version control keeps of a recording, and how they differ.

``__figures__/test_model.json`` beside ``test_model.py`` has one for each recording that a test compares.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

import msgspec

from scaly_viz import attributes as a
from scaly_viz.analysis.figures import (
    FIGURES,
    PEAK_NODES,
    STEPS,
    FigureError,
    Number,
    Reference,
    final_value,
    named_figures,
)
from scaly_viz.analysis.wording import amount, change_in_percent
from scaly_viz.errors import ScalyVizError
from scaly_viz.recording import Recording

FOLDER = "__figures__"
FORMAT = "scaly-viz figures"
VERSION = 1
_WORKED_OUT = (PEAK_NODES, STEPS)
_LEFT_OUT = ("edges",)  # which say nothing that nodes do not


class SnapshotError(ScalyVizError):
    """A file of snapshots that cannot be read or written: which, and why."""


class Snapshot(msgspec.Struct, frozen=True):
    """The figures of one recording, and those of its steps that are not as in the step before."""

    scaly: str
    figures: dict[str, int]
    steps: list[tuple[str, dict[str, int]]]

    def value(self, reference: Reference) -> Number:
        """Return the figure, of the last step of that name; times are not kept.

        Raises:
            FigureError: there is none.
        """
        name = reference.figure.name
        if not reference.step:
            found = self.figures.get(name)
        else:
            names = [step for step, _ in self.steps]
            same = [i for i, each in enumerate(names) if each == reference.step] or [
                i for i, each in enumerate(names) if each.partition(":")[2] == reference.step
            ]
            nth = reference.occurrence or 1
            if len(same) < nth or (len(same) > 1 and not reference.occurrence):
                raise FigureError(f"the snapshot has step {reference.step} {len(same)} times")
            found = self._until(same[nth - 1]).get(name)
        if found is None:
            raise FigureError(f"the snapshot has no {reference}")
        return found

    def _until(self, index: int) -> dict[str, int]:
        """Return what was known of the program with the step at ``index``."""
        known: dict[str, int] = {}
        for _, figures in self.steps[: index + 1]:
            known |= figures
        return known


class Used(msgspec.Struct, frozen=True):
    """What a test did with a snapshot: compared with it, or, where there is one, wants it written."""

    written: Snapshot | None = None


class _File(msgspec.Struct, frozen=True):
    format: str
    version: int
    tests: dict[str, dict[str, Snapshot]]


type Tests = dict[str, dict[str, Snapshot]]


def snapshot_of(recording: Recording) -> Snapshot:
    """Return the figures of ``recording`` that are the same with each render."""
    known: dict[str, int] = {}
    steps = []
    for step in recording.steps:
        figures = {k: v for k, v in named_figures(step).items() if k not in _LEFT_OUT}
        steps.append((step.name, {k: v for k, v in figures.items() if known.get(k) != v}))
        known |= figures
    finals = {
        figure.name: final_value(recording, figure)
        for figure in FIGURES
        if (figure.key and figure.name not in _LEFT_OUT) or figure.name in _WORKED_OUT
    }
    return Snapshot(
        str(recording.head.attributes.get(a.COMPILER_VERSION, "")),
        {name: value for name, value in finals.items() if isinstance(value, int)},
        steps,
    )


def file_for(test_file: Path) -> Path:
    """Return the file of the snapshots of the tests in ``test_file``."""
    return test_file.parent / FOLDER / f"{test_file.stem}.json"


def read(path: Path) -> Tests:
    """Return the snapshots in ``path`` by test and name; none where there is no such file.

    Raises:
        SnapshotError: it cannot be read, or is something else.
    """
    try:
        found = msgspec.json.decode(path.read_bytes(), type=_File)
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise SnapshotError(f"{path}: {error.strerror or error}") from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        advice = "mend it, or delete it and run pytest --scaly-viz-update"
        raise SnapshotError(f"{path}: not a file of snapshots: {error}; {advice}") from error
    if (found.format, found.version) != (FORMAT, VERSION):
        raise SnapshotError(f"{path}: format {found.format!r} {found.version} is not known here")
    return found.tests


def write(path: Path, tests: Tests) -> None:
    """Write the snapshots into ``path``, or delete it where there are none; both at once or not at all.

    Raises:
        SnapshotError: it cannot be written.
    """
    try:
        if not tests:
            path.unlink(missing_ok=True)
            with suppress(OSError):
                path.parent.rmdir()
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(_text(tests))
            Path(name).chmod(0o644)
            Path(name).replace(path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise SnapshotError(f"{path}: cannot be written: {error.strerror or error}") from error


def _text(tests: Tests) -> str:
    """One line a figure and one a step, so that a diff shows what changed."""
    blocks = []
    for test, snapshots in sorted(tests.items()):
        entries = [
            f"      {json.dumps(name)}: {{\n"
            f'        "scaly": {json.dumps(each.scaly)},\n'
            f'        "figures": {{\n{_lines(_figure_lines(each.figures))}\n        }},\n'
            f'        "steps": [\n{_lines(map(json.dumps, each.steps))}\n        ]\n'
            "      }"
            for name, each in sorted(snapshots.items())
        ]
        blocks.append(f"    {json.dumps(test)}: {{\n{',\n'.join(entries)}\n    }}")
    head = f'  "format": {json.dumps(FORMAT)},\n  "version": {VERSION},\n'
    return f'{{\n{head}  "tests": {{\n{",\n".join(blocks)}\n  }}\n}}\n'


def _figure_lines(figures: Mapping[str, int]) -> Iterator[str]:
    return (f"{json.dumps(name)}: {value}" for name, value in figures.items())


def _lines(items: Iterator[str]) -> str:
    return ",\n".join(f"          {item}" for item in items)


def differences(before: Snapshot, after: Snapshot) -> Iterator[str]:
    """Yield, in words, which figures differ, and the first step that does; nothing where all are equal."""
    if (before.figures, before.steps) == (after.figures, after.steps):
        return
    for name in dict.fromkeys((*before.figures, *after.figures)):
        wanted, found = before.figures.get(name), after.figures.get(name)
        if wanted != found:
            yield f"{name}: wanted {_shown(wanted, name)}, found {_shown(found, name)}" + (
                "" if wanted is None or found is None else f" ({change_in_percent(wanted, found)})"
            )
    first = first_difference(before, after)
    if first:
        yield first
    if before.scaly != after.scaly:
        yield f"the snapshot is of scaly {before.scaly}, this is {after.scaly}"


def first_difference(before: Snapshot, after: Snapshot) -> str:
    """Say which step is the first that differs, and in what; nothing where all are the same."""
    for index, (wanted, found) in enumerate(zip(before.steps, after.steps, strict=False)):
        if wanted[0] != found[0]:
            return f"the first step that changed is {index}: {wanted[0]} before, {found[0]} now"
        if wanted[1] != found[1]:
            known, now = before._until(index), after._until(index)
            changed = ", ".join(
                f"{name} {_shown(known.get(name), name)} -> {_shown(now.get(name), name)}"
                for name in dict.fromkeys((*wanted[1], *found[1]))
                if known.get(name) != now.get(name)
            )
            return f"the first step that changed is {index} {found[0]}: {changed}"
    if len(before.steps) != len(after.steps):
        return f"there were {len(before.steps)} steps, now there are {len(after.steps)}"
    return ""


_UNITS = {figure.name: figure.unit for figure in FIGURES}


def _shown(value: int | None, name: str) -> str:
    return "none" if value is None else amount(value, _UNITS.get(name, ""))
