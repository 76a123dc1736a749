"""Owns how numbers are written for people: durations, counts, differences, times of day."""

from __future__ import annotations

from datetime import datetime

from scaly_viz.analysis.wording import duration, plural

__all__ = ["count", "difference", "duration", "local_time", "plural"]


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
