"""Owns what the fixture ``scaly_viz`` gives a test: its recordings, and assertions on their figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from scaly_viz.analysis.condition_text import (
    Condition,
    ConditionError,
    parse_condition,
    parse_reference,
)
from scaly_viz.analysis.conditions import judge
from scaly_viz.analysis.figures import FIGURES, FigureError, Number, RecordingFigures, Reference
from scaly_viz.analysis.wording import amount, change_in_percent
from scaly_viz.pytest_plugin.recorder import Recorder, how_to_open, name_in_file
from scaly_viz.pytest_plugin.snapshots import (
    Snapshot,
    Used,
    differences,
    file_for,
    first_difference,
    read,
    snapshot_of,
)
from scaly_viz.recording import Recording

if TYPE_CHECKING:
    from scaly_viz.frontend.scaly_types import Markable


class RecordedRender:
    """One recording of the test."""

    def __init__(self, recording: Recording, item: pytest.Item, recorder: Recorder) -> None:
        self.recording = recording
        """With its steps and texts, as analyses take it."""
        self._item = item
        self._recorder = recorder
        self._figures = RecordingFigures(recording)

    def __repr__(self) -> str:
        """Return what identifies it."""
        return f"<recording {self.id[:16]} of {self.function}>"

    @property
    def id(self) -> str:
        """Its id, which names it for ``scaly-viz show``."""
        return self.recording.id

    @property
    def function(self) -> str:
        """Name of the rendered function."""
        return self.recording.function

    @property
    def error(self) -> str | None:
        """Why the render failed, None where it did not."""
        return self.recording.error

    @property
    def path(self) -> Path:
        """The file that it is in."""
        return self._recorder.path

    @property
    def figures(self) -> dict[str, Number]:
        """All figures of the whole recording that it has, by name."""
        found = {}
        for figure in FIGURES:
            try:
                found[figure.name] = self._figures.value(Reference(figure))
            except FigureError:
                continue
        return found

    def figure(self, name: str) -> Number:
        """Return one figure: ``flops``, or with a step ``nodes@lowered``.

        Raises:
            FigureError: the recording has none.
            ConditionError: there is no figure of that name.
        """
        return self._figures.value(parse_reference(name))

    def assert_figures(self, /, *conditions: str, **figures: object) -> None:
        """Assert that all ``conditions`` hold, and that the named figures are what is given.

        A condition is written as for ``scaly-viz compare``: ``code_bytes <= 12_000``; a change is one
        from the snapshot, as ``flops <= +5%``. A figure may be given as a number, as anything that
        compares with one (``pytest.approx``), or as the rest of a condition: ``flops="<= 90k"``.

        Raises:
            AssertionError: something is otherwise, or the recording has no such figure. The message has
                each figure, what was wanted, what was found, and the step that changed it.
            ConditionError: a condition cannot be understood, or a figure is none.
            TypeError: a condition is no string, or nothing is asserted.
        """
        __tracebackhide__ = True
        _check_asserted(conditions, figures)
        texts = [f"{name} {value}" for name, value in figures.items() if isinstance(value, str)]
        try:
            wanted = [_condition(text) for text in (*conditions, *texts)]
            exact = {
                parse_reference(name): value
                for name, value in figures.items()
                if not isinstance(value, str)
            }
        except ConditionError as error:
            raise error.with_traceback(None) from None  # how it was read tells a test nothing
        before = self._snapshot_for(wanted)
        lines: list[str] = []
        for condition in wanted:
            lines += self._unmet(condition, before)
        for reference, value in exact.items():
            lines += self._unequal(reference, value)
        if lines:
            raise AssertionError(self._message(lines, before))

    def assert_snapshot(self, name: str | None = None) -> None:
        """Assert that all figures, those of every step too, are as in the snapshot.

        It is called ``name``, else as the function, and in the file ``__figures__/TEST_FILE.json``, which
        ``pytest --scaly-viz-update`` writes. Render times are not in it.

        Raises:
            AssertionError: something is otherwise, or there is no such snapshot.
            SnapshotError: the file cannot be read.
            TypeError: ``name`` is no string.
            ValueError: ``name`` is a condition, which is for ``assert_figures``.
        """
        __tracebackhide__ = True
        if not isinstance(name, str | None):
            raise TypeError(f"expected a name of type str, or None, got {type(name).__name__}")
        if name and _is_condition(name):
            raise ValueError(f"{name!r} is a condition: assert_figures({name!r})")
        key = name or self.function
        found = snapshot_of(self.recording)
        if self.error is not None:
            raise AssertionError(self._message([f"it has no final figures: {self.error}"], None))
        wanted = self._snapshot(key)
        self._recorder.note(key, Used(found if self._is_updated else None))
        if self._is_updated:
            return
        if wanted is None:
            raise AssertionError(self._message([self._no_snapshot(key)], None))
        if lines := [*differences(wanted, found)]:
            advice = "where that is as it should be: pytest --scaly-viz-update"
            raise AssertionError(self._message([*lines, advice], None))

    @property
    def _is_updated(self) -> bool:
        return bool(self._item.config.option.scaly_viz_update)

    def _snapshot_for(self, conditions: list[Condition]) -> Snapshot | None:
        """Return the snapshot that changes are measured against, if any condition is about one."""
        if not any(condition.needs_base for condition in conditions):
            return self._snapshot(self.function)
        written = snapshot_of(self.recording) if self._is_updated and not self.error else None
        self._recorder.note(self.function, Used(written))
        return self._snapshot(self.function)

    def _snapshot(self, key: str) -> Snapshot | None:
        return read(file_for(self._item.path)).get(name_in_file(self._item), {}).get(key)

    def _no_snapshot(self, key: str) -> str:
        file = file_for(self._item.path)
        shown = file.relative_to(self._item.config.rootpath, walk_up=True)
        return f"{shown} has no snapshot {key!r} of this test: pytest --scaly-viz-update writes it"

    def _unmet(self, condition: Condition, before: Snapshot | None) -> Iterator[str]:
        if condition.needs_base and self._is_updated:
            # Nothing has changed from a snapshot that is just written; it may lack what is wanted for good.
            verdict = judge(condition.root, self._figures, snapshot_of(self.recording))
            yield from (f"wanted {reason}" for reason in verdict.reasons if verdict.is_met is None)
            return
        if condition.needs_base and before is None:
            yield f"{condition.text}: {self._no_snapshot(self.function)}"
            return
        verdict = judge(condition.root, self._figures, before)
        if verdict.is_met:
            return
        for reason in verdict.reasons:
            yield f"wanted {reason}"
        for reference in dict.fromkeys(check.reference for check in condition.checks()):
            yield from self._story(reference)

    def _unequal(self, reference: Reference, wanted: object) -> Iterator[str]:
        try:
            found = self._figures.value(reference)
        except FigureError as error:
            yield f"{reference}: wanted {wanted!r}, but {error}"
            return
        if found != wanted:
            unit = reference.figure.unit
            shown, change = repr(wanted), ""
            if isinstance(wanted, int | float):
                shown, change = amount(wanted, unit), f" ({change_in_percent(wanted, found)})"
            yield f"{reference}: wanted {shown}, found {amount(found, unit)}{change}"
            yield from self._story(reference)

    def _story(self, reference: Reference) -> Iterator[str]:
        """Yield which steps gave a figure its value, the last ones."""
        if reference.step or not reference.figure.key:
            return
        value = None
        changes = []
        for step in self.recording.steps:
            now = step.figure(reference.figure.key)
            if now is not None and now != value:
                changes.append(f"{now:,} since step {step.index} ({step.name})")
                value = now
        if changes:
            yield f"    {reference}: {', '.join(changes[-3:])}"

    def _message(self, lines: list[str], before: Snapshot | None) -> str:
        head = f"figures of {self.function} ({self._item.nodeid})"
        first = "" if before is None else first_difference(before, snapshot_of(self.recording))
        told = [*lines, f"against the snapshot, {first}"] if first else lines
        body = "\n".join(f"  {line}" for line in told)
        return f"{head}\n{body}\n  {how_to_open(self.recording, self.path)}"


class ScalyViz:
    """What scaly renders in a test, oldest first."""

    def __init__(self, item: pytest.Item, recorder: Recorder) -> None:
        self._item = item
        self._recorder = recorder

    @property
    def recordings(self) -> list[RecordedRender]:
        """The recordings of this test so far, in the order of their ends."""
        return [
            RecordedRender(recording, self._item, self._recorder)
            for recording in self._recorder.recordings()
        ]

    @property
    def recording(self) -> RecordedRender:
        """The newest one.

        Raises:
            AssertionError: nothing was rendered in this test.
        """
        return self._newest(self.recordings, "")

    def __getitem__(self, function: str) -> RecordedRender:
        """Return the newest recording of the function of this name.

        Raises:
            AssertionError: it was not rendered in this test.
        """
        found = [each for each in self.recordings if each.function == function]
        return self._newest(found, f" {function}")

    def render(self, function: Markable) -> RecordedRender:
        """Render the C of ``function``, or of a solver's function, and return the recording.

        A function that was compiled before is not compiled again by a call; this renders it anew.

        Raises:
            TypeError: ``function`` is no function of scaly.
        """
        from scaly_viz.frontend.rendering import render

        render(function)
        return self.recording

    def _newest(self, found: list[RecordedRender], what: str) -> RecordedRender:
        if not found:
            others = ", ".join(dict.fromkeys(each.function for each in self.recordings))
            raise AssertionError(
                f"scaly rendered nothing{what and f' called{what}'} in {self._item.nodeid}"
                + (f", but {others}" if others else "")
                + "; what was compiled before is not compiled again: scaly_viz.render(function)"
            )
        return found[-1]


def _check_asserted(conditions: Sequence[object], figures: Mapping[str, object]) -> None:
    """Raise where a test that looks as if it asserted something does not."""
    __tracebackhide__ = True
    if not conditions and not figures:
        raise TypeError("assert_figures() asserts nothing: give it a condition or a figure")
    for given in conditions:
        if not isinstance(given, str):
            what = type(given).__name__
            raise TypeError(f"expected conditions of type str, got {what}: {given!r}")


def _condition(text: str) -> Condition:
    condition = parse_condition(text)
    if condition.functions:
        raise ConditionError(f"{text!r}: a recording is given, no function can be")
    return condition


def _is_condition(text: str) -> bool:
    try:
        parse_condition(text)
    except ConditionError:
        return False
    return True
