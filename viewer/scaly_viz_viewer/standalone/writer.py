"""Owns the page as a format of ``scaly-viz export``; the list of formats names this module."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from scaly_viz.exports.chosen import Chosen
from scaly_viz.exports.embedding import embedded
from scaly_viz.exports.formats import Options
from scaly_viz_viewer.standalone.page import write_html


def write(chosen: Iterable[Chosen], options: Options) -> Iterator[bytes]:
    """Yield the page that shows the chosen recordings, and has their lines inside to be imported again."""
    options.progress("reading")
    taken = [*chosen]
    page = write_html(
        [each.recording for each in taken], report=options.report, progress=options.progress
    )
    body, end, rest = page.rpartition(b"</body>")
    lines = embedded(taken).encode()
    options.progress("")
    yield from (body, lines, b"\n", end, rest)
