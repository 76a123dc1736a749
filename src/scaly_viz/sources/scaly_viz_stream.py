"""Owns reading scaly.viz's format recording by recording, where a file is too big to be held as a whole."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import ijson  # type: ignore[import-untyped]  # has no types

from scaly_viz.sources.lines import Report, ReportLimit
from scaly_viz.sources.scaly_viz_json import Recording, problem_of, read_recordings
from scaly_viz.sources.snapshot import open_file
from scaly_viz.sources.streams import content, is_compressed

# Up to this size a file is read at once, which finds more in a damaged one.
WHOLE_BYTES = 64 * 1024**2
# About what compression makes of such a file.
_RATIO = 30


def recordings_one_by_one(path: Path, report: Report) -> Iterator[Recording]:
    """Yield the recordings in ``path``; memory is bounded by ``WHOLE_BYTES``, or the largest of them.

    What cannot be read is left out and passed to ``report``.
    """
    file = open_file(path, report)
    if file is None:
        return
    with file:
        head = file.read(8)
        times = _RATIO if is_compressed(head) else 1
        is_big = path.stat().st_size * times > WHOLE_BYTES
        file.seek(0)
        if is_big:
            limit = ReportLimit(path.name, report)
            yield from _streamed(file, path.name, limit)
            limit.close()
            return
    yield from read_recordings(path, report)


def _streamed(file: io.FileIO, name: str, report: Report) -> Iterator[Recording]:
    count = 0
    content_of = _Content(file, lambda cause: report(f"{name}: {cause}"))
    try:
        for value in ijson.items(content_of, "item", use_float=True):
            count += 1
            problem = problem_of(value)
            if problem:
                report(f"{name}: item {count} of the list: {problem}; it was left out")
            else:
                yield value
    except (ijson.JSONError, UnicodeDecodeError) as error:
        cause = str(error).partition("\n")[0][:100]
        report(f"{name}: behind item {count} of the list: {cause}; the rest was left out")


class _Content:
    """The decompressed bytes as the file that ijson reads."""

    def __init__(self, file: io.FileIO, damaged: Report) -> None:
        self._chunks = content(file.read, damaged)

    def read(self, count: int) -> bytes:
        """Return some bytes, none at the end."""
        return next(self._chunks, b"") if count else b""
