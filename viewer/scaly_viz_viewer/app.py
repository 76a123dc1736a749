"""Owns the making of the Flask application: what it serves, and who may ask."""

from __future__ import annotations

import os
from collections.abc import Sequence

from flask import Flask, Response, request
from werkzeug.exceptions import HTTPException

from scaly_viz_viewer.api import STREAMS, api
from scaly_viz_viewer.api_find import find_api
from scaly_viz_viewer.api_graph import graph_api
from scaly_viz_viewer.api_text import text_api
from scaly_viz_viewer.catalog import Catalog, paths_of
from scaly_viz_viewer.config import Config
from scaly_viz_viewer.hosts import hosts_of
from scaly_viz_viewer.pages import nowhere, pages
from scaly_viz_viewer.requested import EXTENSION
from scaly_viz_viewer.responses import ApiError, error_response, finish
from scaly_viz_viewer.streams import Streams


def make_app(
    source: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | None,
    config: Config | None,
) -> Flask:
    """Return the application for ``source``; see ``scaly_viz_viewer.create_app``."""
    return app_of(Catalog(paths_of(source)), config or Config())


def app_of(catalog: Catalog, config: Config) -> Flask:
    """Return the application that shows the recordings of ``catalog``."""
    app = Flask("scaly_viz_viewer", static_folder=None)
    app.url_map.merge_slashes = False  # the name of a kind may contain any
    app.extensions[EXTENSION] = catalog
    app.extensions[STREAMS] = Streams()
    hosts = hosts_of(config.host)

    @app.before_request
    def check_host() -> None:
        if not hosts.allow(request.environ.get("HTTP_HOST")):
            raise ApiError(
                421,
                "host_not_allowed",
                "the Host header names neither this machine's loopback nor the viewer's --host",
            )

    app.after_request(finish)
    app.register_error_handler(HTTPException, _answer_error)
    app.register_blueprint(api)
    app.register_blueprint(graph_api)
    app.register_blueprint(text_api)
    app.register_blueprint(find_api)
    app.register_blueprint(pages)
    return app


def _answer_error(error: HTTPException) -> Response:
    # A person who has mistyped an address reads the page, a program JSON.
    is_read = "text/html" in request.headers.get("Accept", "")
    is_page = error.code == 404 and not request.path.startswith(("/api/", "/static/"))
    return (nowhere() if is_read and is_page else None) or error_response(error)
