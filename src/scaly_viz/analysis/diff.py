"""Owns the difference of two texts: which lines went, came, moved, or were only renumbered."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import msgspec

from scaly_viz.analysis.alignment import Block, align
from scaly_viz.analysis.moves import moved_blocks
from scaly_viz.analysis.numbering import (
    has_sigils,
    is_renaming,
    is_scope_head,
    skeletons,
    unrenamed,
)

type Numbering = Literal["ignore", "exact"]
type Op = Literal["replace", "insert", "delete", "move", "renumber"]

# As editors break lines, CodeMirror among them; str.splitlines knows more breaks.
_BREAK = re.compile(r"\r\n?|\n")


class Chunk(msgspec.Struct, frozen=True):
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
    if numbering == "exact" or sides.changed() <= _fewest_changed(left, right):
        return sides
    return min(sides, _compared(left, right, "exact"), key=_Sides.changed)


def _fewest_changed(left: Sequence[str], right: Sequence[str]) -> int:
    """How many lines at least went or came, wherever the others are: numbers and all."""
    ours = Counter(map(str.strip, left))
    ours.subtract(map(str.strip, right))
    return sum(map(abs, ours.values()))


def _compared(left: Sequence[str], right: Sequence[str], numbering: Numbering) -> _Sides:
    start, end = _same_ends(left, right)
    a, b = left[start : len(left) - end], right[start : len(right) - end]
    keys_a, keys_b, sigils = a, b, False
    if numbering == "ignore" and a and b:
        sigils = has_sigils(left) and has_sigils(right)
        keys_a, keys_b = skeletons(a, sigils=sigils), skeletons(b, sigils=sigils)
    blocks = _slid(keys_a, keys_b, align(keys_a, keys_b))
    pairs = [(start + i + k, start + j + k) for i, j, n in blocks for k in range(n)]
    settled = set(pairs)  # what took another value changed in its place, and did not move
    if keys_a is not a:
        pairs = _consistent(left, right, pairs, (start, end), sigils)
    partner = [*range(start), *([-1] * len(a)), *range(len(right) - end, len(right))]
    for i, j in pairs:
        partner[i] = j
    stayed_a, stayed_b = {i - start for i, _ in settled}, {j - start for _, j in settled}
    gone = [None if i in stayed_a else key for i, key in enumerate(keys_a)]
    came = [None if j in stayed_b else key for j, key in enumerate(keys_b)]
    moves = [
        (start + i, start + j, n)
        for i, j, n in moved_blocks(gone, came)
        if keys_a is a or is_renaming(a[i : i + n], b[j : j + n], sigils=sigils)
    ]
    return _Sides(left, right, partner, moves)


def _consistent(
    left: Sequence[str],
    right: Sequence[str],
    pairs: list[tuple[int, int]],
    ends: tuple[int, int],
    sigils: bool,
) -> list[tuple[int, int]]:
    """The ``pairs`` that are equal but for a renaming, which must suit the equal lines around, too."""
    start, end = ends
    first = start
    while first and not is_scope_head(left[first]):
        first -= 1
    last, shift = len(left) - end, len(right) - len(left)
    while last < len(left) and not is_scope_head(left[last]):
        last += 1
    around = [(i, i) for i in range(first, start)]
    behind = [(i, i + shift) for i in range(len(left) - end, last)]
    unexplained = unrenamed(left, right, [*around, *pairs, *behind], sigils=sigils)
    return [pair for pair in pairs if pair not in unexplained]


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
