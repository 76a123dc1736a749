"""Owns whether one render took longer than another, as far as so many measurements can tell."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from math import comb
from statistics import median
from typing import Literal

import msgspec

type Verdict = Literal["slower", "faster", "within the noise", "unknown"]

# How likely two ranges may lie apart by chance alone before that counts for anything.
_CHANCE = 0.05
# With so many recordings on each side, ranges that lie apart always count.
ENOUGH = next(n for n in count(1) if 2 / comb(2 * n, n) <= _CHANCE)


class RenderTimes(msgspec.Struct, frozen=True):
    """Wall times, in seconds, of the renders of one function that ended well."""

    recordings: int
    median_s: float
    min_s: float
    max_s: float


class TimeComparison(msgspec.Struct, frozen=True):
    """Render times of both sides; None where none are known. ``ratio`` is new to base, of the medians.

    ``within the noise``: the ranges overlap. ``unknown``: they do not, but with so few recordings that
    may be chance, or one side has no times.
    """

    base: RenderTimes | None
    new: RenderTimes | None
    ratio: float | None
    verdict: Verdict


def compare_times(base_s: Sequence[float], new_s: Sequence[float]) -> TimeComparison:
    """Compare durations of renders, in seconds, in any order.

    Of two samples of one distribution, the probability that all of one lie beyond all of the other is
    2 / binomial(n + m, n): the extreme case of the rank-sum test (Mann and Whitney, 1947).
    """
    base, new = _times(base_s), _times(new_s)
    if base is None or new is None:
        return TimeComparison(base, new, None, "unknown")
    ratio = new.median_s / base.median_s
    verdict: Verdict = "unknown"
    if new.min_s <= base.max_s and base.min_s <= new.max_s:
        verdict = "within the noise"
    elif 2 / comb(base.recordings + new.recordings, new.recordings) <= _CHANCE:
        verdict = "slower" if ratio > 1 else "faster"
    return TimeComparison(base, new, ratio, verdict)


def _times(seconds: Sequence[float]) -> RenderTimes | None:
    known = [value for value in seconds if value > 0]
    if not known:
        return None
    return RenderTimes(len(known), median(known), min(known), max(known))
