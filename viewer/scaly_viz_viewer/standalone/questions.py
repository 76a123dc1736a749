"""Owns asking the application what a page asks it, without a server in between."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote, urlencode

import msgspec
from flask import Flask

_BASE = "/api/v1/"

type Json = Any  # what msgspec.json.decode returns


class Refused(Exception):
    """An answer that is not the one asked for: ``why`` is its status, code and message."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.why = status, code, message


class Questions:
    """Answers of the API, by the addresses that the page uses, without what comes before them."""

    def __init__(self, app: Flask) -> None:
        self._client = app.test_client()

    def json(self, path: str, **parameters: str) -> Json:
        """Return the JSON at ``path``.

        Raises:
            Refused: there is none.
        """
        query = f"?{urlencode(parameters)}" if parameters else ""
        return msgspec.json.decode(self.content(f"{path}{query}")[0])

    def content(self, path: str) -> tuple[bytes, str]:
        """Return what is at ``path`` and its media type.

        Raises:
            Refused: there is nothing.
        """
        answer = self._client.get(_BASE + path)
        if answer.status_code == 200:
            return answer.data, answer.content_type or ""
        error = msgspec.json.decode(answer.data)["error"]
        raise Refused(answer.status_code, error["code"], error["message"])


def recording_path(key: str, *parts: str | int) -> str:
    """Return the address of something of a recording, as the page writes it."""
    return "/".join(["recordings", quote(key, safe=""), *map(str, parts)])


def kind_part(kind: str) -> str:
    """Return a kind as a part of an address, as ``encodeURIComponent`` writes it."""
    return quote(kind, safe="-_.!~*'()", errors="replace")
