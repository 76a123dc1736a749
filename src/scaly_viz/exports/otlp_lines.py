"""Owns the export to OTLP JSON lines: one span a line, as it was recorded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from scaly_viz.exports.chosen import Chosen
from scaly_viz.exports.formats import Options


def write(chosen: Iterable[Chosen], options: Options) -> Iterator[bytes]:
    """Yield the lines of each recording, its root last where that was recorded so."""
    for each in chosen:
        yield from each.lines
