"""Owns waiting for a thread's end as the system sees it."""

from __future__ import annotations

import threading
import time
from pathlib import Path

_LONGEST_S = 0.25


def await_end(thread: threading.Thread) -> None:
    """Wait until Linux, too, has forgotten a thread that was joined: CPython asks it before it warns of a fork."""
    task = Path(f"/proc/self/task/{thread.native_id}")
    deadline = time.monotonic() + _LONGEST_S
    while task.exists() and time.monotonic() < deadline:
        time.sleep(0.0002)
