"""Owns whether a condition is met: three answers, as a figure that is missing must never pass for fine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from operator import eq, ge, gt, le, lt, ne

from scaly_viz.analysis.condition_text import Check, Combination, Operator
from scaly_viz.analysis.figures import RENDER_TIME, FigureError, Figures, Number, Reference
from scaly_viz.analysis.render_times import ENOUGH, TimeComparison
from scaly_viz.analysis.wording import amount, change_in_percent

_OPERATIONS: Mapping[Operator, Callable[[Fraction, Fraction], bool]] = {
    "<": lt,
    "<=": le,
    ">": gt,
    ">=": ge,
    "==": eq,
    "!=": ne,
}


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a condition is met, None where that cannot be told, and why in words, a line each."""

    is_met: bool | None
    reasons: tuple[str, ...] = ()


def judge(
    part: Check | Combination,
    new: Figures,
    base: Figures | None,
    times: TimeComparison | None = None,
) -> Verdict:
    """Say whether ``part`` is met by the figures of ``new``, changes being against ``base``.

    What cannot be told is met only where ``or`` joins it to what is, and is never not met. ``times``
    tell what a change of the render time is worth: within the noise it is none, and of too few
    recordings nothing can be told.
    """
    if isinstance(part, Check):
        return _judge_check(part, new, base, times)
    verdicts = [judge(each, new, base, times) for each in part.parts]
    answers = [verdict.is_met for verdict in verdicts]
    is_met: bool | None
    if part.how == "or":
        is_met = True if True in answers else None if None in answers else False
    else:
        is_met = None if None in answers else all(answers)
    return Verdict(is_met, tuple(r for v in verdicts if v.is_met is is_met for r in v.reasons))


def _judge_check(
    check: Check, new: Figures, base: Figures | None, times: TimeComparison | None
) -> Verdict:
    reference, limit = check.reference, check.limit
    try:
        found = new.value(reference)
        before = None if limit.measure == "value" else _base_value(reference, base)
        is_noise = before is not None and _is_noise(reference, times)
    except FigureError as error:
        return Verdict(None, (f"{check.text}: {error}",))
    measured: Fraction
    if before is None:
        measured = Fraction(found)
    elif is_noise:
        measured = Fraction(1 if limit.measure == "ratio" else 0)
    elif limit.measure == "change":
        measured = Fraction(found) - Fraction(before)
    elif before == 0:
        if found != 0:
            # Infinitely more, and no number says so.
            answer = check.operator in (">", ">=", "!=")
            return Verdict(answer, (_reason(check, found, before),))
        measured = Fraction(0 if limit.measure == "percent" else 1)
    else:
        ratio = Fraction(found) / Fraction(before)
        measured = (ratio - 1) * 100 if limit.measure == "percent" else ratio
    is_met = _OPERATIONS[check.operator](measured, limit.number)
    return Verdict(is_met, (_reason(check, found, before, "within the noise" if is_noise else ""),))


def _base_value(reference: Reference, base: Figures | None) -> Number:
    if base is None:
        raise FigureError(f"there is nothing that {reference} could be compared with")
    return base.value(reference)


def _is_noise(reference: Reference, times: TimeComparison | None) -> bool:
    """Tell whether a change of the figure is within the noise.

    Raises:
        FigureError: there are too few recordings to tell.
    """
    if reference.figure.name != RENDER_TIME or reference.step or times is None:
        return False
    if times.verdict == "unknown":
        counts = (0 if side is None else side.recordings for side in (times.base, times.new))
        raise FigureError(
            "too few recordings to tell a change from noise: {} in BASE and {} in NEW;"
            " {} on each side are enough".format(*counts, ENOUGH)
        )
    return times.verdict == "within the noise"


def _reason(check: Check, found: Number, before: Number | None, how: str = "") -> str:
    unit = check.reference.figure.unit
    shown = amount(found, unit)
    if before is None:
        return f"{check.text}: it is {shown}"
    how = how or change_in_percent(before, found) or "the same"
    return f"{check.text}: {amount(before, unit)} -> {shown} ({how})"
