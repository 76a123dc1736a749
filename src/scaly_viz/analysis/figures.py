"""Owns the figures that go by a name: what each means, and what it is in a recording or in one step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Protocol

from scaly_viz import attributes as a
from scaly_viz.errors import ScalyVizError
from scaly_viz.recording import Recording, Step

type Number = int | float


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure. ``key`` is the attribute that it is read from, empty where it is worked out.

    ``unit`` follows UCUM. ``is_weighted`` tells that loops count as often as they run; where that is
    not known, the figure is a lower bound.
    """

    name: str
    label: str
    unit: str
    meaning: str
    key: str = ""
    is_weighted: bool = False


NODES = "nodes"
PEAK_NODES = "peak_nodes"
STEPS = "steps"
RENDER_TIME = "render_time"
DIFFERING_STEPS = "differing_steps"

FIGURES = (
    Figure("code_bytes", "C source, bytes", "By", "Size of the generated C.", a.CODE_BYTES),
    Figure("code_lines", "C source, lines", "{line}", "Lines of the generated C.", a.CODE_LINES),
    Figure("flops", "Flops", "{flop}", "Floating-point operations in one run.", a.FLOPS, True),
    Figure("memory_traffic", "Memory traffic", "By", "Bytes moved in one run.", a.TRAFFIC, True),
    Figure("loads", "Loads", "{load}", "Scalar loads in one run.", a.LOADS, True),
    Figure("stores", "Stores", "{store}", "Scalar stores in one run.", a.STORES, True),
    Figure("calls", "Calls", "{call}", "Procedure calls in one run.", a.CALLS, True),
    Figure("flop_sites", "Flops in the text", "{flop}", "Each place once.", a.FLOP_SITES),
    Figure("load_sites", "Loads in the text", "{load}", "Each place once.", a.LOAD_SITES),
    Figure("store_sites", "Stores in the text", "{store}", "Each place once.", a.STORE_SITES),
    Figure("call_sites", "Calls in the text", "{call}", "Each place once.", a.CALL_SITES),
    Figure("loops", "Loops", "{loop}", "Loops in the text, each place once.", a.LOOPS),
    Figure("buffers", "Buffers", "{buffer}", "Buffers, parameters included.", a.BUFFERS),
    Figure("workspace_bytes", "Workspace", "By", "Size of the caller's `w[]`.", a.WORKSPACE_BYTES),
    Figure("private_bytes", "Local buffers", "By", "Bytes outside of `w[]`.", a.PRIVATE_BYTES),
    Figure(NODES, "Nodes at the end", "{node}", "Size of the last graph.", a.GRAPH_NODES),
    Figure("edges", "Edges at the end", "{edge}", "Argument edges of it.", a.GRAPH_EDGES),
    Figure(PEAK_NODES, "Nodes at most", "{node}", "Size of the largest graph of a step."),
    Figure(STEPS, "Steps", "{step}", "How many steps there are."),
    Figure(
        DIFFERING_STEPS, "Differing steps", "{step}", "Steps whose texts are not those of BASE."
    ),
    Figure(RENDER_TIME, "Render time", "s", "Wall time; of several recordings the median."),
)
BY_NAME: Mapping[str, Figure] = {figure.name: figure for figure in FIGURES}
_BY_KEY = {figure.key: figure for figure in FIGURES if figure.key}


class FigureError(ScalyVizError):
    """A figure that a recording does not have; the text says which, where, and why if that is known."""


@dataclass(frozen=True, slots=True)
class Reference:
    """A figure of a recording or, with ``step``, of one of its steps.

    ``occurrence`` tells steps of one name apart, from 1; 0 where there is only one.
    """

    figure: Figure
    step: str = ""
    occurrence: int = 0

    def __str__(self) -> str:
        """Return it as a condition has it."""
        if not self.step:
            return self.figure.name
        nth = f"#{self.occurrence}" if self.occurrence else ""
        return f"{self.figure.name}@{self.step}{nth}"


class Figures(Protocol):
    """Whatever has figures: a recording, or what is remembered of one."""

    def value(self, reference: Reference) -> Number:
        """Return the figure.

        Raises:
            FigureError: there is none.
        """


@dataclass(frozen=True, slots=True)
class RecordingFigures:
    """The figures of ``recording``.

    Those in ``given`` are not its own alone: the median of several render times, steps that differ.
    """

    recording: Recording
    given: Mapping[str, Number] = field(default_factory=dict)

    def value(self, reference: Reference) -> Number:
        """Return the figure; without a step, that of the last one that has it.

        Raises:
            FigureError: there is none, or the render did not end well: then nothing is final.
        """
        if reference.step:
            found = self._of_step(reference)
            where = f"step {reference.step}"
        else:
            unfinished = unfinished_because(self.recording)
            if unfinished:
                raise FigureError(f"{self.recording.name} has no {reference}: {unfinished}")
            found = self.given.get(reference.figure.name)
            if found is None:
                found = final_value(self.recording, reference.figure)
            where = self.recording.name
        if found is None:
            raise FigureError(f"{where} has no {reference.figure.name}")
        return found

    def is_lower_bound(self, reference: Reference) -> bool:
        """Tell whether a weighted figure leaves out what nobody knows how often it runs."""
        if not reference.figure.is_weighted:
            return False
        if reference.step:
            return bool(self._step(reference).attributes.get(a.UNCOUNTED))
        step = _last_with(self.recording, reference.figure)
        return step is not None and bool(step.attributes.get(a.UNCOUNTED))

    def _of_step(self, reference: Reference) -> Number | None:
        step = self._step(reference)
        if reference.figure.name == RENDER_TIME:
            return step.duration_s or None
        return step.figure(reference.figure.key) if reference.figure.key else None

    def _step(self, reference: Reference) -> Step:
        named = [*steps_named(self.recording, reference.step)]
        if not named:
            known = dict.fromkeys(step.name for step in self.recording.steps)
            bare = [name.partition(":")[2] for name in known if ":" in name]
            close = get_close_matches(reference.step, [*known, *bare], 1)
            hint = f"; did you mean {close[0]}?" if close else ""
            raise FigureError(f"{self.recording.name} has no step {reference.step}{hint}")
        if reference.occurrence > len(named):
            times = "once" if len(named) == 1 else f"{len(named)} times"
            raise FigureError(f"{self.recording.name} has step {reference.step} only {times}")
        if len(named) > 1 and not reference.occurrence:
            raise FigureError(
                f"{self.recording.name} has step {reference.step} {len(named)} times:"
                f" write {reference}#1 to #{len(named)}"
            )
        return named[max(reference.occurrence, 1) - 1]


def steps_named(recording: Recording, name: str) -> Iterator[Step]:
    """Yield the steps of this name, else the passes of this bare name (``fuse_ranges``)."""
    steps = [step for step in recording.steps if not step.placeholder]
    exact = [step for step in steps if step.name == name]
    yield from exact or (step for step in steps if step.name.partition(":")[2] == name)


def unfinished_because(recording: Recording) -> str:
    """Say why the figures at the end of ``recording`` are not those of a whole render; empty if they are."""
    if recording.status == "failed":
        return f"failed: {recording.error}"
    return recording.error or ""  # which an incomplete one begins with that word


def final_value(recording: Recording, figure: Figure) -> Number | None:
    """Return ``figure`` of the last step that has it, None where none has."""
    match figure.name:
        case "steps":
            return sum(not step.placeholder for step in recording.steps)
        case "render_time":
            return recording.duration_s or None  # scaly.viz keeps no times
        case "peak_nodes":
            nodes = (step.figure(a.GRAPH_NODES) for step in recording.steps)
            return max((number for number in nodes if number is not None), default=None)
    step = _last_with(recording, figure)
    return None if step is None else step.figure(figure.key)


def named_figures(step: Step) -> dict[str, int]:
    """Return the figures of ``step`` that have a name here."""
    found = ((figure.name, step.figure(key)) for key, figure in _BY_KEY.items())
    return {name: value for name, value in found if value is not None}


def _last_with(recording: Recording, figure: Figure) -> Step | None:
    if not figure.key:
        return None
    has = (step for step in reversed(recording.steps) if step.figure(figure.key) is not None)
    return next(has, None)
