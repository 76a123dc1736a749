"""Owns standard error as a script under ``scaly-viz run`` leaves it: written to only where it is still the same."""

from __future__ import annotations

import os
import sys
from contextlib import suppress

_NUMBER = 2


def identity() -> tuple[int, int, int]:
    """Return which file standard error is: zeros where it is closed."""
    try:
        status = os.fstat(_NUMBER)
    except OSError:
        return 0, 0, 0
    return status.st_dev, status.st_ino, getattr(status, "st_rdev", 0)  # which Windows lacks


def write(text: str, expected: tuple[int, int, int]) -> None:
    """Write ``text``, unless standard error has become another file, which may be the script's own data."""
    if expected == (0, 0, 0) or identity() != expected:
        return
    data = text.encode("utf-8", "backslashreplace")
    with suppress(OSError):
        while data:
            data = data[os.write(_NUMBER, data) :]


def is_terminal(expected: tuple[int, int, int]) -> bool:
    """Tell whether it is a terminal in which this process may draw."""
    return (
        identity() == expected
        and os.isatty(_NUMBER)
        and os.environ.get("TERM", "dumb") != "dumb"
        and not _is_in_background()
    )


def _is_in_background() -> bool:
    if sys.platform == "win32":  # which has no groups of processes
        return False
    else:
        try:
            return os.tcgetpgrp(_NUMBER) != os.getpgrp()
        except OSError:  # a terminal that is nobody's
            return False
