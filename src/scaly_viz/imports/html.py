"""Owns reading the lines of recordings that a page of HTML has inside."""

from __future__ import annotations

import binascii
from collections.abc import Iterator
from pathlib import Path

from scaly_viz.errors import RecordingFileError
from scaly_viz.exports.embedding import START
from scaly_viz.sources.lines import LineSplitter, Report, overlong
from scaly_viz.sources.snapshot import open_file
from scaly_viz.sources.streams import content

_END = b"<"
_GENERATOR = b'<meta name="generator" content="scaly-viz '


def lines(path: Path, report: Report) -> Iterator[bytes]:
    """Yield the lines that the page ``path`` has inside; of a damaged page those before the damage.

    Raises:
        RecordingFileError: the page has none.
    """
    file = open_file(path, report)
    if file is None:
        return
    with file:
        element = _Element(content(file.read, lambda cause: report(f"{path.name}: {cause}")))
        if not element.is_found():
            why = "was not made by scaly-viz export: no recordings are in it"
            if element.is_ours:
                why = "is cut short: the recordings, which stand at its end, are not in it"
            raise RecordingFileError(f"{path}: this page {why}")
        splitter = LineSplitter(overlong(path.name, report))
        for chunk in content(element.read, lambda cause: report(f"{path.name}: {cause}")):
            yield from (line.data for line in splitter.feed(chunk))
        rest = splitter.rest()
        if rest:
            yield rest.data


class _Element:
    """The decoded content of the element with the lines, in a page that comes in ``chunks``."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._held = b""
        self._is_over = False
        self.is_ours = False
        """Whether what came so far says that ``scaly-viz export`` has made the page."""

    def is_found(self) -> bool:
        """Go to where the content begins."""
        start = START.encode()
        for chunk in self._chunks:
            before, found, self._held = (self._held + chunk).partition(start)
            self.is_ours |= _GENERATOR in before
            if found:
                return True
            self._held = before[-len(start) :]
        return False

    def read(self, count: int) -> bytes:
        """Return some bytes of the content, none at its end."""
        while not self._is_over and len(self._held) < 4 * count and _END not in self._held:
            chunk = next(self._chunks, b"")
            self._is_over = not chunk
            self._held += chunk
        text, end, _ = self._held.partition(_END)
        self._is_over |= bool(end)
        usable = len(text) // 4 * 4
        self._held = b"" if end else text[usable:]
        try:
            return binascii.a2b_base64(text[:usable])
        except binascii.Error as error:
            raise OSError(0, f"the recordings in it are damaged: {error}") from error
