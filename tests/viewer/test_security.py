"""What the server refuses: foreign names, other methods, files that are not its own."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from scaly_viz_viewer import create_app
from scaly_viz_viewer.config import Config
from scaly_viz_viewer.hosts import hosts_of

from .recorded import Recorder

EXPECTED = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self';"
        " img-src 'self' data:; font-src 'self'; base-uri 'none'; form-action 'none';"
        " frame-ancestors 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
LOOPBACK = ["localhost", "LOCALHOST:8000", "127.0.0.1", "127.0.0.1:1", "[::1]", "[0:0::1]:65535"]
NEVER = [
    None,
    "",
    "evil.example",
    "localhost.evil.example",
    "evil.example:8000",
    "evil@localhost",
    "localhost, evil.example",
    "localhost:8000:8000",
    "localhost:",
    "localhost:x",
    "localhost/x",
    "localhost\\x",
    "127.0.0.1.nip.io",
    "127.0.0.1]",
    "[::1",
    "[::1]x",
    "[[::1]]",
    "0x7f.1",
    "2130706433",
    "\u217cocalhost",
    " localhost",
    "localhost\n",
]


@pytest.mark.parametrize("host", ["127.0.0.1", "box.example", "0.0.0.0", "::", ""])
@pytest.mark.parametrize("header", LOOPBACK)
def test_loopback_names_are_always_answered(host: str, header: str) -> None:
    assert hosts_of(host).allow(header)


@pytest.mark.parametrize("host", ["127.0.0.1", "box.example", "192.0.2.7", "0.0.0.0", "::", ""])
@pytest.mark.parametrize("header", NEVER)
def test_foreign_names_never_are(host: str, header: str | None) -> None:
    assert not hosts_of(host).allow(header)


@pytest.mark.parametrize(
    ("host", "header"),
    [
        ("box.example", "Box.Example:8000"),
        ("Box", "box"),
        ("192.0.2.7", "192.0.2.7:8000"),
        ("2001:db8::7", "[2001:0DB8::7]:8000"),
        ("[2001:db8::7]", "[2001:db8::7]"),
        ("127.0.0.2", "127.0.0.2"),
    ],
)
def test_what_host_names_is_answered_and_nothing_like_it(host: str, header: str) -> None:
    assert hosts_of(host).allow(header)
    assert not hosts_of("127.0.0.1").allow(header)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", ""])
def test_a_server_on_all_interfaces_answers_addresses_and_the_machines_name(host: str) -> None:
    hosts = hosts_of(host)
    for header in ("192.0.2.7:8000", "[2001:db8::7]", socket.gethostname()):
        assert hosts.allow(header)


@pytest.mark.parametrize(
    "url", ["/", "/api/v1/recordings", "/static/app.js", "/nothing", "/r/x/s/1"]
)
def test_a_foreign_host_gets_nothing(client: FlaskClient, url: str) -> None:
    response = client.get(url, headers={"Host": "evil.example"})
    assert (response.status_code, response.content_type) == (421, "application/json")
    assert response.json is not None
    assert response.json["error"]["code"] == "host_not_allowed"


def test_the_configured_host_is_answered(path: Path) -> None:
    client = create_app(path, Config(host="box.example")).test_client()
    assert client.get("/api/v1/sources", headers={"Host": "box.example:8000"}).status_code == 200
    assert client.get("/api/v1/sources", headers={"Host": "other.example"}).status_code == 421


def test_forwarding_headers_are_not_believed(client: FlaskClient) -> None:
    headers = {
        "Host": "evil.example",
        "X-Forwarded-Host": "localhost",
        "Forwarded": "host=localhost",
    }
    assert client.get("/api/v1/sources", headers=headers).status_code == 421


def test_every_answer_has_the_security_headers(client: FlaskClient, recorder: Recorder) -> None:
    key = recorder.record()
    payload = f"/api/v1/recordings/{key}/steps/0/payloads/assembly"
    tag = client.get(payload).headers["ETag"]
    responses = [
        client.get("/"),
        client.get("/static/app.js"),
        client.get("/static/nothing.js"),
        client.get("/api/v1/recordings"),
        client.head("/api/v1/recordings"),
        client.get("/api/v1/recordings?limit=x"),
        client.get(payload),
        client.get(payload, headers={"If-None-Match": tag}),
        client.get("/", headers={"Host": "evil.example"}),
        client.post("/"),
    ]
    assert [r.status_code for r in responses] == [200, 200, 404, 200, 200, 400, 200, 304, 421, 405]
    for response in responses:
        assert EXPECTED.items() <= dict(response.headers).items()
        assert "Set-Cookie" not in response.headers
        assert not [name for name, _ in response.headers if name.startswith("Access-Control-")]


@pytest.mark.parametrize("url", ["/", "/r/x", "/static/app.js", "/api/v1/recordings"])
@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW"])
def test_nothing_but_get_and_head_is_answered(client: FlaskClient, url: str, method: str) -> None:
    response = client.open(url, method=method, headers={"Origin": "http://evil.example"})
    assert response.status_code == 405
    assert set(response.headers["Allow"].split(", ")) == {"GET", "HEAD"}


@pytest.mark.parametrize(
    "name",
    [
        "../app.py",
        "..%2fapp.py",
        "%2e%2e/app.py",
        "..%5capp.py",
        "....//app.py",
        "/etc/passwd",
        "%2fetc%2fpasswd",
        "app.js%00",
        "app.js/",
        "",
        ".",
        "..",
        "nothing.js",
        "x" * 60_000 + ".js",
    ],
)
def test_no_file_but_the_pages_own_is_served(client: FlaskClient, name: str) -> None:
    assert client.get(f"/static/{name}").status_code == 404


@pytest.mark.parametrize(
    ("name", "content_type"),
    [
        ("app.js", "text/javascript; charset=utf-8"),
        ("style.css", "text/css; charset=utf-8"),
        ("icon.svg", "image/svg+xml"),
    ],
)
def test_the_pages_files_have_their_types(
    client: FlaskClient, name: str, content_type: str
) -> None:
    response = client.get(f"/static/{name}")
    assert (response.status_code, response.content_type) == (200, content_type)
    assert response.headers["Cache-Control"] == "no-cache"
    again = client.get(f"/static/{name}", headers={"If-None-Match": response.headers["ETag"]})
    assert again.status_code == 304


@pytest.mark.parametrize("url", ["/", "/r/7c0e", "/r/%3Cscript%3E", "/r/7c0e/s/3?kind=<script>"])
def test_the_page_is_the_same_at_all_its_addresses(client: FlaskClient, url: str) -> None:
    response = client.get(url)
    assert (response.status_code, response.content_type) == (200, "text/html; charset=utf-8")
    assert response.data == client.get("/").data
    assert b"<script>" not in response.data


@pytest.mark.parametrize("url", ["/x", "/r/", "/r/a/b", "/r/a/s/", "/r//s/1", "/index.html"])
def test_there_is_nothing_at_other_addresses(client: FlaskClient, url: str) -> None:
    response = client.open("/", environ_overrides={"PATH_INFO": url})
    assert (response.status_code, response.content_type) == (404, "application/json")
    as_browser = {"Accept": "text/html,*/*;q=0.8"}
    response = client.open("/", environ_overrides={"PATH_INFO": url}, headers=as_browser)
    assert (response.status_code, response.content_type) == (404, "text/html; charset=utf-8")
    assert response.headers["Cache-Control"] == "no-store"
    assert response.data == client.get("/").data
    for other in ("/api/v1/x", "/api/", "/static/x"):
        response = client.get(other, headers=as_browser)
        assert (response.status_code, response.content_type) == (404, "application/json")
