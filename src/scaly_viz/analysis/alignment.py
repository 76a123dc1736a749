"""Owns the alignment of two sequences: which items stay in order, in time that no input makes quadratic."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Hashable, Iterator, Sequence

from rapidfuzz.distance import LCSseq

# The longest common subsequence takes n * m / 64 steps, and as many bits: 15 ms and 2 MB at this size.
_MAX_CELLS = 1 << 24
# Items that become unique only within a gap are looked for this deep.
_MAX_DEPTH = 12

type Block = tuple[int, int, int]
"""``n`` items from ``i`` on the left equal those from ``j`` on the right: ``(i, j, n)``."""
type _Region = tuple[int, int, int, int]


def align(left: Sequence[Hashable], right: Sequence[Hashable]) -> list[Block]:
    """Return the runs that ``left`` and ``right`` have in common, in order, as long as they go.

    Items that occur once on both sides are aligned first (patience diff, Bram Cohen 2003), since
    a person reads by them and not by closing brackets; between them the longest common subsequence
    is taken, where it isn't too long for that.
    """
    numbers: dict[Hashable, int] = {}
    a = [numbers.setdefault(item, len(numbers)) for item in left]
    b = [numbers.setdefault(item, len(numbers)) for item in right]
    return _joined(_settled(a, b, sorted(_matches(a, b))))


def _matches(a: Sequence[int], b: Sequence[int]) -> Iterator[Block]:
    stack: list[tuple[_Region, int]] = [((0, len(a), 0, len(b)), 0)]
    while stack:
        (i, i_end, j, j_end), depth = stack.pop()
        start = _common_start(a, b, i, i_end, j, j_end)
        if start:
            yield i, j, start
            i, j = i + start, j + start
        end = _common_end(a, b, i, i_end, j, j_end)
        if end:
            i_end, j_end = i_end - end, j_end - end
            yield i_end, j_end, end
        if i == i_end or j == j_end:
            continue
        region = (i, i_end, j, j_end)
        anchors = _unique(a, b, region) if depth < _MAX_DEPTH else []
        if anchors:
            stack += ((gap, depth + 1) for gap in _gaps(anchors, region))
            yield from ((x, y, 1) for x, y in anchors)
        elif (i_end - i) * (j_end - j) <= _MAX_CELLS:
            yield from _common_subsequence(a, b, region)
        else:
            yield from ((x, y, 1) for x, y in _by_occurrence(a, b, region))


def _common_start(
    a: Sequence[int], b: Sequence[int], i: int, i_end: int, j: int, j_end: int
) -> int:
    n, most = 0, min(i_end - i, j_end - j)
    while n < most and a[i + n] == b[j + n]:
        n += 1
    return n


def _common_end(a: Sequence[int], b: Sequence[int], i: int, i_end: int, j: int, j_end: int) -> int:
    n, most = 0, min(i_end - i, j_end - j)
    while n < most and a[i_end - 1 - n] == b[j_end - 1 - n]:
        n += 1
    return n


def _unique(a: Sequence[int], b: Sequence[int], region: _Region) -> list[tuple[int, int]]:
    """The longest ascending chain of the items that occur once on both sides of ``region``."""
    i, i_end, j, j_end = region
    once = _once(a, i, i_end)
    other = _once(b, j, j_end)
    pairs = ((x, y) for item, x in once.items() if x >= 0 and (y := other.get(item, -1)) >= 0)
    return _ascending(sorted(pairs))


def _once(items: Sequence[int], start: int, end: int) -> dict[int, int]:
    """Where each item is, or -1 where it is more than once."""
    where: dict[int, int] = {}
    for at in range(start, end):
        item = items[at]
        where[item] = -1 if item in where else at
    return where


def _by_occurrence(a: Sequence[int], b: Sequence[int], region: _Region) -> list[tuple[int, int]]:
    """Align the first of an item with the first, the second with the second, as far as they ascend."""
    i, i_end, j, j_end = region
    places: dict[int, list[int]] = {}
    for y in range(j_end - 1, j - 1, -1):
        places.setdefault(b[y], []).append(y)
    pairs = [(x, found.pop()) for x in range(i, i_end) if (found := places.get(a[x]))]
    return _ascending(pairs)


def _ascending(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest chain of ``pairs``, which ascend on the left, that ascends on the right as well."""
    ends: list[int] = []
    tops: list[int] = []
    before = [-1] * len(pairs)
    for at, (_, y) in enumerate(pairs):
        pile = bisect_left(ends, y)
        before[at] = tops[pile - 1] if pile else -1
        ends[pile : pile + 1] = [y]
        tops[pile : pile + 1] = [at]
    chain: list[tuple[int, int]] = []
    at = tops[-1] if tops else -1
    while at >= 0:
        chain.append(pairs[at])
        at = before[at]
    return chain[::-1]


def _gaps(anchors: Sequence[tuple[int, int]], region: _Region) -> Iterator[_Region]:
    i, i_end, j, j_end = region
    for x, y in (*anchors, (i_end, j_end)):
        if x > i and y > j:
            yield i, x, j, y
        i, j = x + 1, y + 1


def _common_subsequence(a: Sequence[int], b: Sequence[int], region: _Region) -> Iterator[Block]:
    i, i_end, j, j_end = region
    for op in LCSseq.opcodes(a[i:i_end], b[j:j_end]):
        if op.tag == "equal":
            yield i + op.src_start, j + op.dest_start, op.src_end - op.src_start


def _settled(a: Sequence[int], b: Sequence[int], blocks: list[Block]) -> list[Block]:
    """Let each block grow over what follows it in both: gaps may have been cut between equals."""
    grown: list[Block] = []
    for at, (i, j, n) in enumerate(blocks):
        next_i, next_j, _ = blocks[at + 1] if at + 1 < len(blocks) else (len(a), len(b), 0)
        more = _common_start(a, b, i + n, next_i, j + n, next_j)
        grown.append((i, j, n + more))
    return grown


def _joined(blocks: Sequence[Block]) -> list[Block]:
    joined: list[Block] = []
    for i, j, n in blocks:
        if joined and joined[-1][0] + joined[-1][2] == i and joined[-1][1] + joined[-1][2] == j:
            joined[-1] = (joined[-1][0], joined[-1][1], joined[-1][2] + n)
        else:
            joined.append((i, j, n))
    return joined
