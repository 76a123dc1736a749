"""Owns what a place in a recording is."""

from __future__ import annotations

import msgspec

from scaly_viz.analysis.scanners import ScannedText
from scaly_viz.analysis.text_model import Occurrence, utf16_column


class Place(msgspec.Struct, frozen=True):
    """A part of a line: in the text ``kind`` of step ``step``.

    Lines count from 1; columns from 0, in UTF-16 code units, the end not included.
    """

    step: int
    kind: str
    line: int
    column: int
    end_column: int


def place_of(text: ScannedText, step: int, kind: str, line: int, use: Occurrence) -> Place:
    """Return where the name ``use`` stands in ``line`` of ``text``."""
    shown = text.lines[line - 1]
    begin, end = utf16_column(shown, use.column), utf16_column(shown, use.end_column)
    return Place(step, kind, line, begin, end)
