"""Owns the server-sent events that tell pages of changes: https://html.spec.whatwg.org/#server-sent-events."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping

import msgspec
from flask import Response, request

from scaly_viz_viewer.catalog import Catalog
from scaly_viz_viewer.responses import ApiError

MAX_STREAMS = 24
"""Each stream takes a thread of the server; whoever gets none asks from time to time instead."""

MAX_IDS = 1000

_LOOK_S = 0.5
_HEARTBEAT_LOOKS = 30


class Change(msgspec.Struct, frozen=True):
    """What has changed since the last event; ``recordings`` is null where it is more than 1,000.

    ``total`` is how many recordings there are now.
    """

    recordings: list[str] | None
    total: int


class Streams:
    """The open streams of one application."""

    def __init__(self) -> None:
        self._free = threading.BoundedSemaphore(MAX_STREAMS)
        self._closing = threading.Event()

    def close(self) -> None:
        """End all streams soon."""
        self._closing.set()

    def response(self, catalog: Catalog) -> Response:
        """Return a response that lasts until the client has gone or the server is stopped.

        Raises:
            ApiError: there are too many streams already.
        """
        if not self._free.acquire(blocking=False):
            raise ApiError(503, "too_many_streams", "ask again for the list from time to time")
        # Only waitress tells; elsewhere the next heartbeat finds out.
        has_gone = request.environ.get("waitress.client_disconnected", lambda: False)
        response = Response(self._events(catalog, has_gone), content_type="text/event-stream")
        response.headers["Cache-Control"] = "no-store"
        response.call_on_close(self._free.release)
        return response

    def _events(self, catalog: Catalog, has_gone: Callable[[], bool]) -> Iterator[bytes]:
        seen = catalog.revisions()
        yield b": every event tells which recordings have changed\n\n"
        looks = 0
        while not (self._closing.wait(_LOOK_S) or has_gone()):
            now = catalog.revisions()
            looks += 1
            if now is not seen:
                yield _event(_change(seen, now))
                seen = now
            elif looks % _HEARTBEAT_LOOKS == 0:
                yield b": still here\n\n"


def _change(before: Mapping[str, int], now: Mapping[str, int]) -> Change:
    changed = [key for key, revision in now.items() if before.get(key) != revision]
    changed += [key for key in before if key not in now]
    return Change(changed if len(changed) <= MAX_IDS else None, len(now))


def _event(change: Change) -> bytes:
    return b"event: change\ndata: " + msgspec.json.encode(change) + b"\n\n"
