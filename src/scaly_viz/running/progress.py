"""Owns the line that says how far a long compile is: below the cursor, which stays where the script has put it."""

from __future__ import annotations

import os
import shutil
import sys
import threading
import time
from dataclasses import dataclass
from types import TracebackType

from scaly_viz import attributes as a
from scaly_viz.running import standard_error
from scaly_viz.running.config import RunConfig
from scaly_viz.span_record import SpanRecord

# A compile that is over sooner needs no line.
PATIENCE_S = 1.0
_REST_S = 0.2

# Down and up again, in the same column: the terminal scrolls if there is no line below.
_ROOM_BELOW = "\x1bD\x1b[A"
_SAVE, _RESTORE = "\x1b7", "\x1b8"
_NEXT_LINE = "\x1b[B\r\x1b[2K"
# What is left of our line where another thread has printed into it.
_CLEAR_REST = "\x1b[K"


@dataclass(slots=True)
class _Render:
    name: str
    began: float
    step: str = ""
    steps: int = 0
    nodes: int = 0


class Progress:
    """The renders that run now, and the line about the one that has run longest."""

    def __init__(self, config: RunConfig) -> None:
        self._config = config
        # Reentrant: a signal handler of the script may render in the middle of this.
        self._lock = threading.RLock()
        self._renders: dict[str, _Render] = {}
        self._is_drawn = False
        self._drawn_at = 0.0

    def began(self, recording: str, name: str) -> None:
        """Take note of a render."""
        with self._lock:
            self._renders[recording] = _Render(name, time.monotonic())

    def took(self, recording: str, step: str) -> None:
        """Take note of a step."""
        render = self._renders.get(recording)
        if render is not None:
            render.step, render.steps = step, render.steps + 1

    def wrote(self, span: SpanRecord) -> None:
        """Take note of the size of a step's graph, which is counted when the step is written."""
        render = self._renders.get(str(span.attributes[a.RECORDING_ID]))
        nodes = span.attributes.get(a.GRAPH_NODES)
        if render is not None and isinstance(nodes, int):
            render.nodes = nodes

    def ended(self, recording: str) -> None:
        """Forget a render, and its line."""
        with self._lock:
            self._renders.pop(recording, None)
            if not self._renders:
                self.erase()

    def tick(self) -> None:
        """Draw the line, where there is something to be said, and a while after the last time."""
        now = time.monotonic()
        if now - self._drawn_at < _REST_S or os.getpid() != self._config.process:
            return
        with self._lock:
            renders = list(self._renders.values())
            longest = min(renders, key=lambda render: render.began, default=None)
            if longest is None or now - longest.began < PATIENCE_S:
                return
            if standard_error.is_terminal(self._config.stderr):
                self._drawn_at = now
                self._draw(_line(longest, now, len(renders) - 1))

    def erase(self) -> None:
        """Take the line away."""
        with self._lock:
            if self._is_drawn:
                self._is_drawn = False
                self._write(_CLEAR_REST + _ROOM_BELOW + _SAVE + _NEXT_LINE + _RESTORE)
                if sys.excepthook == self._excepthook:
                    sys.excepthook = sys.__excepthook__

    def _draw(self, line: str) -> None:
        width = shutil.get_terminal_size().columns - 1
        below = f"{_SAVE}{_NEXT_LINE}{line[:width]}{_RESTORE}"
        self._write(_CLEAR_REST + _ROOM_BELOW + below)
        self._is_drawn = True
        if sys.excepthook is sys.__excepthook__:
            sys.excepthook = self._excepthook

    def _excepthook(
        self, kind: type[BaseException], error: BaseException, trace: TracebackType | None
    ) -> None:
        """Clear the way for the traceback of an interrupted compile, which holds on to the render."""
        self._renders.clear()
        self.erase()
        sys.__excepthook__(kind, error, trace)

    def _write(self, text: str) -> None:
        standard_error.write(text, self._config.stderr)


def _line(render: _Render, now: float, others: int) -> str:
    """Return what is known of ``render``, in one line of printable characters."""
    steps = f"{render.steps} step{'' if render.steps == 1 else 's'}"
    parts = [steps + (f", last {render.step}" if render.step else "")]
    if render.nodes:
        parts.append(f"{render.nodes:,} nodes")
    parts.append(f"{now - render.began:.0f} s")
    if others:
        parts.append(f"and {others} more")
    line = f"scaly-viz: {render.name}: {', '.join(parts)}"
    return "".join(c if c.isprintable() else "?" for c in line)
