"""Serves the viewer: ``create_app`` makes the Flask application, ``serve`` runs it until interrupted.

Importing this package imports neither Flask nor the reader; the two functions do.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flask import Flask

    from scaly_viz_viewer.config import Config

__all__ = ["create_app", "serve"]

type Source = str | os.PathLike[str]


def create_app(
    source: Source | Sequence[Source] | None = None, config: Config | None = None
) -> Flask:
    """Return a WSGI application that shows the recordings of ``source``.

    Args:
        source: a recording file or a folder of them, or several; the local file where none is given.
        config: which hosts may be asked for, how much may be kept in memory.

    Raises:
        ScalyVizError: ``source`` is neither a file nor a folder, nor could become one.
    """
    from scaly_viz_viewer.app import make_app

    return make_app(source, config)


def serve(
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    path: Source | Sequence[Source] | None = None,
    open_browser: bool = False,
    recording: str | None = None,
) -> None:
    """Serve the recordings at ``path``, by default the local file, until interrupted.

    Args:
        host: the name or address to listen on.
        port: the port to listen on; 0 takes a free one.
        path: as the ``source`` of ``create_app``.
        open_browser: open the page in the user's browser.
        recording: the id of the recording that it is opened at.

    Raises:
        ScalyVizError: the port is in use, the host is not ours, or ``path`` cannot be served.
    """
    from urllib.parse import quote

    from scaly_viz_viewer.server import run

    page = "" if recording is None else f"r/{quote(recording, safe='')}"
    run(host, port, path, open_browser=open_browser, page=page)
