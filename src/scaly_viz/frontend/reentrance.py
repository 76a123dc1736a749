"""Owns noticing that a call comes from within our own work on the same thread.

Signal handlers, log handlers and exporters may call the public functions at any moment. Where they
interrupt our own code, which may hold what the encoder's thread needs, to wait for it could take for ever.
"""

from __future__ import annotations

import sys
from types import FrameType

_OURS = ("scaly_viz", "scaly_viz_exporters")


def reentrant() -> bool:
    """Return whether the caller's stack has left our code, and is in it again further out."""
    frame: FrameType | None = sys._getframe(1)
    left = False
    while frame is not None:
        ours = str(frame.f_globals.get("__name__", "")).partition(".")[0] in _OURS
        if ours and left:
            return True
        left = left or not ours
        frame = frame.f_back
    return False
