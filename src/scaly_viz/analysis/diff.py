"""Owns the difference of two texts: which lines went, came, moved, or were only renumbered."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import msgspec

from scaly_viz.analysis.alignment import Block, align
from scaly_viz.analysis.moves import moved_blocks
from scaly_viz.analysis.numbering import (
    Named,
    Skeleton,
    has_sigils,
    is_renaming,
    scope_heads,
    unrenamed,
)

type Numbering = Literal["ignore", "exact"]
type Op = Literal["replace", "insert", "delete", "move", "renumber"]

# As editors break lines, CodeMirror among them; str.splitlines knows more breaks.
_BREAK = re.compile(r"\r\n?|\n")


class Chunk(msgspec.Struct, frozen=True, gc=False):
    """A region that is not the same on both sides: half-open ranges of lines, counted from 1.

    ``move`` numbers what moved: one chunk of that number has its lines on the left, another on the
    right. Lines of a ``renumber`` chunk correspond one to one.
    """

    left: tuple[int, int]
    right: tuple[int, int]
    op: Op
    move: int | None = None


class TextDiff(msgspec.Struct, frozen=True):
    """The difference of two texts; what lies between ``chunks`` is equal.

    ``added``, ``removed``, ``moved`` and ``renumbered`` count lines; one that moved or was only
    renumbered is neither added nor removed. ``left_lines`` and ``right_lines`` count as an editor
    does, the empty line behind a last line break included.
    """

    left_lines: int
    right_lines: int
    chunks: list[Chunk]
    added: int
    removed: int
    moved: int
    renumbered: int
    identical: bool


def lines_of(text: str) -> list[str]:
    """Return the lines of ``text`` as an editor counts them: at least one, the last maybe empty."""
    return _BREAK.split(text) if "\r" in text else text.split("\n")


def diff_texts(left: str, right: str, numbering: Numbering = "ignore") -> TextDiff:
    """Return how ``right`` differs from ``left``.

    With ``numbering="ignore"``, lines that a consistent renaming of made-up names explains count as
    unchanged and are told as ``renumber``; with ``"exact"`` they are replaced.
    """
    return diff_lines(lines_of(left), lines_of(right), numbering)


def diff_lines(
    left: Sequence[str], right: Sequence[str], numbering: Numbering = "ignore"
) -> TextDiff:
    """Return how the lines ``right`` differ from the lines ``left``; see ``diff_texts``."""
    sides = _best(left, right, numbering)
    chunks = list(_chunks(sides))
    renumbered = sum(chunk.left[1] - chunk.left[0] for chunk in chunks if chunk.op == "renumber")
    moved = sum(chunk.left[1] - chunk.left[0] for chunk in chunks if chunk.op == "move")
    plain = [chunk for chunk in chunks if chunk.op not in ("move", "renumber")]
    return TextDiff(
        left_lines=len(left),
        right_lines=len(right),
        chunks=chunks,
        added=sum(chunk.right[1] - chunk.right[0] for chunk in plain),
        removed=sum(chunk.left[1] - chunk.left[0] for chunk in plain),
        moved=moved,
        renumbered=renumbered,
        identical=not chunks,
    )


def aligned_lines(left: Sequence[str], right: Sequence[str]) -> list[int]:
    """Return for each line of ``left`` its line on the right, counted from 0, or -1.

    Lines that moved or were renumbered are followed.
    """
    sides = _best(left, right, "ignore")
    found = list(sides.partner)
    for i, j, n in sides.moves:
        for k in range(n):
            found[i + k] = j + k
    return found


@dataclass(slots=True)
class _Sides:
    """Two texts with what was found of their lines."""

    left: Sequence[str]
    right: Sequence[str]
    partner: list[int]
    moves: list[Block]

    def changed(self) -> int:
        """How many lines went or came: those that neither stayed nor moved."""
        kept = len(self.partner) - self.partner.count(-1) + sum(n for _, _, n in self.moves)
        return len(self.left) + len(self.right) - 2 * kept


def _best(left: Sequence[str], right: Sequence[str], numbering: Numbering) -> _Sides:
    """Compare two texts; never so that ignoring numbers shows more changed lines than not ignoring them.

    Lines that are one but for their numbers may be paired so that no renaming explains the pairs: in a
    text made of copies of itself, say.
    """
    sides = _compared(left, right, numbering)
    changed = sides.changed()
    if numbering == "exact" or not _is_more_than_needed(changed, left, right):
        return sides
    return min(sides, _compared(left, right, "exact"), key=_Sides.changed)


def _is_more_than_needed(changed: int, left: Sequence[str], right: Sequence[str]) -> bool:
    """Whether more lines changed than went or came at least, wherever the others are."""
    there = set(map(str.strip, right))
    missing = 0
    for line in left if changed else ():
        missing += line.strip() not in there
        if missing >= changed:
            break
    return missing < changed and changed > _fewest_changed(left, right)


def _fewest_changed(left: Sequence[str], right: Sequence[str]) -> int:
    """How many lines at least went or came, wherever the others are: numbers and all."""
    ours = Counter(map(str.strip, left))
    ours.subtract(map(str.strip, right))
    return sum(map(abs, ours.values()))


def _compared(left: Sequence[str], right: Sequence[str], numbering: Numbering) -> _Sides:
    start, end = _same_ends(left, right)
    a, b = left[start : len(left) - end], right[start : len(right) - end]
    keys_a, keys_b, sigils = a, b, False
    named: tuple[Named, Named] | None = None
    if numbering == "ignore" and a and b:
        sigils = has_sigils(left) and has_sigils(right)
        ours, theirs = Skeleton.of(a, sigils=sigils), Skeleton.of(b, sigils=sigils)
        keys_a, keys_b = ours.keys, theirs.keys
        named = Named(left, ours, start), Named(right, theirs, start)
    blocks = _slid(keys_a, keys_b, align(keys_a, keys_b))
    partner = [*range(start), *([-1] * len(a)), *range(len(right) - end, len(right))]
    # What took another value changed in its place, and did not move.
    gone, came = list[str | None](keys_a), list[str | None](keys_b)
    for i, j, n in blocks:
        partner[start + i : start + i + n] = range(start + j, start + j + n)
        gone[i : i + n] = came[j : j + n] = [None] * n
    for line in _inconsistent(*named, blocks, end, sigils) if named is not None else ():
        partner[line] = -1
    moves = [
        (start + i, start + j, n)
        for i, j, n in moved_blocks(gone, came)
        if named is None or is_renaming(a[i : i + n], b[j : j + n], sigils=sigils)
    ]
    return _Sides(left, right, partner, moves)


def _inconsistent(
    left: Named, right: Named, blocks: list[Block], end: int, sigils: bool
) -> set[int]:
    """The lines that no renaming makes equal, which must suit the equal lines around, too.

    ``end`` is how many lines are equal at the end of both.
    """
    start, stop = left.first, len(left.lines) - end
    heads = scope_heads(left.lines)
    before, behind = bisect_right(heads, start), bisect_left(heads, stop)
    first = heads[before - 1] if before else 0
    last = heads[behind] if behind < len(heads) else len(left.lines)
    shift = len(right.lines) - len(left.lines)
    within = [(start + i, start + j, n) for i, j, n in blocks]
    around = [(first, first, start - first), *within, (stop, stop + shift, last - stop)]
    return unrenamed(left, right, heads, around, sigils=sigils)


def _same_ends(left: Sequence[str], right: Sequence[str]) -> tuple[int, int]:
    most = min(len(left), len(right))
    start = 0
    while start < most and left[start] == right[start]:
        start += 1
    end = 0
    while end < most - start and left[-1 - end] == right[-1 - end]:
        end += 1
    return start, end


def _slid(a: Sequence[str], b: Sequence[str], blocks: list[Block]) -> list[Block]:
    """Shift what was only inserted or deleted to where it begins as a person would say.

    Where the line before an inserted run equals its last line, the run can as well begin a line
    earlier: a loop that came is then not told as the end of one and the head of another.
    """
    slid: list[Block] = blocks[:1]
    for i, j, n in blocks[1:]:
        before_i, before_j, before_n = slid[-1]
        end_i, end_j, up = before_i + before_n, before_j + before_n, 0
        if end_i == i:
            up = _best_slide(b, end_j, j - end_j, before_n)
        elif end_j == j:
            up = _best_slide(a, end_i, i - end_i, before_n)
        slid[-1] = (before_i, before_j, before_n - up)
        slid.append((i - up, j - up, n + up))
    return [block for block in slid if block[2]]


def _best_slide(side: Sequence[str], first: int, size: int, room: int) -> int:
    """How many lines earlier the run of ``size`` lines from ``first`` on best begins."""
    best, best_score = 0, _start_score(side[first])
    up = 0
    while up < min(room, first) and side[first - up - 1] == side[first - up - 1 + size]:
        up += 1
        score = _start_score(side[first - up])
        if score < best_score:
            best, best_score = up, score
    return best


def _start_score(line: str) -> tuple[int, bool]:
    """Lower where a block rather begins: little indented, no closing bracket."""
    bare = line.lstrip()
    return len(line) - len(bare), bare.startswith(("}", ")", "]"))


def _chunks(sides: _Sides) -> Iterator[Chunk]:
    """The chunks between the lines that are equal, in order."""
    move_left = _marks(sides.moves, 0)
    move_right = _marks(sides.moves, 1)
    i = j = 0
    matched = [(x, y) for x, y in enumerate(sides.partner) if y >= 0]
    run: tuple[int, int] | None = None
    for x, y in (*matched, (len(sides.left), len(sides.right))):
        if x > i or y > j:
            if run is not None:
                yield Chunk((run[0] + 1, i + 1), (run[1] + 1, j + 1), "renumber")
                run = None
            yield from _gap(i, x, j, y, move_left, move_right)
        renumbered = x < len(sides.left) and sides.left[x] != sides.right[y]
        if renumbered and run is None:
            run = (x, y)
        elif not renumbered and run is not None:
            yield Chunk((run[0] + 1, x + 1), (run[1] + 1, y + 1), "renumber")
            run = None
        i, j = x + 1, y + 1


def _marks(moves: Sequence[Block], side: int) -> dict[int, int]:
    return {block[side] + k: number for number, block in enumerate(moves) for k in range(block[2])}


def _gap(
    i: int, i_end: int, j: int, j_end: int, gone: dict[int, int], came: dict[int, int]
) -> Iterator[Chunk]:
    """The chunks between two pairs of equal lines: moves apart from what went and what came."""
    while i < i_end or j < j_end:
        if i < i_end and i in gone:
            end = _run_end(i, i_end, gone)
            yield Chunk((i + 1, end + 1), (j + 1, j + 1), "move", gone[i])
            i = end
        elif j < j_end and j in came:
            end = _run_end(j, j_end, came)
            yield Chunk((i + 1, i + 1), (j + 1, end + 1), "move", came[j])
            j = end
        else:
            to_i, to_j = _run_end(i, i_end, gone), _run_end(j, j_end, came)
            op: Op = "insert" if to_i == i else "delete" if to_j == j else "replace"
            yield Chunk((i + 1, to_i + 1), (j + 1, to_j + 1), op)
            i, j = to_i, to_j


def _run_end(at: int, end: int, marks: dict[int, int]) -> int:
    """Where the lines end that share the mark of line ``at``, or have none as it has none."""
    if at >= end:
        return at
    mark = marks.get(at)
    to = at + 1
    while to < end and marks.get(to) == mark:
        to += 1
    return to
