"""Owns how amounts are written on the command line: ages, and sizes in bytes. Each is an option's callback."""

from __future__ import annotations

import re
import time
from datetime import datetime

import click

_AGE = re.compile(r"(\d{1,6}(?:\.\d{1,6})?)\s*([smhdwy])", re.ASCII)
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 7 * 86_400, "y": 365 * 86_400}
_SIZE = re.compile(r"(\d{1,15}(?:\.\d{1,6})?)\s*([kmgt]?)(i?)b?", re.IGNORECASE | re.ASCII)
_EXPONENTS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}


def moment(ctx: click.Context, parameter: click.Parameter, value: str | None) -> float | None:
    """Return a moment in the past, given as an age or as a date of ISO 8601, in seconds since the epoch."""
    if value is None:
        return None
    age = _AGE.fullmatch(value.strip())
    if age:
        return time.time() - float(age[1]) * _SECONDS[age[2]]
    try:
        return datetime.fromisoformat(value.strip()).timestamp()
    except (ValueError, OverflowError, OSError):
        raise click.BadParameter(
            f"{value!r} is neither an age, as 30d, 12h or 2w, nor a date, as 2026-01-31"
        ) from None


def size(ctx: click.Context, parameter: click.Parameter, value: str | None) -> int | None:
    """Return a number of bytes, given as ``500MB``, ``2GiB`` or ``1000000``."""
    if value is None:
        return None
    found = _SIZE.fullmatch(value.strip())
    if found is None or (found[3] and not found[2]):
        raise click.BadParameter(f"{value!r} is no size, as 500MB, 2GiB or 1000000")
    base = 1024 if found[3] else 1000
    return int(float(found[1]) * base ** _EXPONENTS[found[2].lower()])
