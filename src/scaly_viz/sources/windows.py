"""Owns paging through a backend that can only be asked for a span of time and a number of traces."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Protocol

from scaly_viz.sources.lines import Report

_FIRST_NS = 3600 * 10**9
# So many are asked for where a window is not cut any further.
_CROWD = 1000
_CROWD_TIMES = 20


class Found(Protocol):
    """A trace that a search found."""

    @property
    def start_ns(self) -> int:
        """When it began, in nanoseconds since the epoch."""


type Search[T: Found] = Callable[[int, int, int], Iterable[T]]
"""Finds at most so many traces with spans that began between two times; which of them is left open."""


def walk[T: Found](
    search: Search[T],
    window: tuple[int, int],
    page: int,
    *,
    narrowest_ns: int,
    widest_ns: int,
    is_enough: Callable[[int], bool],
    report: Report,
) -> Iterator[T]:
    """Yield all that ``search`` finds in ``window``, by and large the newest first; some of it twice.

    A search that finds as many as it may could have found more: its window is cut in two. So no order
    of the answers is relied upon; Jaeger's memory, say, answers by arrival. ``is_enough`` is asked
    between windows, with the time down to which all was seen.
    """
    earliest, end = window
    width = _FIRST_NS
    while end > earliest:
        begin = max(earliest, end - min(width, widest_ns))
        yield from _window(search, begin, end, page, narrowest_ns, report)
        if is_enough(begin):
            return
        end = begin
        width *= 2


def _window[T: Found](
    search: Search[T], begin: int, end: int, page: int, narrowest_ns: int, report: Report
) -> Iterator[T]:
    starts = []
    for found in search(begin, end, page):
        starts.append(found.start_ns)
        yield found
    if len(starts) < page:
        return
    if end - begin <= narrowest_ns:
        yield from _crowd(search, begin, end, max(page, min(_CROWD_TIMES * page, _CROWD)), report)
        return
    for piece in _pieces(starts, begin, end, narrowest_ns):
        yield from _window(search, *piece, page, narrowest_ns, report)


def _crowd[T: Found](
    search: Search[T], begin: int, end: int, most: int, report: Report
) -> Iterator[T]:
    """Yield what begins so close together that time does not tell it apart."""
    count = 0
    for found in search(begin, end, most):
        count += 1
        yield found
    if count >= most:
        report(f"{most:,} traces or more begin at {begin / 1e9:.3f}; some may be left out")


def _pieces(
    starts: Sequence[int], begin: int, end: int, narrowest_ns: int
) -> list[tuple[int, int]]:
    """Return smaller windows, the latest first: cut where what was found is halved, or around it."""
    first, last = max(min(starts), begin), min(max(starts), end)
    margin = narrowest_ns // 2
    if first <= last and 4 * (last - first + 2 * margin) < end - begin:
        around = max(first - margin, begin), min(last + margin, end)
        pieces = [(around[1], end), around, (begin, around[0])]
        return [piece for piece in pieces if piece[0] < piece[1]]
    median = sorted(starts)[len(starts) // 2]
    margin = max((end - begin) // 8, margin)
    middle = min(max(median, begin + margin), end - margin)
    return [(middle, end), (begin, middle)]
