"""Owns how a difference of two steps is shown: on a terminal in colors, in a pipe as a patch."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TypedDict

import click
import msgspec

from scaly_viz.analysis.diff import TextDiff, diff_lines, lines_of
from scaly_viz.analysis.texts import step_before, text_kinds, text_of
from scaly_viz.analysis.unified import Hunk, hunks
from scaly_viz.cli import output
from scaly_viz.cli.characters import visible
from scaly_viz.cli.output import listed
from scaly_viz.cli.step_table import TEXT_KINDS
from scaly_viz.errors import PayloadError, ScalyVizError
from scaly_viz.recording import Recording, Step


class _Style(TypedDict, total=False):
    """How click shows a line."""

    fg: str
    bold: bool


_STYLES: dict[tuple[str, bool], _Style] = {
    ("-", False): {"fg": "red"},
    ("+", False): {"fg": "green"},
    ("-", True): {"fg": "magenta"},
    ("+", True): {"fg": "cyan"},
    (" ", False): {},
}


def compared(
    recording: Recording, step: Step, other: Step | None, kind: str | None
) -> tuple[Step | None, Step, str]:
    """Return the left step, the right one, and the kind of their texts.

    The left one is None where ``step`` has the first text of its kind.

    Raises:
        ScalyVizError: a step has no such text, or they have no kind in common.
    """
    steps = [step] if other is None else [step, other]
    for each in steps:
        if each.placeholder:
            raise ScalyVizError(
                f"step {each.index} is missing from the recording: {recording.problems[0]}"
            )
    common = [k for k in _kinds(steps[0]) if all(k in _kinds(each) for each in steps)]
    if kind is None and not common:
        have = "; ".join(f"{_name(each)} has {listed(_kinds(each)) or 'none'}" for each in steps)
        raise ScalyVizError(f"there is no text to compare: {have}")
    chosen = kind or common[0]
    for each in steps:
        if chosen not in _kinds(each):
            has = listed(_kinds(each)) or "none"
            raise ScalyVizError(f"{_name(each)} has no text {chosen!r}; it has: {has}")
    if other is not None:
        return step, other, chosen
    return step_before(recording, step, chosen), step, chosen


def gap(recording: Recording, left: Step | None, right: Step) -> str:
    """Say that steps between two that are compared are missing; nothing where none is."""
    first = 0 if left is None else left.index
    missing = [s.index for s in recording.steps[first : right.index] if s.placeholder]
    if not missing:
        return ""
    what = "step" if len(missing) == 1 else "steps"
    beside = "nothing" if left is None else _name(left)
    numbers = listed([str(index) for index in missing])
    return f"{what} {numbers} before it cannot be read: compared with {beside}"


def _kinds(step: Step) -> list[str]:
    kinds = [*text_kinds(step)]
    return [k for k in TEXT_KINDS if k in kinds] + [k for k in kinds if k not in TEXT_KINDS]


def _name(step: Step) -> str:
    return f"step {step.index} ({step.name})"


@dataclass(frozen=True)
class DiffView:
    """The difference of the texts of two steps; ``left`` is None where there is none before."""

    recording: Recording
    left: Step | None
    right: Step
    kind: str
    exact: bool
    context: int

    @property
    def is_unchanged(self) -> bool:
        """Whether there is nothing to show."""
        return not self._hunks

    def as_json(self) -> dict[str, object]:
        """Return both sides, the counts, and the chunks as ``docs/api.md`` describes them."""
        sides = (("left", self.left), ("right", self.right))
        names = {
            side: None if step is None else {"step": step.index, "name": step.name}
            for side, step in sides
        }
        counts: dict[str, object] = msgspec.to_builtins(self._diff)
        return {"recording": self.recording.id, "kind": self.kind} | names | counts

    def show(self, *, pager: bool) -> None:
        """Print the unified diff; in a pipe nothing where nothing changed, as ``diff`` does."""
        if not output.is_terminal():
            is_colored = output.must_have_colors()
            for line, style in self._lines():
                output.write(f"{click.style(line, **style) if is_colored else line}\n")
        elif self.is_unchanged:
            output.write(f"{self._nothing()}\n")
        else:
            lines = [(visible(text, "\t"), style) for text, style in self._lines()]
            shown = [click.style(t, **s) for t, s in lines] if output.has_colors() else None
            plain = "\n".join(text for text, _ in lines)
            colored = plain if shown is None else "\n".join(shown)
            output.page(plain, iter([colored]), pager=pager)

    def _nothing(self) -> str:
        but = (
            f" but for {self._diff.renumbered:,} renumbered lines" if self._diff.renumbered else ""
        )
        left = "nothing" if self.left is None else visible(_name(self.left))
        return f"The {self.kind} of {visible(_name(self.right))} is that of {left}{but}."

    def _lines(self) -> Iterator[tuple[str, _Style]]:
        if self.is_unchanged:
            return
        for tag, step in (("---", self.left), ("+++", self.right)):
            # A step's name can hold any character, and a head is one line.
            name = "/dev/null" if step is None else f"{step.index} {visible(step.name)}.{self.kind}"
            yield f"{tag} {name}", {"bold": True}
        for hunk in self._hunks:
            yield hunk.head, {"fg": "blue"}
            for line in hunk.lines:
                yield line.tag + line.text, _STYLES[line.tag, line.moved]

    @cached_property
    def _texts(self) -> tuple[list[str], list[str]]:
        left = [] if self.left is None else self._lines_of(self.left)
        return left, self._lines_of(self.right)

    @cached_property
    def _diff(self) -> TextDiff:
        return diff_lines(*self._texts, "exact" if self.exact else "ignore")

    @cached_property
    def _hunks(self) -> list[Hunk]:
        return [*hunks(*self._texts, self._diff, self.context)]

    def _lines_of(self, step: Step) -> list[str]:
        try:
            text = text_of(self.recording, step, self.kind)
        except PayloadError as error:
            raise ScalyVizError(
                f"{_name(step)}: its {self.kind} cannot be read: {error}"
            ) from error
        lines = lines_of(text)
        return lines[:-1] if lines[-1] == "" else lines
