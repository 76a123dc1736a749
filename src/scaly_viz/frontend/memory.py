"""Owns noticing that steps which wait to be encoded hold too much memory."""

from __future__ import annotations

import sys

try:
    import resource
except ImportError:  # Windows has no such count: steps then wait for the render's end.
    resource = None  # type: ignore[assignment]  # the name stands for its absence

_UNIT = 1 if sys.platform == "darwin" else 1024


class MemoryBudget:
    """How much the process may grow since a render began: what waits cannot be more than that."""

    def __init__(self, max_bytes: int) -> None:
        self._limit = _peak() + max_bytes

    def exhausted(self) -> bool:
        """Return whether the process has grown beyond the budget."""
        return _peak() > self._limit


def _peak() -> int:
    """Return the process's largest resident size so far, in bytes: the one figure that costs nothing."""
    if resource is None:
        return 0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _UNIT
