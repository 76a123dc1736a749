"""The server: where it listens, what it says, how it ends."""

from __future__ import annotations

import contextlib
import json
import re
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from scaly_viz import serve
from scaly_viz.errors import ScalyVizError
from scaly_viz_viewer.server import is_reachable_by_others, listen, url_of

from .recorded import Recorder
from .serving import serving


def test_a_free_port_is_told_and_ctrl_c_ends_quietly(path: Path, recorder: Recorder) -> None:
    key = recorder.record()
    with serving(path) as url:
        assert re.fullmatch(r"http://127\.0\.0\.1:[1-9]\d+/", url)
        with urllib.request.urlopen(f"{url}api/v1/recordings") as response:
            assert "Server" not in response.headers
            assert [r["id"] for r in json.load(response)["recordings"]] == [key]


@pytest.mark.parametrize(
    "head",
    [
        "GET / HTTP/1.1\r\nHost: evil.example",
        "GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example",
        "GET / HTTP/1.0",
        "GET http://localhost/ HTTP/1.1\r\nHost: evil.example",
        "GET / HTTP/1.1\r\nHost: evil.example\r\nX-Forwarded-Host: localhost",
        "GET /static/app.js HTTP/1.1\r\nHost: evil.example",
    ],
)
def test_a_foreign_host_is_refused_over_the_wire(url: str, head: str) -> None:
    assert status_line(url, head) == "421 MISDIRECTED REQUEST"


@pytest.mark.parametrize(
    ("target", "status"),
    [
        ("/", "200 OK"),
        ("/api/v1/recordings", "200 OK"),
        ("/static/../app.py", "404 NOT FOUND"),
        ("/static/%2e%2e/app.py", "404 NOT FOUND"),
        ("/static/..%2fapp.py", "404 NOT FOUND"),
        ("//etc/passwd", "404 NOT FOUND"),
        ("/api/v1/recordings/%ff%fe", "404 NOT FOUND"),
        ("/api/v1/recordings/%00", "404 NOT FOUND"),
    ],
)
def test_odd_targets_reach_nothing_over_the_wire(url: str, target: str, status: str) -> None:
    assert status_line(url, f"GET {target} HTTP/1.1\r\nHost: localhost") == status


def status_line(url: str, head: str) -> str:
    """Send a request as it is and return the first line of the answer, without the version."""
    port = int(url.rstrip("/").rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port), 30) as connection:
        connection.sendall(f"{head}\r\nConnection: close\r\n\r\n".encode())
        return connection.makefile().readline().rstrip().partition(" ")[2]


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serving(tmp_path_factory.mktemp("served") / "recordings.jsonl") as address:
        yield address


def test_only_loopback_is_listened_on(path: Path) -> None:
    with serving(path) as url:
        port = int(url.rstrip("/").rpartition(":")[2])
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as other:
            # 127.0.0.2 is this machine too, but not where we listen.
            assert other.connect_ex(("127.0.0.2", port)) != 0


def test_a_port_in_use_is_said_in_one_line(path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ScalyVizError) as caught:
            serve(port=port, path=path)
    assert str(caught.value) == (
        f"port {port} of 127.0.0.1 is in use: stop what listens there, or choose another with"
        " --port (0 takes a free one)"
    )


@pytest.mark.parametrize(
    ("host", "port"),
    [("no-such-host.invalid", 0), ("192.0.2.1", 0), ("x" * 300, 0), ("127.0.0.1", 70_000)],
)
def test_what_cannot_be_listened_on_is_said_in_one_line(host: str, port: int) -> None:
    with pytest.raises(ScalyVizError) as caught:
        listen(host, port)
    start = f"cannot listen on {host}:{port}: "
    assert str(caught.value).startswith(start)
    assert len(str(caught.value)) > len(start)
    assert "\n" not in str(caught.value)


def test_a_port_can_be_used_again_at_once(path: Path) -> None:
    with serving(path) as url:
        urllib.request.urlopen(url).close()
    port = int(url.rstrip("/").rpartition(":")[2])
    listen("127.0.0.1", port).close()


@pytest.mark.parametrize(
    ("host", "url", "reachable"),
    [
        ("127.0.0.1", "http://127.0.0.1:8000/", False),
        ("127.0.0.2", "http://127.0.0.2:8000/", False),
        ("localhost", "http://localhost:8000/", False),
        ("::1", "http://[::1]:8000/", False),
        ("[::1]", "http://[::1]:8000/", False),
        ("0.0.0.0", "http://127.0.0.1:8000/", True),
        ("", "http://127.0.0.1:8000/", True),
        ("::", "http://[::1]:8000/", True),
        ("box.example", "http://box.example:8000/", True),
        ("192.0.2.7", "http://192.0.2.7:8000/", True),
    ],
)
def test_the_address_that_is_told_leads_there(host: str, url: str, reachable: bool) -> None:
    assert url_of(host, 8000) == url
    assert is_reachable_by_others(host) is reachable


def test_the_browser_is_opened_on_request(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = tmp_path / "opened"
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" > {opened}.new && mv {opened}.new {opened}\n')
    browser.chmod(0o700)
    monkeypatch.setenv("BROWSER", str(browser))
    code = "import scaly_viz; scaly_viz.serve(port=0, open_browser=True)"
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        wait = f"while ! [ -e {opened} ]; do :; done; kill -INT {process.pid}"
        subprocess.run(["sh", "-c", wait], check=True, timeout=60)
    assert opened.read_text().strip() in line


def test_importing_the_viewer_imports_none_of_its_parts() -> None:
    heavy = (
        "flask",
        "waitress",
        "msgspec",
        "zstandard",
        "opentelemetry",
        "scaly",
        "scaly_viz.sources",
    )
    code = f"import sys, scaly_viz_viewer; print([m for m in {heavy} if m in sys.modules])"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert printed.stdout == b"[]\n"


def test_serving_needs_neither_scaly_nor_the_sdk() -> None:
    code = (
        "import sys, scaly_viz_viewer; scaly_viz_viewer.create_app();"
        "print([m for m in ('scaly', 'opentelemetry.sdk') if m in sys.modules])"
    )
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert printed.stdout == b"[]\n"


def test_a_server_that_is_stopped_under_load_says_nothing(path: Path) -> None:
    # ``serving`` stops it, and expects it to end quietly.
    request = b"GET /api/v1/recordings HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with contextlib.ExitStack() as opened, serving(path) as address:
        place = urlsplit(address)
        connections = [
            opened.enter_context(socket.create_connection((place.hostname, place.port), timeout=30))
            for _ in range(60)
        ]
        for connection in connections:
            connection.sendall(request)
        assert connections[0].recv(12) == b"HTTP/1.1 200"
