"""Owns the report on two sets of recordings: every pair with figures, times and steps, and what has no pair."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatchcase
from typing import Literal

import msgspec

from scaly_viz import attributes as a
from scaly_viz.analysis.compare import ComparedStep, Comparison, compare
from scaly_viz.analysis.condition_text import Condition
from scaly_viz.analysis.conditions import Verdict, judge
from scaly_viz.analysis.figures import (
    DIFFERING_STEPS,
    FIGURES,
    RENDER_TIME,
    Figure,
    FigureError,
    Number,
    RecordingFigures,
    Reference,
    named_figures,
    unfinished_because,
)
from scaly_viz.analysis.matching import Group, MatchedBy, Matching, Pair
from scaly_viz.analysis.render_times import TimeComparison, compare_times
from scaly_viz.analysis.summary import RecordingSummary, uncounted
from scaly_viz.analysis.wording import title
from scaly_viz.recording import Recording

FORMAT = "scaly-viz compare"
VERSION = 1

type Outcome = Literal["met", "not met", "unknown"]
type Open = Callable[[RecordingSummary], Recording]


class ReportedFigure(msgspec.Struct, frozen=True):
    """A figure of both recordings, None where one has none; ``unit`` follows UCUM.

    ``change`` is new less base, ``percent`` that of base, None where it cannot be told. A figure that
    is a ``lower_bound`` leaves out what nobody knows how often it runs.
    """

    name: str
    label: str
    unit: str
    base: Number | None
    new: Number | None
    change: Number | None
    percent: float | None
    lower_bound: bool


class ReportedStep(msgspec.Struct, frozen=True):
    """Steps that correspond by place and name, with their indices; None where one side has no such step.

    ``kinds`` are the texts that differ, ``nodes`` the sizes of the graphs, ``figures`` the named ones
    that both have; each as base and new.
    """

    base: int | None
    new: int | None
    name: str
    same: bool
    kinds: list[str]
    nodes: tuple[int | None, int | None]
    figures: dict[str, tuple[int, int]]


class ReportedPair(msgspec.Struct, frozen=True):
    """Two recordings side by side.

    ``base_recordings`` and ``new_recordings`` are how many there are of this function and label; the
    latest are compared. ``first_diverging`` is a position in ``steps``, None where all are the same.
    ``notes`` say what is to be known of the figures.
    """

    function: str
    name: str
    matched_by: MatchedBy
    base: RecordingSummary
    new: RecordingSummary
    base_recordings: int
    new_recordings: int
    same: bool
    figures: list[ReportedFigure]
    render_time: TimeComparison
    first_diverging: int | None
    steps: list[ReportedStep]
    notes: list[str]


class Unmatched(msgspec.Struct, frozen=True):
    """Recordings of one function and label without a counterpart; all but their number is of the latest."""

    function: str
    name: str
    id: str
    recordings: int
    status: str
    error: str | None


class ReportedCondition(msgspec.Struct, frozen=True):
    """A condition, and whether it is met by any pair; the reasons name the pair."""

    condition: str
    outcome: Outcome
    reasons: list[str]


class Report(msgspec.Struct, frozen=True):
    """The whole comparison; ``base`` and ``new`` are what was asked for.

    ``outcome`` is the worst of the conditions: met, unknown, not met; the last where there are none.
    Without any pair it is unknown.
    """

    format: str
    version: int
    base: str
    new: str
    outcome: Outcome
    conditions: list[ReportedCondition]
    pairs: list[ReportedPair]
    only_base: list[Unmatched]
    only_new: list[Unmatched]


def report(
    asked: tuple[str, str],
    matching: Matching,
    opened: tuple[Open, Open],
    conditions: Sequence[Condition],
    *,
    allow_unmatched: bool = False,
) -> Report:
    """Compare the latest recordings of each pair, and judge ``conditions`` by them.

    ``asked`` and ``opened`` are of BASE and NEW: what they are called, and how their recordings are
    opened. A recording of BASE that has no counterpart leaves conditions on it unknown, unless that
    is allowed.
    """
    pairs: list[ReportedPair] = []
    judged = [_Judged(condition) for condition in conditions]
    for pair in matching.pairs:
        base, new = opened[0](pair.base.latest), opened[1](pair.new.latest)
        compared = compare(base, new)
        times = compare_times(pair.base.durations_s, pair.new.durations_s)
        sides = _figures(base, new, compared, times)
        pairs.append(_reported(pair, sides, compared, times))
        for each in judged:
            each.judge(pair, *sides, times)
    if not allow_unmatched:
        for each in judged:
            each.miss(matching.only_base)
    outcomes = [each.reported() for each in judged]
    return Report(
        FORMAT,
        VERSION,
        *asked,
        _worst([each.outcome for each in outcomes]) if pairs else "unknown",
        outcomes,
        pairs,
        [_unmatched(group) for group in matching.only_base],
        [_unmatched(group) for group in matching.only_new],
    )


def _worst(outcomes: Sequence[Outcome]) -> Outcome:
    order: tuple[Outcome, ...] = ("met", "unknown", "not met")
    return min(outcomes, key=order.index, default="not met")


class _Judged:
    """One condition, and what pairs had to say to it so far."""

    def __init__(self, condition: Condition) -> None:
        self._condition = condition
        self._met: list[str] = []
        self._unknown: list[str] = []
        self._is_about_any = False

    def judge(
        self, pair: Pair, base: RecordingFigures, new: RecordingFigures, times: TimeComparison
    ) -> None:
        if not self._concerns(pair.new.latest):
            return
        self._is_about_any = True
        verdict = judge(self._condition.root, new, base, times)
        unfinished = unfinished_because(new.recording)
        if verdict.is_met is False and unfinished:
            # What a step had says nothing of the render, which has no end.
            verdict = Verdict(None, (f"NEW has no final figures: {unfinished}",))
        if verdict.is_met is not False:
            reasons = self._met if verdict.is_met else self._unknown
            reasons += [f"{_title(pair.new)}: {reason}" for reason in verdict.reasons]

    def miss(self, groups: Sequence[Group]) -> None:
        for group in groups:
            if self._concerns(group.latest):
                self._is_about_any = True
                self._unknown.append(f"{_title(group)}: NEW has no recording of it")

    def reported(self) -> ReportedCondition:
        if not self._is_about_any:
            functions = self._condition.functions
            self._unknown.append(f"no recording is called {functions}" if functions else "no pair")
        outcome: Outcome = "met" if self._met else "unknown" if self._unknown else "not met"
        return ReportedCondition(self._condition.text, outcome, self._met or self._unknown)

    def _concerns(self, recording: RecordingSummary) -> bool:
        glob = self._condition.functions
        names = (recording.function, recording.name)
        return not glob or any(fnmatchcase(name, glob) for name in names)


def _figures(
    base: Recording, new: Recording, compared: Comparison, times: TimeComparison
) -> tuple[RecordingFigures, RecordingFigures]:
    differing = sum(not step.same for step in compared.steps)
    return tuple(  # type: ignore[return-value]  # of two comes two
        RecordingFigures(
            recording,
            {DIFFERING_STEPS: number} | ({} if side is None else {RENDER_TIME: side.median_s}),
        )
        for recording, side, number in ((base, times.base, 0), (new, times.new, differing))
    )


def _reported(
    pair: Pair,
    sides: tuple[RecordingFigures, RecordingFigures],
    compared: Comparison,
    times: TimeComparison,
) -> ReportedPair:
    base, new = (side.recording for side in sides)
    return ReportedPair(
        pair.new.latest.function,
        pair.new.latest.name,
        pair.matched_by,
        pair.base.latest,
        pair.new.latest,
        len(pair.base.recordings),
        len(pair.new.recordings),
        compared.first_diverging is None,
        [_figure(figure, *sides) for figure in FIGURES if figure.name != RENDER_TIME],
        times,
        compared.first_diverging,
        [_step(step, base, new) for step in compared.steps],
        [*_notes(base, new)],
    )


def _figure(figure: Figure, base: RecordingFigures, new: RecordingFigures) -> ReportedFigure:
    reference = Reference(figure)
    before, after = _value(base, reference), _value(new, reference)
    change = None if before is None or after is None else after - before
    percent = 100 * change / before if change is not None and before else None
    bound = any(side.is_lower_bound(reference) for side in (base, new))
    return ReportedFigure(
        figure.name, figure.label, figure.unit, before, after, change, percent, bound
    )


def _value(figures: RecordingFigures, reference: Reference) -> Number | None:
    try:
        return figures.value(reference)
    except FigureError:
        return None


def _step(step: ComparedStep, base: Recording, new: Recording) -> ReportedStep:
    by_index = [{each.index: each for each in side.steps} for side in (base, new)]
    one, other = (
        None if index is None else steps[index]
        for steps, index in zip(by_index, (step.left, step.right), strict=True)
    )
    ours, theirs = (named_figures(each) if each else {} for each in (one, other))
    return ReportedStep(
        step.left,
        step.right,
        step.name,
        step.same,
        step.kinds,
        (ours.get("nodes"), theirs.get("nodes")),
        {name: (value, theirs[name]) for name, value in ours.items() if name in theirs},
    )


def _notes(base: Recording, new: Recording) -> Iterator[str]:
    if base.function != new.function:
        yield f"two functions: BASE is {base.function}, NEW is {new.function}"
    for side, recording in (("BASE", base), ("NEW", new)):
        unfinished = unfinished_because(recording)
        if unfinished:
            yield f"{side} has no final figures: {unfinished}"
    left_out = dict.fromkeys(
        reason
        for recording in (base, new)
        for step in recording.steps
        for reason in uncounted(step)
    )
    if left_out:
        yield f"counts are lower bounds: {'; '.join(left_out)}"
    versions = [str(r.head.attributes.get(a.COMPILER_VERSION, "")) for r in (base, new)]
    if all(versions) and len({*versions}) > 1:
        yield f"rendered by different compilers: scaly {versions[0]} and {versions[1]}"


def _title(group: Group) -> str:
    return title(group.latest.function, group.latest.name)


def _unmatched(group: Group) -> Unmatched:
    latest = group.latest
    count = len(group.recordings)
    return Unmatched(latest.function, latest.name, latest.id, count, latest.status, latest.error)
