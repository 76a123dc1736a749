"""Owns the tests of numbers written for people."""

from __future__ import annotations

import pytest

from scaly_viz.cli.quantities import count, difference, duration, local_time, plural


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, ""),
        (1e-9, "0.00 us"),
        (1.5e-6, "1.50 us"),
        (42.2e-6, "42.2 us"),
        (0.000_999_4, "999 us"),
        (0.000_999_6, "1.00 ms"),
        (0.0857, "85.7 ms"),
        (0.9996, "1.00 s"),
        (9.996, "10.0 s"),
        (59.94, "59.9 s"),
        (59.96, "1 min 00 s"),
        (3599.4, "59 min 59 s"),
        (3599.6, "1 h 00 min"),
        (4_000_000, "1,111 h 06 min"),
        (-0.25, "-250 ms"),
    ],
)
def test_a_duration_has_three_digits_and_a_unit(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_counts_have_thousands_separators() -> None:
    assert [count(None), count(0), count(1234567)] == ["", "0", "1,234,567"]
    assert [difference(1234), difference(-1234)] == ["+1,234", "-1,234"]
    assert [plural(1, "step"), plural(1200, "step")] == ["1 step", "1,200 steps"]


def test_a_time_that_no_calendar_has_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "UTC")
    assert [local_time(t) for t in (0.0, 1e30, float("nan"), -1e15)] == ["", "", "", ""]
