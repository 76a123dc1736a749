"""Owns noticing that steps cannot wait: they hold too much memory, or may change meanwhile."""

from __future__ import annotations

import sys

if sys.platform != "win32":
    import resource

from scaly.ir.program import const_int

# In scaly 0.1.0a1 attributes are plain dicts, and a node that is made again with attributes that
# compare equal (0.0 and -0.0, 1 and True) takes the new ones: nodes that were handed over change.
NODES_CHANGE = isinstance(const_int(0).attrs, dict)


class MemoryBudget:
    """How much the process may grow since a render began: what waits cannot be more than that."""

    def __init__(self, max_bytes: int) -> None:
        self._limit = _peak() + max_bytes

    def exhausted(self) -> bool:
        """Return whether the process has grown beyond the budget, or waiting is not safe at all."""
        return NODES_CHANGE or _peak() > self._limit


def _peak() -> int:
    """Return the process's largest resident size so far, in bytes: the one figure that costs nothing."""
    if sys.platform == "win32":
        # It keeps no such count for us to read: steps then wait for the render's end.
        return 0
    else:
        unit = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
