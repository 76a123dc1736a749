"""Owns tables: columns of cells, and which of several layouts a terminal has room for.

rich has tables too; at 2 ms a row they are too slow for a list of thousands.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product, zip_longest

from rich.console import Console
from rich.text import Text

from scaly_viz.cli.characters import visible
from scaly_viz.cli.output import UNLIMITED

# Blanks between columns; fewer before a column is left out.
_GAPS = (2, 1)
_NARROWEST = 4
# In a pipe a longer cell pushes on the rest of its own row, and of no other.
_WIDEST_IN_A_PIPE = 40


@dataclass(frozen=True)  # Python 3.12 cannot make a generic one that is frozen and has slots
class Column[Row]:
    """One column: what it shows of a row, and in which style.

    A cell may be folded into lines of ``fold_at`` cells or more; with None it never is.
    """

    header: str
    cell: Callable[[Row], str]
    style: Callable[[Row], str] | None = None
    is_number: bool = False
    fold_at: int | None = None


def table[Row](
    rows: Sequence[Row],
    layouts: Sequence[Sequence[Column[Row]]],
    console: Console,
    style: Callable[[Row], str] = lambda _: "",
    *,
    tells: bool = False,
) -> Text:
    """Return ``rows`` in the first of ``layouts`` that fits ``console``, else in the last.

    With ``tells`` a last line says which columns of the first were left out.
    """
    for columns, gap in product(layouts, _GAPS):
        cells = [[_cell(column, row) for column in columns] for row in rows]
        header = [Text(column.header) for column in columns]
        natural = [
            max(text.cell_len for text in texts) for texts in zip(header, *cells, strict=True)
        ]
        room = console.width - gap * (len(columns) - 1)
        if sum(map(_least, columns, natural)) <= room:
            break
    if console.width >= UNLIMITED:
        widths = [min(width, _WIDEST_IN_A_PIPE) for width in natural]
    else:
        widths = _fitted(columns, natural, room)
    lines = [*_lines(header, columns, widths, gap, "bold", console)]
    for row, texts in zip(rows, cells, strict=True):
        lines += _lines(texts, columns, widths, gap, style(row), console)
    shown = {column.header for column in columns}
    missing = [column.header for column in layouts[0] if column.header not in shown]
    if tells and missing:
        note = f"Not shown: {', '.join(missing)} (see them wider, in a pipe, or by --json)"
        lines += Text(note, "dim").wrap(console, console.width)
    return Text("\n").join(lines)


def _cell[Row](column: Column[Row], row: Row) -> Text:
    return Text(visible(column.cell(row)), column.style(row) if column.style else "")


def _least[Row](column: Column[Row], natural: int) -> int:
    return natural if column.fold_at is None else min(natural, column.fold_at)


def _fitted[Row](columns: Sequence[Column[Row]], natural: Sequence[int], room: int) -> list[int]:
    """Take what is missing from the widest of the columns that may be folded."""
    widths = [
        width if column.fold_at is None else min(width, room)
        for column, width in zip(columns, natural, strict=True)
    ]
    foldable = [i for i, column in enumerate(columns) if column.fold_at is not None]
    while sum(widths) > room and foldable:
        widest = max(foldable, key=lambda i: widths[i])
        if widths[widest] <= _NARROWEST:
            break
        widths[widest] -= 1
    return widths


def _lines[Row](
    texts: Sequence[Text],
    columns: Sequence[Column[Row]],
    widths: Sequence[int],
    gap: int,
    style: str,
    console: Console,
) -> Iterator[Text]:
    """Yield the line of one row, or its lines where a cell is folded."""
    folded: list[Iterable[Text]] = [
        [text]
        if text.cell_len <= width or console.width >= UNLIMITED
        else text.wrap(console, width, overflow="fold")
        for text, width in zip(texts, widths, strict=True)
    ]
    for parts in zip_longest(*folded, fillvalue=Text()):
        line = Text(style=style)
        blanks = 0
        for part, column, width in zip(parts, columns, widths, strict=True):
            missing = max(0, width - part.cell_len)
            before, after = (missing, 0) if column.is_number else (0, missing)
            if part:
                line.append(" " * (blanks + before)).append_text(part)
                blanks = after + gap
            else:
                blanks += width + gap
        yield line
