"""Owns what the model of a text is, whatever its language: procedures, loops, names, what a line costs."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

type Role = Literal["buffer", "loop", "variable", "input", "output", "procedure", "ssa"]
type Access = Literal["declare", "write", "read"]
type Cost = tuple[int, int, int, int]
"""Loads, stores, flops and bytes moved."""

FREE: Cost = (0, 0, 0, 0)
LARGEST = 2**63 - 1
"""Figures do not grow beyond this one: no compiler's program runs so long, and JSON's readers stop there."""


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A name in a line: columns from 0, counted in characters, without a sigil."""

    name: str
    column: int
    end_column: int
    access: Access
    is_procedure: bool = False


@dataclass(frozen=True, slots=True)
class Declared:
    """What a name stands for in its procedure, and the line that says so."""

    name: str
    role: Role
    type: str
    line: int


@dataclass(slots=True)
class Loop:
    """A loop from its head to its last line.

    ``trips`` is how often its body runs each time that it is entered, ``passes`` how often in one
    run of its procedure; None where that varies or only a run knows it. A loop over ``chunks`` of a
    loop over vector lanes has no passes of its own: the lanes count every element, ``per_element``.
    """

    line: int
    end: int
    name: str
    trips: int | None = None
    passes: int | None = None
    parent: Loop | None = None
    chunks: bool = False
    per_element: bool = False


@dataclass(slots=True)
class Procedure:
    """A procedure from its head to its last line, with what its names stand for.

    ``costs`` says what a line costs each time that it runs, without what it calls; ``calls`` whom
    it calls. One for some lanes at once has the costs ``per_element``.
    """

    name: str
    line: int
    end: int = 0
    names: dict[str, Declared] = field(default_factory=dict)
    loops: list[Loop] = field(default_factory=list)
    costs: dict[int, Cost] = field(default_factory=dict)
    calls: dict[int, list[str]] = field(default_factory=dict)
    per_element: bool = False
    _borders: tuple[list[int], list[Loop | None]] | None = field(
        default=None, repr=False, compare=False
    )

    def loop_at(self, line: int) -> Loop | None:
        """Return the innermost loop whose body ``line`` lies in; a head lies in the loop around it.

        The procedure must have been read whole: where its loops lie is remembered.
        """
        if self._borders is None:
            self._borders = _borders(self.loops)
        lines, loops = self._borders
        at = bisect_right(lines, line) - 1
        return loops[at] if at >= 0 else None


def _borders(loops: Sequence[Loop]) -> tuple[list[int], list[Loop | None]]:
    """The lines from which on another loop is the innermost one, ascending, and that loop."""
    lines: list[int] = []
    inner: list[Loop | None] = []
    open_: list[Loop] = []

    def close(before: int) -> None:
        while open_ and open_[-1].end < before:
            lines.append(open_.pop().end + 1)
            inner.append(open_[-1] if open_ else None)

    for loop in loops:
        close(loop.line + 1)
        lines.append(loop.line + 1)
        inner.append(loop)
        open_.append(loop)
    if open_:
        close(max(loop.end for loop in open_) + 1)
    return lines, inner


@dataclass(slots=True)
class TextModel:
    """What is known of a text; lines count from 1.

    ``roots`` are the procedures that one run of the program runs once each, ``uncounted`` says what
    the costs leave out.
    """

    lines: Sequence[str]
    procedures: list[Procedure]
    roots: Sequence[str] = ()
    uncounted: Sequence[str] = ()

    def procedure(self, name: str) -> Procedure | None:
        """Return the procedure called ``name``."""
        return next((each for each in self.procedures if each.name == name), None)


def column_of_utf16(line: str, column: int) -> int:
    """Return the character that a column as browsers count it lies in."""
    if line.isascii() or column <= 0:
        return column
    units = line.encode("utf-16-le", "surrogatepass")
    before = units[: 2 * column].decode("utf-16-le", "surrogatepass")
    # Half of a pair is a part of its character.
    return len(before) - (before[-1] != line[len(before) - 1])


def utf16_column(line: str, column: int) -> int:
    """Return a column as browsers count it, in UTF-16 code units."""
    if line.isascii():
        return column
    return len(line[:column].encode("utf-16-le", "surrogatepass")) // 2
