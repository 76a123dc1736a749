"""Owns how much each step changed each of its texts."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from scaly_viz.analysis.diff import TextDiff, diff_texts, lines_of
from scaly_viz.analysis.texts import previous_step, text_kinds, text_of
from scaly_viz.errors import PayloadError
from scaly_viz.recording import Recording, Step

type Compare = Callable[[tuple[str, str], tuple[str, str]], TextDiff]
"""Returns the difference of two texts, each given as its digest and the text."""


class TextChange(msgspec.Struct, frozen=True):
    """How a text of a step differs from the step before that has another text of the same thing.

    ``against`` is the index of that step, None where there is none: then nothing was added. Lines
    that differ in made-up numbers only are unchanged. ``error`` says why nothing can be told.
    """

    lines: int
    added: int = 0
    removed: int = 0
    moved: int = 0
    against: int | None = None
    error: str | None = None


class StepChanges(msgspec.Struct, frozen=True):
    """The texts of a step by their kinds. A text that equals the one before has changed in nothing."""

    index: int
    texts: dict[str, TextChange]


class Changes(msgspec.Struct, frozen=True):
    """What each step of a recording changed."""

    steps: list[StepChanges]


def _compare(left: tuple[str, str], right: tuple[str, str]) -> TextDiff:
    return diff_texts(left[1], right[1])


def changes_of(recording: Recording, compare: Compare = _compare) -> Changes:
    """Return what each step of ``recording`` changed in its texts."""
    latest: dict[tuple[str, str], str] = {}
    steps = []
    for step in recording.steps:
        if step.placeholder:
            continue
        texts: dict[str, TextChange] = {}
        for kind in text_kinds(step):
            digest = step.payloads[kind].digest
            same = latest.get((step.dialect, kind)) == digest
            latest[step.dialect, kind] = digest
            texts[kind] = _change(recording, step, kind, None if same else compare)
        steps.append(StepChanges(step.index, texts))
    return Changes(steps)


def line_count(text: str) -> int:
    """Return how many lines ``text`` has; a line break at its end begins none."""
    lines = lines_of(text)
    return len(lines) - (lines[-1] == "")


def _change(recording: Recording, step: Step, kind: str, compare: Compare | None) -> TextChange:
    try:
        text = text_of(recording, step, kind)
        earlier = previous_step(recording, step, kind)
        against = earlier.index if earlier is not None else None
        if earlier is None or compare is None:
            return TextChange(line_count(text), against=against)
        before = earlier.payloads[kind].digest, text_of(recording, earlier, kind)
        diff = compare(before, (step.payloads[kind].digest, text))
    except PayloadError as error:
        return TextChange(0, error=str(error))
    return TextChange(line_count(text), diff.added, diff.removed, diff.moved, against)
