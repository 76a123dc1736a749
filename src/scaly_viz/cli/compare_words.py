"""Owns the sentences of a comparison that every form of it has."""

from __future__ import annotations

from collections.abc import Callable

from scaly_viz.analysis.render_times import RenderTimes, TimeComparison
from scaly_viz.analysis.report import (
    Report,
    ReportedCondition,
    ReportedFigure,
    ReportedPair,
    Unmatched,
)
from scaly_viz.analysis.summary import RecordingSummary
from scaly_viz.analysis.wording import duration, title
from scaly_viz.cli.output import listed

_WORDS = {"met": "failed", "unknown": "cannot be judged", "not met": "passed"}


def compared_of(figure: ReportedFigure, form: Callable[[float, float, str], str]) -> str:
    """Return ``form`` of both values and the unit; nothing where one is missing."""
    if figure.base is None or figure.new is None:
        return ""
    return form(figure.base, figure.new, figure.unit)


def render_time(times: TimeComparison) -> str:
    """Return the ratio of render times, and what it is worth."""
    if times.base is None or times.new is None or times.ratio is None:
        return "not known"
    said = {
        "slower": "slower, beyond the noise",
        "faster": "faster, beyond the noise",
        "within the noise": "within the noise",
        "unknown": "too few recordings to tell it from noise",
    }[times.verdict]
    return f"{times.ratio:.2f}x, {said}: {_times(times.base)} -> {_times(times.new)}"


def _times(times: RenderTimes) -> str:
    if times.recordings == 1:
        return f"{duration(times.median_s)} (1 recording)"
    spread = f"{duration(times.min_s)} to {duration(times.max_s)}"
    return f"{duration(times.median_s)} (median of {times.recordings:,}, {spread})"


def divergence(pair: ReportedPair) -> str:
    """Say where the recordings part."""
    if pair.first_diverging is None:
        return f"all {len(pair.steps):,} steps are the same"
    step = pair.steps[pair.first_diverging]
    if step.base is None:
        how = "only NEW has it"
    elif step.new is None:
        how = "only BASE has it"
    else:
        how = ", ".join(step.kinds)
    differing = sum(not each.same for each in pair.steps)
    index = step.base if step.new is None else step.new
    return f"{differing:,} of {len(pair.steps):,} steps differ, first {index} {step.name} ({how})"


def broken(report: Report) -> list[str]:
    """Return a line for each recording in NEW that did not end well, be it one of a pair or not."""
    paired = [_broken(pair, pair.new, pair.base.status) for pair in report.pairs]
    return [*filter(None, (*paired, *(_broken(each, each) for each in report.only_new)))]


def _broken(
    named: ReportedPair | Unmatched, new: RecordingSummary | Unmatched, before: str = ""
) -> str:
    called = title(named.function, named.name)
    if new.status == "failed":
        where = "in NEW as in BASE" if before == "failed" else "in NEW"
        return f"the render of {called} failed {where}: {new.error}"
    return "" if new.status == "ok" else f"the recording of {called} in NEW is {new.error}"


def nothing(report: Report) -> str:
    """Say that there is no pair, and what there is."""
    sides = ((report.only_base, "BASE"), (report.only_new, "NEW"))
    there_is = ", ".join(
        f"{listed([title(g.function, g.name) for g in groups], 5) or 'no recording'} in {side}"
        for groups, side in sides
    )
    return f"nothing to compare: {there_is}"


def lines_on(condition: ReportedCondition) -> list[str]:
    """Return how ``condition`` ended: a line for each reason, else one."""
    word = _WORDS[condition.outcome]
    return [f"{word}: {reason}" for reason in condition.reasons or (condition.condition,)]
