"""Owns how numbers are written for people: durations, counts, differences, times of day."""

from __future__ import annotations

from datetime import datetime

from scaly_viz.analysis.wording import duration, plural

__all__ = ["count", "difference", "duration", "local_time", "plural", "size"]


def count(number: int | None) -> str:
    """Return ``number`` with thousands separators; nothing for None."""
    return "" if number is None else f"{number:,}"


def size(bytes_: int) -> str:
    """Return a number of bytes in the unit that leaves one to three digits in front of the point."""
    if bytes_ < 1000:
        return f"{bytes_} bytes"
    for unit, scale in (("kB", 1e3), ("MB", 1e6)):
        if bytes_ < 999.95 * scale:
            return f"{bytes_ / scale:.1f} {unit}"
    return f"{bytes_ / 1e9:,.1f} GB"


def difference(number: int) -> str:
    """Return ``number`` with its sign and thousands separators."""
    return f"{number:+,}"


def local_time(timestamp: float, form: str = "%Y-%m-%d %H:%M:%S") -> str:
    """Return seconds since the epoch as local time; nothing for 0 and for what no calendar has."""
    try:
        return datetime.fromtimestamp(timestamp).strftime(form) if timestamp else ""
    except (OverflowError, ValueError, OSError):
        return ""
