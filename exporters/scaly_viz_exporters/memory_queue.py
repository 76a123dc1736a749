"""Owns the lines that the disk would not take: a bounded queue in memory, for as long as the process lives."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator

from scaly_viz_exporters.parcels import Message, Parcel
from scaly_viz_exporters.span_lines import spans_of

MAX_BYTES = 64 * 1024**2


class MemoryQueue:
    """Lines in order, at most ``max_bytes`` of them."""

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self._max_bytes = max_bytes
        self._lock = threading.Lock()
        self._lines: deque[bytes] = deque()
        self.bytes = 0

    def append(self, line: bytes) -> bool:
        """Keep ``line``; return False where there is no room."""
        with self._lock:
            if self.bytes + len(line) > self._max_bytes:
                return False
            self._lines.append(line)
            self.bytes += len(line)
            return True

    def lines(self) -> bytes:
        """Return all lines."""
        with self._lock:
            return b"".join(self._lines)

    def parcels(self) -> Iterator[Parcel]:
        """Yield the lines."""
        with self._lock:
            lines = list(self._lines)
        for line in lines:
            yield Parcel(line, spans_of(line), len(line))

    def delivered(self, message: Message) -> None:
        """Forget ``message``, which is first in the queue."""
        self.forget(sum(len(parcel.line) for parcel in message))

    def refused(self, message: Message, why: str) -> None:
        """Forget ``message``: there is nowhere to keep it, and the reason was told."""
        self.delivered(message)

    def partly_rejected(self, message: Message, why: str) -> None:
        """Forget ``message``: there is nowhere to keep it, and the reason was told."""
        self.delivered(message)

    def forget(self, size: int) -> None:
        """Forget the first lines, which take ``size`` bytes."""
        with self._lock:
            while size > 0 and self._lines:
                line = self._lines.popleft()
                size -= len(line)
                self.bytes -= len(line)
