"""Owns the export of a step's listing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from scaly_viz.exports.chosen import Chosen
from scaly_viz.exports.formats import Options
from scaly_viz.exports.steps import text_of


def write(chosen: Iterable[Chosen], options: Options) -> Iterator[bytes]:
    """Yield the listing, byte for byte."""
    for each in chosen:
        yield text_of(each, options, "listing")
