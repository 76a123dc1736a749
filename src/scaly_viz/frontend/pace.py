"""Owns how fast a step is encoded while its render still runs: in slices, a small share of the time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence

# The compiler needs the interpreter too.
DUTY = 0.05
# Nodes between two looks at the clock: about a millisecond's work.
CHUNK = 512
_SLICE_S = 0.003
_NAP_S = 0.05


class Pace:
    """Called often by what takes long; sleeps there, unless there is no need to wait any more."""

    def __init__(self, tick: Callable[[], None] = lambda: None) -> None:
        self._tick = tick
        self._slow = False
        self._since = 0.0

    def slow_down(self) -> None:
        """Work in slices from now on."""
        self._since = time.perf_counter()
        self._slow = True

    def hurry(self) -> None:
        """Work at full speed. Safe to call from any thread, and from a finalizer."""
        self._slow = False

    def chunks[T](self, items: Sequence[T]) -> Iterator[Sequence[T]]:
        """Yield ``items`` in chunks, with a rest before each where one is due."""
        for start in range(0, len(items), CHUNK):
            self()
            yield items[start : start + CHUNK]

    def __call__(self) -> None:
        """Rest, if the slice is used up."""
        if not self._slow:
            return
        if time.perf_counter() - self._since >= _SLICE_S:
            self.rest()

    def rest(self) -> None:
        """Make good for the time worked since the last rest, unless there is a hurry."""
        now = time.perf_counter()
        rested = now + (now - self._since) / DUTY
        while self._slow and now < rested:
            self._tick()
            time.sleep(min(_NAP_S, rested - now))
            now = time.perf_counter()
        self._since = now
