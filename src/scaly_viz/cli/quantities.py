"""Owns how numbers are written for people: durations, counts, differences, times of day."""

from __future__ import annotations

from datetime import datetime

_UNITS = (("us", 1e-6, 999.5), ("ms", 1e-3, 999.5), ("s", 1.0, 59.95))


def duration(seconds: float) -> str:
    """Return ``seconds`` with three digits and a unit; nothing for 0, which is what is unknown."""
    if seconds == 0:
        return ""
    if seconds < 0:
        return f"-{duration(-seconds)}"
    for unit, size, limit in _UNITS:
        if seconds / size < limit:
            return f"{_three_digits(seconds / size)} {unit}"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest:02} s"
    return f"{minutes // 60:,} h {minutes % 60:02} min"


def _three_digits(value: float) -> str:
    decimals = 2 if value < 9.995 else 1 if value < 99.95 else 0
    return f"{value:.{decimals}f}"


def count(number: int | None) -> str:
    """Return ``number`` with thousands separators; nothing for None."""
    return "" if number is None else f"{number:,}"


def difference(number: int) -> str:
    """Return ``number`` with its sign and thousands separators."""
    return f"{number:+,}"


def local_time(timestamp: float, form: str = "%Y-%m-%d %H:%M:%S") -> str:
    """Return seconds since the epoch as local time; nothing for 0 and for what no calendar has."""
    try:
        return datetime.fromtimestamp(timestamp).strftime(form) if timestamp else ""
    except (OverflowError, ValueError, OSError):
        return ""


def plural(number: int, noun: str) -> str:
    """Return ``number`` with ``noun`` in the form that it takes."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
