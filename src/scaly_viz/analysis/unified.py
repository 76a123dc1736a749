"""Owns the unified form of a difference: hunks of removed, added and surrounding lines.

https://www.gnu.org/software/diffutils/manual/html_node/Detailed-Unified.html
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from scaly_viz.analysis.diff import Chunk, TextDiff

type Tag = Literal[" ", "-", "+"]


@dataclass(frozen=True, slots=True)
class DiffLine:
    """A line of a hunk; ``moved`` tells that it is elsewhere on the other side."""

    tag: Tag
    text: str
    moved: bool = False


@dataclass(frozen=True, slots=True)
class Hunk:
    """Changed lines with what surrounds them; lines are counted from 1."""

    left: tuple[int, int]
    """First line and number of lines on the left; the line before where there are none."""
    right: tuple[int, int]
    lines: list[DiffLine]

    @property
    def head(self) -> str:
        """The line ``@@ -1,7 +1,6 @@``."""
        left, right = (
            str(start) if count == 1 else f"{start},{count}"
            for start, count in (self.left, self.right)
        )
        return f"@@ -{left} +{right} @@"


def hunks(
    left: Sequence[str], right: Sequence[str], diff: TextDiff, context: int = 3
) -> Iterator[Hunk]:
    """Yield the hunks of ``diff``, the difference of the lines ``left`` and ``right``.

    Lines that were only renumbered count as unchanged, and are shown as they are on the right.
    """
    changed = [chunk for chunk in diff.chunks if chunk.op != "renumber"]
    group: list[Chunk] = []
    for chunk in changed:
        if group and chunk.left[0] - group[-1].left[1] > 2 * context:
            yield _hunk(left, right, group, context)
            group = []
        group.append(chunk)
    if group:
        yield _hunk(left, right, group, context)


def _hunk(left: Sequence[str], right: Sequence[str], chunks: list[Chunk], context: int) -> Hunk:
    first, last = chunks[0], chunks[-1]
    above = min(context, first.left[0] - 1, first.right[0] - 1)
    below = min(context, len(left) + 1 - last.left[1], len(right) + 1 - last.right[1])
    lines: list[DiffLine] = []
    at = first.right[0] - above
    for chunk in chunks:
        lines += [DiffLine(" ", text) for text in right[at - 1 : chunk.right[0] - 1]]
        moved = chunk.op == "move"
        lines += [
            DiffLine("-", text, moved) for text in left[chunk.left[0] - 1 : chunk.left[1] - 1]
        ]
        lines += [
            DiffLine("+", text, moved) for text in right[chunk.right[0] - 1 : chunk.right[1] - 1]
        ]
        at = chunk.right[1]
    lines += [DiffLine(" ", text) for text in right[at - 1 : at - 1 + below]]
    return Hunk(
        _range(first.left[0] - above, last.left[1] + below),
        _range(first.right[0] - above, last.right[1] + below),
        lines,
    )


def _range(first: int, end: int) -> tuple[int, int]:
    count = end - first
    return (first if count else first - 1), count
