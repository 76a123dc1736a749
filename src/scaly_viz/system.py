"""Owns what recordings take from the system: the time, and numbers that no other has.

Tests put their own in its place, see ``scaly_viz.testing``.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass

_RANDOM = random.SystemRandom()


def _random(bits: int) -> int:
    return _RANDOM.randrange(1, 1 << bits)


@dataclass(frozen=True, slots=True)
class System:
    """Clocks, in nanoseconds, and a source of ids: ``number`` returns one of so many bits, never zero."""

    wall_ns: Callable[[], int] = time.time_ns
    monotonic_ns: Callable[[], int] = time.perf_counter_ns
    number: Callable[[int], int] = _random


_current = [System()]


def system() -> System:
    """Return what counts now."""
    return _current[-1]


def is_replaced() -> bool:
    """Tell whether a test has put its own in the system's place."""
    return len(_current) > 1


@contextmanager
def replaced(by: System) -> Generator[None]:
    """Have ``by`` count inside the block, in all threads."""
    _current.append(by)
    try:
        yield
    finally:
        _current.remove(by)
