"""Owns the HTML file: the page's own program, compressed, the blocks of an archive, and its policy.

Nothing is loaded from anywhere: the policy, in a ``meta`` element, allows the one script that unpacks
the page, and the program and the style that it finds inside, by their digests.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import html
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from scaly_viz.errors import ScalyVizError
from scaly_viz.recording import Recording
from scaly_viz_viewer.pages import NOT_BUILT, STATIC
from scaly_viz_viewer.responses import encode_json, well_formed
from scaly_viz_viewer.standalone.archive import Archive

_FONT = re.compile(r"url\(\"?/static/([\w.-]+\.woff2)\"?\)")
_WORKERS = ("graph",)
# What may be left out where there is too much of it is worked out for about so long.
_SECONDS = 60.0

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="scaly-viz {version}">
<title>{title}</title>
<link rel="icon" href="{icon}">
</head>
<body>
<div id="app"></div>
<noscript>This page needs JavaScript.</noscript>
{blocks}
<script type="application/octet-stream" id="assets">{assets}</script>
<script type="module">{boot}</script>
</body>
</html>
"""


def write_html(
    recordings: Sequence[Recording],
    *,
    source: str = "this file",
    seconds: float = _SECONDS,
    report: Callable[[str], None] | None = None,
    progress: Callable[[str], None] | None = None,
) -> bytes:
    """Return a page that shows ``recordings`` without a server: one HTML file.

    Args:
        recordings: what it shows; the page begins with the list where there are several.
        source: what the page names as the place that they come from.
        seconds: for how long values and differences may be worked out, for each recording.
        report: takes a line on whatever had to be left out.
        progress: takes what is being worked out, recording by recording.

    Raises:
        ScalyVizError: there is no recording, or the page is not built.
    """
    if not recordings:
        raise ScalyVizError("there is no recording to export")
    program = _Program.read()
    tell = progress or (lambda _: None)
    archive = Archive(recordings, source, seconds, tell)
    tell("compressing the page")
    if report is not None:
        for note in archive.notes:
            report(note)
    return _page(_title(archive), program, archive)


def _title(archive: Archive) -> str:
    first, *others = archive.summaries
    name = well_formed(first.name or first.id)
    return f"{name} and {len(others)} more" if others else name


@dataclass(frozen=True, slots=True)
class _Program:
    """The page's own program, as it is built: read before all that takes long, as it may not be there."""

    app: str
    boot: str
    style: str
    workers: dict[str, str]

    @classmethod
    def read(cls) -> _Program:
        workers = {name: _asset(f"{name}.worker.js") for name in _WORKERS}
        return cls(_asset("app.js"), _asset("boot.js"), _style(), workers)


def _page(title: str, program: _Program, archive: Archive) -> bytes:
    assets = {"style": program.style, "app": program.app, "workers": program.workers}
    page = _PAGE.format(
        policy=html.escape(_policy(program)),
        version=_version(),
        title=html.escape(f"{title} - scaly-viz"),
        icon=_data_url("image/svg+xml", (STATIC / "icon.svg").read_bytes()),
        blocks="\n".join(_blocks(archive)),
        assets=_compressed(encode_json(assets)),
        boot=program.boot,
    )
    return page.encode()


def _version() -> str:
    from scaly_viz import __version__

    return __version__


def _asset(name: str) -> str:
    try:
        return (STATIC / name).read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise ScalyVizError(NOT_BUILT) from error


def _style() -> str:
    """The style with its fonts inside."""
    return _FONT.sub(
        lambda font: f"url({_data_url('font/woff2', (STATIC / font[1]).read_bytes())})",
        _asset("style.css"),
    )


def _policy(program: _Program) -> str:
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src {_hash(program.boot)} {_hash(program.app)}",
            f"style-src {_hash(program.style)}",
            "worker-src blob:",  # its program is inside of the page
            "img-src data:",
            "font-src data:",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _blocks(archive: Archive) -> Iterator[str]:
    for name, block in archive.blocks.items():
        content = _compressed(block.encoded())
        yield f'<script type="application/octet-stream" data-block="{name}">{content}</script>'


def _compressed(data: bytes) -> str:
    return base64.b64encode(gzip.compress(data, 9, mtime=0)).decode()


def _data_url(media_type: str, data: bytes) -> str:
    return f"data:{media_type};base64,{base64.b64encode(data).decode()}"
