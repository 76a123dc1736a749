"""Owns the memory of what was delivered where, so that a repeated ``scaly-viz ship`` sends nothing twice.

One file a backend, in ``shipped/`` of the recording folder: 24 bytes a span, its trace id and span id.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from opentelemetry.sdk.trace import ReadableSpan

from scaly_viz_exporters.file_lock import claim, writers_lock
from scaly_viz_exporters.line_file import open_to_append
from scaly_viz_exporters.private_files import make_private_folder

FOLDER_NAME = "shipped"
# 2.8 million spans, a hundred thousand recordings: beyond it the older half is forgotten.
MAX_BYTES = 64 * 1024**2

_KEY_BYTES = 24
_LOCK_TIMEOUT_S = 2.0


class Shipped:
    """What was delivered to the backend at ``url``, as known in ``folder``, the recording folder."""

    def __init__(self, folder: Path, url: str) -> None:
        self._folder = folder / FOLDER_NAME
        name = hashlib.sha256(url.encode("utf-8", "surrogatepass")).hexdigest()[:16]
        self._path = self._folder / f"{name}.ids"

    def keys(self) -> set[bytes]:
        """Return the keys of all spans that are known to be delivered."""
        try:
            data = self._path.read_bytes()
        except FileNotFoundError:
            return set()
        return {
            data[at : at + _KEY_BYTES] for at in range(0, len(data) - _KEY_BYTES + 1, _KEY_BYTES)
        }

    def note(self, spans: Iterable[ReadableSpan]) -> None:
        """Remember that ``spans`` are delivered.

        Raises:
            OSError: it cannot be written.
        """
        keys = b"".join(map(key_of, spans))
        make_private_folder(self._folder.parent)
        make_private_folder(self._folder)
        with writers_lock(self._path, _LOCK_TIMEOUT_S), open_to_append(self._path) as file:
            # Of a key that a killed process has written half, the rest would shift all others.
            size = file.seek(0, os.SEEK_END) // _KEY_BYTES * _KEY_BYTES
            file.truncate(size)
            if size > MAX_BYTES:
                file.seek(size // _KEY_BYTES // 2 * _KEY_BYTES)
                keys = file.read() + keys
                file.truncate(0)
            file.write(keys)

    @contextmanager
    def shipping(self) -> Iterator[bool]:
        """Be the only ``ship`` to this backend; yield False where another is."""
        make_private_folder(self._folder.parent)
        make_private_folder(self._folder)
        with claim(self._path.with_suffix(".lock")) as claimed:
            yield claimed


def key_of(span: ReadableSpan) -> bytes:
    """Return what ``span`` is known by."""
    context = span.get_span_context()
    if context is None:
        return bytes(_KEY_BYTES)
    return context.trace_id.to_bytes(16) + context.span_id.to_bytes(8)
