"""Owns standard streams that whoever called the command has closed (``>&-``): Python has None in their place."""

from __future__ import annotations

import io
import os
import sys
from typing import NoReturn


def attend() -> None:
    """Put streams where there are none: what is written to standard output is as to a closed pipe.

    Their numbers are taken, too, lest a file that is opened gets one of them. A program that this
    process becomes, as by ``scaly-viz run``, finds them closed as before: they are not inherited.
    """
    if None not in (sys.stdin, sys.stdout, sys.stderr):
        return
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:  # the lowest number that is free is this one
            os.open(os.devnull, os.O_RDWR)
    if sys.stdin is None:
        sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - as long as the process
    if sys.stdout is None:
        sys.stdout = _Closed()
    if sys.stderr is None:
        sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115


class _Closed(io.TextIOWrapper):
    """An output that nobody reads."""

    def __init__(self) -> None:
        super().__init__(_ClosedBytes(), "utf-8", "backslashreplace", write_through=True)

    def write(self, text: str, /) -> int:
        """Refuse ``text`` unless it is empty, as rich writes it."""
        if text:
            raise BrokenPipeError
        return 0


class _ClosedBytes(io.BytesIO):
    def fileno(self) -> int:
        return 1

    def write(self, data: object, /) -> NoReturn:
        raise BrokenPipeError
