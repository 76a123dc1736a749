"""Owns where boxes stand: in layers, what feeds above what is fed, neighbors near each other.

The layout of the viewer's graph (``viewer/web/src/graph/layered.ts``), after Sugiyama, Tagawa and Toda,
"Methods for visual understanding of hierarchical system structures" (1981): longest paths, then
sweeps that order each layer by the mean place of its neighbors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

_GAP_X = 20.0
_GAP_ROW = 14.0
_SWEEPS = 4
# Wider than high, as screens are; nothing is made narrower than this.
_ASPECT = 1.9
_NARROWEST = 1_160.0


@dataclass(frozen=True, slots=True)
class Layers:
    """Left upper corners of the boxes, and the size of the whole."""

    x: list[float]
    y: list[float]
    width: float
    height: float


def layered(
    widths: Sequence[float], heights: Sequence[float], edges: Iterable[tuple[int, int]]
) -> Layers:
    """Place boxes of these sizes; those without edges stand in a block above all layers."""
    arrows = _Arrows(len(widths), edges)
    ranks = _ranks(arrows)
    rows: list[list[int]] = [[] for _ in range(max(ranks, default=-1) + 1)]
    for box, rank in enumerate(ranks):
        if rank >= 0:
            rows[rank].append(box)
    best, fewest = rows, _crossings(arrows, ranks, rows)
    for sweep in range(_SWEEPS):
        if not fewest:
            break
        rows = _swept(arrows, rows, downward=sweep % 2 == 0)
        count = _crossings(arrows, ranks, rows)
        if count < fewest:
            best, fewest = rows, count
    alone = [box for box, rank in enumerate(ranks) if rank < 0]
    return _placed(widths, heights, arrows, alone, best)


class _Arrows:
    """Edges that lead downward only: those that close a circle are turned around."""

    def __init__(self, count: int, edges: Iterable[tuple[int, int]]) -> None:
        self.count = count
        given = [(source, target) for source, target in edges if source != target]
        turned = _closing(count, given)
        self.edges = [
            (target, source) if i in turned else (source, target)
            for i, (source, target) in enumerate(given)
        ]
        self.up: list[list[int]] = [[] for _ in range(count)]
        self.down: list[list[int]] = [[] for _ in range(count)]
        for source, target in self.edges:
            self.down[source].append(target)
            self.up[target].append(source)


def _closing(count: int, edges: Sequence[tuple[int, int]]) -> set[int]:
    """Return the edges that lead back to a box on the way to them, depth first in the order of the boxes."""
    leaving: list[list[int]] = [[] for _ in range(count)]
    for i, (source, _) in enumerate(edges):
        leaving[source].append(i)
    on_way, done = set[int](), set[int]()
    closing: set[int] = set()
    for start in range(count):
        if start in done:
            continue
        on_way.add(start)
        way = [(start, iter(leaving[start]))]
        while way:
            box, rest = way[-1]
            edge = next(rest, None)
            if edge is None:
                on_way.discard(box)
                done.add(box)
                way.pop()
                continue
            target = edges[edge][1]
            if target in on_way:
                closing.add(edge)
            elif target not in done:
                on_way.add(target)
                way.append((target, iter(leaving[target])))
    return closing


def _ranks(arrows: _Arrows) -> list[int]:
    """Return the longest path to each box; what only feeds is moved down to what it feeds."""
    ranks = [0] * arrows.count
    missing = [len(above) for above in arrows.up]
    ready = [box for box in range(arrows.count) if not missing[box]]
    for box in ready:  # which grows meanwhile
        for below in arrows.down[box]:
            ranks[below] = max(ranks[below], ranks[box] + 1)
            missing[below] -= 1
            if not missing[below]:
                ready.append(below)
    for box in range(arrows.count):
        if not arrows.up[box]:
            ranks[box] = min((ranks[fed] for fed in arrows.down[box]), default=0) - 1
    return ranks


def _swept(arrows: _Arrows, rows: list[list[int]], *, downward: bool) -> list[list[int]]:
    """Order each row by the mean place of its neighbors, in parts of a row; ties keep their order."""
    place = [0.0] * arrows.count
    neighbors = arrows.up if downward else arrows.down

    def spread(row: Sequence[int]) -> None:
        for i, box in enumerate(row):
            place[box] = (i + 0.5) / len(row)

    def wanted(box: int) -> float:
        near = neighbors[box]
        return sum(place[each] for each in near) / len(near) if near else place[box]

    result = [*rows]
    for row in rows:
        spread(row)
    for i in range(len(rows)) if downward else reversed(range(len(rows))):
        result[i] = sorted(result[i], key=wanted)
        spread(result[i])
    return result


def _crossings(arrows: _Arrows, ranks: Sequence[int], rows: Sequence[Sequence[int]]) -> int:
    """Return how many pairs of edges between the same two rows cross."""
    place = {box: i for row in rows for i, box in enumerate(row)}
    bundles: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for source, target in arrows.edges:
        ends = (ranks[source], ranks[target])
        bundles.setdefault(ends, []).append((place[source], place[target]))
    return sum(map(_inversions, bundles.values()))


def _inversions(edges: list[tuple[int, int]]) -> int:
    """Count, by a Fenwick tree, the pairs that are in another order at their second end."""
    edges.sort()
    tree = [0] * (max(target for _, target in edges) + 2)
    count = 0
    for seen, (_, target) in enumerate(edges):
        before, i = 0, target + 1
        while i > 0:
            before += tree[i]
            i -= i & -i
        count += seen - before
        i = target + 1
        while i < len(tree):
            tree[i] += 1
            i += i & -i
    return count


def _placed(
    widths: Sequence[float],
    heights: Sequence[float],
    arrows: _Arrows,
    alone: Sequence[int],
    rows: Sequence[Sequence[int]],
) -> Layers:
    area = sum((w + _GAP_X) * (h + _GAP_ROW) for w, h in zip(widths, heights, strict=True))
    widest = max(_NARROWEST, *widths, (area * _ASPECT) ** 0.5) if widths else _NARROWEST
    lines: list[tuple[list[int], float]] = [
        (line, _GAP_ROW) for line in _wrapped(alone, widths, widest)
    ]
    block = len(lines)
    for row in rows:
        parts = _wrapped(row, widths, widest)
        # More edges need more room between the layers to be told apart.
        gap = min(72.0, 30.0 + 2 * len(row))
        lines += [(part, _GAP_ROW if part is not parts[-1] else gap) for part in parts]
    y = [0.0] * len(widths)
    top = gap_above = 0.0
    for i, (line, gap) in enumerate(lines):
        top += 2 * gap_above if i == block > 0 else gap_above
        for box in line:
            y[box] = top
        top += max(heights[box] for box in line)
        gap_above = gap
    x = _aligned([line for line, _ in lines], block, widths, arrows)
    left = min(x, default=0.0)
    x = [each - left for each in x]
    right = max((each + width for each, width in zip(x, widths, strict=True)), default=0.0)
    return Layers(x, y, right, top)


def _wrapped(row: Sequence[int], widths: Sequence[float], widest: float) -> list[list[int]]:
    """Break a row that would be wider than a screen can show."""
    parts: list[list[int]] = []
    room = 0.0
    for box in row:
        own = widths[box] + _GAP_X
        if not parts or own > room:
            parts.append([])
            room = widest + _GAP_X
        parts[-1].append(box)
        room -= own
    return parts


def _aligned(
    lines: Sequence[Sequence[int]], block: int, widths: Sequence[float], arrows: _Arrows
) -> list[float]:
    """Move the boxes of each line under the middle of what they hang on, order and gaps kept."""
    x = [0.0] * len(widths)
    middle = [0.0] * len(widths)

    def settle(line: Sequence[int], wanted: Callable[[int], float]) -> None:
        for box, start in zip(line, _packed(line, widths, wanted), strict=True):
            x[box] = start
            middle[box] = start + widths[box] / 2

    for line in lines:
        left = -(sum(widths[box] + _GAP_X for box in line) - _GAP_X) / 2
        for box in line:
            x[box], middle[box] = left, left + widths[box] / 2
            left += widths[box] + _GAP_X
    for neighbors, moving in (
        (arrows.up, lines[block:]),
        (arrows.down, lines[block:][::-1]),
        (arrows.up, lines[block:]),
    ):
        for line in moving:
            settle(line, lambda box, near=neighbors: _mean(near[box], middle, box))  # type: ignore[misc]
    return x


def _mean(neighbors: Sequence[int], middle: Sequence[float], box: int) -> float:
    if not neighbors:
        return middle[box]
    return sum(middle[each] for each in neighbors) / len(neighbors)


def _packed(
    line: Sequence[int], widths: Sequence[float], wanted: Callable[[int], float]
) -> list[float]:
    """Return the starts nearest to what is wanted (least squares) without overlap: pool adjacent violators."""
    pools: list[tuple[float, int]] = []
    shifts: list[float] = []
    offset = 0.0
    for box in line:
        shifts.append(offset)
        total, size = wanted(box) - widths[box] / 2 - offset, 1
        offset += widths[box] + _GAP_X
        while pools and pools[-1][0] / pools[-1][1] > total / size:
            before, members = pools.pop()
            total, size = total + before, size + members
        pools.append((total, size))
    means = [total / size for total, size in pools for _ in range(size)]
    return [mean + shift for mean, shift in zip(means, shifts, strict=True)]
