"""Render times of two sides: what a ratio is worth with so many recordings."""

from __future__ import annotations

import pytest

from scaly_viz.analysis.render_times import RenderTimes, compare_times


@pytest.mark.parametrize(
    ("base", "new", "ratio", "verdict"),
    [
        ([1.0], [2.0], 2.0, "unknown"),
        ([1.0, 1.1, 1.2], [2.0, 2.1, 2.2], 2.1 / 1.1, "unknown"),
        ([1.0, 1.1, 1.2, 1.3], [2.0, 2.1, 2.2, 2.3], 2.15 / 1.15, "slower"),
        ([2.0, 2.1, 2.2, 2.3], [1.0, 1.1, 1.2, 1.3], 1.15 / 2.15, "faster"),
        ([1.0, 1.1, 1.2, 1.3], [1.3, 1.4, 1.5, 1.6], 1.45 / 1.15, "within the noise"),
        ([1.0, 3.0], [2.0], 1.0, "within the noise"),
        ([1.0, 0.0], [1.0], 1.0, "within the noise"),
        ([], [1.0], None, "unknown"),
        ([0.0], [1.0], None, "unknown"),
    ],
)
def test_only_ranges_apart_with_enough_recordings_tell_anything(
    base: list[float], new: list[float], ratio: float | None, verdict: str
) -> None:
    compared = compare_times(base, new)
    assert compared.verdict == verdict
    assert compared.ratio == pytest.approx(ratio)


def test_the_spread_is_kept() -> None:
    compared = compare_times([3.0, 1.0, 2.0], [])
    assert compared.base == RenderTimes(3, 2.0, 1.0, 3.0)
    assert compared.new is None
