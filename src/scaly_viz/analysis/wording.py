"""Owns how figures and their changes are written for people, in sentences and in tables."""

from __future__ import annotations

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


def amount(value: float, unit: str) -> str:
    """Return a figure with thousands separators, and with its unit where that is bytes or seconds."""
    if unit == "s":
        return duration(value) or "0 s"
    return f"{value:,} B" if unit == "By" else f"{value:,}"


def change(before: float, after: float, unit: str) -> str:
    """Return a difference with its sign; nothing where there is none."""
    if before == after:
        return ""
    return f"{'+' if after > before else '-'}{amount(abs(after - before), unit)}"


def change_in_percent(before: float, after: float) -> str:
    """Return a relative difference, which is never 0 % where there is any: ``+0.004 %``."""
    if before == after:
        return ""
    if before == 0:
        return "from 0"
    percent = 100 * (after - before) / before
    for decimals in range(1, 5):
        text = f"{percent:+,.{decimals}f}"
        if text.strip("+-0.,"):
            return f"{text} %"
    return f"{percent:+.0e} %"


def title(function: str, name: str) -> str:
    """Return what recordings are called: their function, and their label where they have one."""
    return function if name in ("", function) else f"{function}: {name}"


def plural(number: int, noun: str) -> str:
    """Return ``number`` with ``noun`` in the form that it takes."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
