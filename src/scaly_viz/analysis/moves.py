"""Owns the recognition of lines that only moved: gone in one place, there in another."""

from __future__ import annotations

import re
from collections.abc import Container, Sequence

# A line with fewer than three words says too little to be known again by itself.
_THREE_WORDS = re.compile(r"\W*\w+\W+\w+\W+\w")
# Where more blocks than this would have moved, the text was shuffled: that is told as replaced.
_MOST_BLOCKS = 5_000

type Block = tuple[int, int, int]


def moved_blocks(left: Sequence[str | None], right: Sequence[str | None]) -> list[Block]:
    """Return the blocks of lines that moved, as ``(i, j, n)``, in the order of the left side.

    ``None`` stands for a line that stayed; indentation counts for nothing. A block is found by a
    line that is unique among those that left and those that came, and grows over its neighbors. There
    are none where there would be more than ``_MOST_BLOCKS``.
    """
    left = [None if line is None else line.strip() for line in left]
    right = [None if line is None else line.strip() for line in right]
    there = _once(right, set(filter(None, left)))
    anchors = sorted((i, there[line]) for line, i in _once(left, there).items())
    taken_left: set[int] = set()
    taken_right: set[int] = set()
    blocks: list[Block] = []
    for i, j in anchors:
        if i in taken_left or j in taken_right:
            continue
        if len(blocks) == _MOST_BLOCKS:
            return []
        up = 0
        while (
            i - up > 0
            and j - up > 0
            and left[i - up - 1] is not None
            and left[i - up - 1] == right[j - up - 1]
            and i - up - 1 not in taken_left
            and j - up - 1 not in taken_right
        ):
            up += 1
        down = 1
        while (
            i + down < len(left)
            and j + down < len(right)
            and left[i + down] is not None
            and left[i + down] == right[j + down]
            and i + down not in taken_left
            and j + down not in taken_right
        ):
            down += 1
        blocks.append((i - up, j - up, up + down))
        taken_left.update(range(i - up, i + down))
        taken_right.update(range(j - up, j + down))
    return sorted(blocks)


def _once(lines: Sequence[str | None], among: Container[str]) -> dict[str, int]:
    """Where each line ``among`` those is that says enough, and is there once only."""
    where: dict[str, int] = {}
    for at, line in enumerate(lines):
        if line is not None and line in among:
            where[line] = -1 if line in where else at
    return {line: at for line, at in where.items() if at >= 0 and _THREE_WORDS.match(line[:200])}
