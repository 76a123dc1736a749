"""Owns whether a condition is met: three answers, as a figure that is missing must never pass for fine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from operator import eq, ge, gt, le, lt, ne

from scaly_viz.analysis.condition_text import Check, Combination, Operator
from scaly_viz.analysis.figures import FigureError, Figures, Number, Reference
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


def judge(part: Check | Combination, new: Figures, base: Figures | None) -> Verdict:
    """Say whether ``part`` is met by the figures of ``new``, changes being against ``base``.

    What cannot be told is met only where ``or`` joins it to what is, and is never not met.
    """
    if isinstance(part, Check):
        return _judge_check(part, new, base)
    verdicts = [judge(each, new, base) for each in part.parts]
    answers = [verdict.is_met for verdict in verdicts]
    is_met: bool | None
    if part.how == "or":
        is_met = True if True in answers else None if None in answers else False
    else:
        is_met = None if None in answers else all(answers)
    return Verdict(is_met, tuple(r for v in verdicts if v.is_met is is_met for r in v.reasons))


def _judge_check(check: Check, new: Figures, base: Figures | None) -> Verdict:
    reference, limit = check.reference, check.limit
    try:
        found = new.value(reference)
        before = None if limit.measure == "value" else _base_value(reference, base)
    except FigureError as error:
        return Verdict(None, (f"{check.text}: {error}",))
    measured: Fraction
    if before is None:
        measured = Fraction(found)
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
    return Verdict(is_met, (_reason(check, found, before),))


def _base_value(reference: Reference, base: Figures | None) -> Number:
    if base is None:
        raise FigureError(f"there is nothing that {reference} could be compared with")
    return base.value(reference)


def _reason(check: Check, found: Number, before: Number | None) -> str:
    unit = check.reference.figure.unit
    shown = amount(found, unit)
    if before is None:
        return f"{check.text}: it is {shown}"
    how = change_in_percent(before, found) or "the same"
    return f"{check.text}: {amount(before, unit)} -> {shown} ({how})"
