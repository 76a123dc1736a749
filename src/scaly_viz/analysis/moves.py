"""Owns the recognition of lines that only moved: gone in one place, there in another."""

from __future__ import annotations

import re
from collections.abc import Sequence

# A line with fewer words says too little to be known again by itself.
_MIN_WORDS = 3
# Where more blocks than this would have moved, the text was shuffled: that is told as replaced.
_MOST_BLOCKS = 5_000
_WORD = re.compile(r"\w+")

type Block = tuple[int, int, int]


def moved_blocks(left: Sequence[str | None], right: Sequence[str | None]) -> list[Block]:
    """Return the blocks of lines that moved, as ``(i, j, n)``, in the order of the left side.

    ``None`` stands for a line that stayed; indentation counts for nothing. A block is found by a
    line that is unique among those that left and those that came, and grows over its neighbors. There
    are none where there would be more than ``_MOST_BLOCKS``.
    """
    left = [None if line is None else line.strip() for line in left]
    right = [None if line is None else line.strip() for line in right]
    once, other = _once(left), _once(right)
    anchors = sorted(
        (i, j) for line, i in once.items() if i >= 0 and (j := other.get(line, -1)) >= 0
    )
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


def _once(lines: Sequence[str | None]) -> dict[str, int]:
    """Where each line that says enough is, or -1 where it is more than once."""
    where: dict[str, int] = {}
    for at, line in enumerate(lines):
        if line is not None and (line in where or len(_WORD.findall(line[:200])) >= _MIN_WORDS):
            where[line] = -1 if line in where else at
    return where
