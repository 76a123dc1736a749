"""Owns what a place in a recording is."""

from __future__ import annotations

import msgspec


class Place(msgspec.Struct, frozen=True):
    """A part of a line: in the text ``kind`` of step ``step``.

    Lines count from 1; columns from 0, in UTF-16 code units, the end not included.
    """

    step: int
    kind: str
    line: int
    column: int
    end_column: int
