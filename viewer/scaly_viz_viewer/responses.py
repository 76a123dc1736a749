"""Owns what all responses share: JSON, tags for caches, compression, and the security headers."""

from __future__ import annotations

import gzip
import hashlib
import re
from typing import Any

import msgspec
from flask import Response, request
from werkzeug.exceptions import HTTPException

_GZIP_FROM_BYTES = 1024
_GZIP_LEVEL = 1  # the way is short
_COMPRESSIBLE = re.compile(r"text/.*|application/json|image/svg\+xml")

CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "connect-src 'self'",
        "img-src 'self' data:",
        "font-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)
SECURITY_HEADERS = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
# A page asks with the first for answers 400, 404 and 422 that browsers do not take for failures; the
# second then says which it is.
ERRORS_AS_ANSWERS = "Scaly-Viz-Errors"
ERROR_STATUS = "Scaly-Viz-Status"
_EXPECTED = (400, 404, 422)
REVALIDATE = "no-cache"
IMMUTABLE = "private, max-age=31536000, immutable"


class ApiError(HTTPException):
    """An answer other than the one that was asked for: ``slug`` for programs, ``message`` for people."""

    def __init__(self, status: int, slug: str, message: str) -> None:
        super().__init__(message)
        self.code = status
        self.slug = slug


def encode_json(value: object) -> bytes:
    """Return ``value`` as JSON; a lone surrogate, which UTF-8 cannot carry, becomes U+FFFD."""
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        return msgspec.json.encode(_without_surrogates(msgspec.to_builtins(value)))


def well_formed(text: str) -> str:
    """Return ``text`` with U+FFFD in place of each lone surrogate, as of a name that is not UTF-8."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _without_surrogates(value: Any) -> Any:  # what to_builtins returns
    if isinstance(value, str):
        return well_formed(value)
    if isinstance(value, dict):
        return {_without_surrogates(k): _without_surrogates(v) for k, v in value.items()}
    return [_without_surrogates(v) for v in value] if isinstance(value, list) else value


def json_response(value: object, status: int = 200) -> Response:
    """Return ``value`` as a JSON response that a client may keep, but asks about before each use."""
    data = encode_json(value)
    return tagged(data, "application/json", hashlib.sha256(data).hexdigest(), status=status)


def tagged(
    data: bytes, media_type: str, tag: str, cache: str = REVALIDATE, *, status: int = 200
) -> Response:
    """Return ``data`` as a response with an entity tag."""
    response = Response(data, status, content_type=media_type)
    response.headers["Cache-Control"] = cache
    response.set_etag(tag)
    return response


def error_response(error: HTTPException) -> Response:
    """Return ``error`` as JSON."""
    slug = error.slug if isinstance(error, ApiError) else error.name.lower().replace(" ", "_")
    body = {"error": {"code": slug, "message": error.description or error.name}}
    status = error.code or 500
    is_answer = status in _EXPECTED and request.headers.get(ERRORS_AS_ANSWERS) == "200"
    response = Response(
        encode_json(body), 200 if is_answer else status, content_type="application/json"
    )
    if is_answer:
        response.headers[ERROR_STATUS] = str(status)
    response.headers["Cache-Control"] = "no-store"
    for name, value in error.get_headers():
        if name == "Allow":
            response.headers[name] = value
    return response


def finish(response: Response) -> Response:
    """Compress ``response``, answer a condition of the request, and add the security headers."""
    response.headers.update(SECURITY_HEADERS)
    if response.is_streamed:
        return response
    if _COMPRESSIBLE.match(response.mimetype or ""):
        response.vary.add("Accept-Encoding")
        _compress(response)
    if response.status_code == 200:
        response.make_conditional(request)
    return response


def _compress(response: Response) -> None:
    data = response.get_data()
    if len(data) < _GZIP_FROM_BYTES or not request.accept_encodings.quality("gzip"):
        return
    response.set_data(gzip.compress(data, _GZIP_LEVEL, mtime=0))
    response.headers["Content-Encoding"] = "gzip"
    tag, _ = response.get_etag()
    if tag is not None:
        response.set_etag(tag, weak=True)  # the tag names the content, not these bytes
