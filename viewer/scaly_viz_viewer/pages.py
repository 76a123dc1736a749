"""Owns the routes of the page itself: one HTML file at every address of the page, and its own assets."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from flask import Blueprint, Response

from scaly_viz_viewer.responses import ApiError, tagged

# Named here because the system's table of types can be wrong, and nosniff makes browsers obey.
_MEDIA_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".woff2": "font/woff2",
}
_NAME = re.compile(r"[0-9A-Za-z_][0-9A-Za-z_.-]{0,99}", re.ASCII)
STATIC = Path(__file__).parent / "static"
NOT_BUILT = (
    "the page is not built: in a source checkout, install the package or run"
    " `npm ci && npm run build` in viewer/web"
)

pages = Blueprint("pages", __name__)


@pages.get("/", provide_automatic_options=False)
@pages.get("/search", provide_automatic_options=False)
@pages.get("/compare", provide_automatic_options=False)
@pages.get("/r/<_key>", provide_automatic_options=False)
@pages.get("/r/<_key>/s/<_step>", provide_automatic_options=False)
def page(_key: str = "", _step: str = "") -> Response:
    """Answer the page, which reads from its address what to show."""
    return _asset("index.html") or _not_built()


def nowhere() -> Response | None:
    """Answer the page for an address that it has nothing at, which it says; None where it is not built."""
    page = _asset("index.html")
    if page is not None:
        page.status_code = 404
        page.headers["Cache-Control"] = "no-store"
    return page


@pages.get("/static/<name>", provide_automatic_options=False)
def asset(name: str) -> Response:
    """Answer one of the page's own files."""
    found = _asset(name)
    if found is None:
        raise ApiError(404, "not_found", "the page has no such file")
    return found


def _asset(name: str) -> Response | None:
    media_type = _MEDIA_TYPES.get(Path(name).suffix)
    if media_type is None or not _NAME.fullmatch(name) or not (STATIC / name).is_file():
        return None
    data = (STATIC / name).read_bytes()
    return tagged(data, media_type, hashlib.sha256(data).hexdigest())


def _not_built() -> Response:
    raise ApiError(503, "page_not_built", NOT_BUILT)
