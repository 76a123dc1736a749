"""Owns what stays on a terminal of all that was written to it: progress is overwritten, colors are none."""

from __future__ import annotations

import re

_TOKEN = re.compile(r"\x1b\[([0-9;?]*)([A-Za-z])|([\r\n\b])|([^\x1b\r\n\b]+)|.")


def left_over(written: str) -> str:
    """Return the text of the terminal; its lines may be of any length."""
    rows = [""]
    row = column = 0
    for argument, control, motion, text in _TOKEN.findall(written):
        if text:
            rows[row] = rows[row][:column].ljust(column) + text + rows[row][column + len(text) :]
            column += len(text)
        elif motion == "\n":
            row, column = row + 1, 0
            rows += [""] * (row - len(rows) + 1)
        elif motion == "\r":
            column = 0
        elif motion == "\b":
            column = max(0, column - 1)
        elif control == "A":
            row = max(0, row - int(argument or 1))
        elif control == "K":
            rows[row] = "" if argument == "2" else rows[row][:column]
    return "\n".join(rows)
