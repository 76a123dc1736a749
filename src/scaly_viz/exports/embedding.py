"""Owns the lines of recordings inside a page of HTML, by which the page can be imported again."""

from __future__ import annotations

import base64
from collections.abc import Iterable

from scaly_viz.exports.chosen import Chosen
from scaly_viz.exports.packing import packed

START = '<script type="application/octet-stream" id="otlp-lines">'
END = "</script>"


def embedded(chosen: Iterable[Chosen]) -> str:
    """Return an element, which browsers do not look at, with the lines of ``chosen``: base64 of zstd."""
    lines = (line for each in chosen for line in each.lines)
    return f"{START}{base64.b64encode(b''.join(packed(lines, '.zst'))).decode()}{END}"
