"""The stream of events, from a real server: what a page learns without asking."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from scaly_viz_exporters.json_file import delete
from scaly_viz_viewer.streams import MAX_STREAMS

from .recorded import STEPS, Recorder
from .serving import serving


class Stream:
    """An open stream of one server."""

    def __init__(self, address: str) -> None:
        self._connection = HTTPConnection(urlsplit(address).netloc, timeout=30)
        self._connection.request("GET", "/api/v1/events")
        self.response: HTTPResponse = self._connection.getresponse()

    def events(self) -> Iterator[tuple[str, dict[str, object]]]:
        """Yield name and data of each event."""
        name = ""
        for line in self.response:
            field, _, value = line.decode().rstrip("\n").partition(": ")
            if field == "event":
                name = value
            elif field == "data":
                yield name, json.loads(value)

    def until_listening(self) -> Stream:
        """Wait for the first line, from which on every change is told."""
        assert self.response.readline().startswith(b": ")
        return self

    def close(self) -> None:
        self.response.close()
        self._connection.close()


@pytest.fixture
def address(path: Path) -> Iterator[str]:
    with serving(path) as address:
        yield address


def test_a_stream_tells_of_recordings_that_come_grow_and_go(
    address: str, path: Path, recorder: Recorder
) -> None:
    stream = Stream(address).until_listening()
    assert stream.response.headers["Content-Type"] == "text/event-stream"
    assert stream.response.headers["Cache-Control"] == "no-store"
    events = stream.events()

    running = recorder.begin()
    running.add(STEPS[0])
    assert next(events) == ("change", {"recordings": [running.id], "total": 1})
    running.finish()
    assert next(events) == ("change", {"recordings": [running.id], "total": 1})
    delete(path)
    assert next(events) == ("change", {"recordings": [running.id], "total": 0})
    stream.close()


def test_a_stream_does_not_keep_the_server_from_ending(address: str) -> None:
    # The fixture ends the server and expects it to end at once and silently.
    Stream(address).until_listening().close()
    open_ = Stream(address).until_listening()
    assert open_.response.status == 200
    open_.response.close()


def test_beyond_the_limit_pages_have_to_ask_and_a_stream_that_was_left_is_free_again(
    address: str,
) -> None:
    streams = [Stream(address).until_listening() for _ in range(MAX_STREAMS)]
    refused = Stream(address)
    assert refused.response.status == 503
    assert json.loads(refused.response.read())["error"]["code"] == "too_many_streams"
    refused.close()

    streams.pop().close()
    while (freed := Stream(address)).response.status == 503:
        freed.close()
    assert freed.until_listening().response.status == 200
    for stream in (freed, *streams):
        stream.close()
