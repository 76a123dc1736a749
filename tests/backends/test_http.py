"""Owns the tests of requests to backends: what goes wrong is one line, and secrets stay where they belong."""

from __future__ import annotations

import gzip
import logging
import threading
from collections.abc import Callable

import pytest

import scaly_viz
from scaly_viz.errors import BackendError
from scaly_viz.settings import read_backend
from scaly_viz.sources import http

from .conftest import Recorded
from .servers import free_ports
from .stand_ins import HTML, Answer, Answers, JaegerStandIn, Request, standing_in


def _error(address: str) -> str:
    with pytest.raises(BackendError) as raised:
        scaly_viz.load_recordings(address)
    text = str(raised.value)
    assert "\n" not in text
    return text


def _always(answer: Answer) -> Answers:
    return lambda _: answer


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (
            HTML,
            "answers an HTML page ('Sign in') instead of JSON at /api/v3/services: no Jaeger API is there;"
            " its query service, port 16686, or a base path is missing in the address, as in"
            " http://HOST/jaeger/ui",
        ),
        (Answer(b"hello"), "does not answer JSON at /api/v3/services"),
        (Answer(b""), "does not answer JSON at /api/v3/services"),
        (
            Answer(b"", 401),
            "401: it wants credentials; give them in SCALY_VIZ_BACKEND_HEADERS, as"
            " Authorization=Bearer%20TOKEN, or as http://USER:PASSWORD@HOST",
        ),
        (
            Answer({"error": {"message": "tenant \x1b[31m unknown"}}, 403),
            "403: these credentials are not allowed to read it: tenant  [31m unknown",
        ),
        (
            Answer(b"<html>gone</html>", 404, {"Content-Type": "text/html"}),
            "404: there is no /api/v3/services; its query service, port 16686, or a base path is missing in"
            " the address",
        ),
        (
            Answer(b"no org id", 503, {"Retry-After": "7"}),
            "503: too busy: no org id; try again in 7 s",
        ),
        (Answer(b"boom\nat x", 500), "500 Internal Server Error: boom"),
        (
            Answer(b'{"services": 5}'),
            "not an answer of Jaeger's API: Expected `array | null`, got `int` - at `$.services`",
        ),
        (
            Answer(b'{"services": [', promised=9999),
            "the answer broke off or is damaged (ChunkedEncodingError)",
        ),
        (Answer(b"", 302, {"Location": "/loop"}), "redirects in a circle"),
        (
            Answer(b"", 302, {"Location": "https://login.example/?token=1"}),
            "redirects to https://login.example, where credentials are not sent: a login page? If the"
            " backend is there, give that address",
        ),
    ],
)  # fmt: skip
def test_what_goes_wrong_is_said_in_one_line(answer: Answer, error: str) -> None:
    with standing_in(_always(answer)) as server:
        assert _error(f"jaeger:{server.url}") == f"jaeger:{server.url}: {error}"


def test_a_backend_that_is_down_is_told_from_a_wrong_name() -> None:
    port = free_ports("http")["http"]

    assert _error(f"tempo:http://127.0.0.1:{port}") == (
        f"tempo:http://127.0.0.1:{port}: connection refused: is Tempo running (its HTTP API, port 3200)?"
    )


def test_a_backend_that_is_silent_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCALY_VIZ_BACKEND_TIMEOUT", "0.2")

    given_up = threading.Event()

    def silent(_: Request) -> Answer:
        given_up.wait()
        return HTML

    with standing_in(silent) as server:
        try:
            error = _error(f"jaeger:{server.url}")
        finally:
            given_up.set()
    assert error == (
        f"jaeger:{server.url}: no answer within 0.2 s; SCALY_VIZ_BACKEND_TIMEOUT sets how long to wait"
    )


def test_tls_that_fails_is_said_so() -> None:
    with standing_in(_always(HTML)) as server:
        error = _error(f"jaeger:{server.url.replace('http:', 'https:')}")

    assert ": TLS failed: " in error
    assert error.endswith("REQUESTS_CA_BUNDLE names the file of an authority's certificates")


def test_credentials_come_from_environment_and_address(
    recorded: Recorded, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SCALY_VIZ_BACKEND_HEADERS", "X-Scope-OrgID=team%201, X-Token = a=b ,")
    with standing_in(JaegerStandIn(recorded.resources)) as server:
        address = server.url.replace("//", "//me:a%3Ab%C3%A9@")
        assert scaly_viz.load_recordings(f"jaeger:{address}?since=2026-01-01&until=2028-01-01")

    for request in server.asked:
        assert request.headers["x-scope-orgid"] == "team 1"
        assert request.headers["x-token"] == "a=b"
        assert request.headers["authorization"] == "Basic bWU6YTpiw6k="


def test_a_header_overrules_the_user_of_the_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCALY_VIZ_BACKEND_HEADERS", "Authorization=Bearer%20geheim")
    with standing_in(_always(HTML)) as server:
        _error(f"jaeger:{server.url.replace('//', '//me:you@')}")

    assert [r.headers["authorization"] for r in server.asked] == ["Bearer geheim"]


def test_a_redirect_to_another_server_gets_no_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCALY_VIZ_BACKEND_HEADERS", "X-Token=geheim")
    with standing_in(_always(HTML)) as other:
        moved = Answer(b"", 307, {"Location": f"{other.url}/api/v3/services"})
        with standing_in(_always(moved)) as server:
            error = _error(f"jaeger:{server.url.replace('//', '//me:geheim@')}")

    assert other.asked == []
    assert "geheim" not in error


def test_a_redirect_within_the_server_is_followed(recorded: Recorded) -> None:
    jaeger = JaegerStandIn(recorded.resources)

    def answers(request: Request) -> Answer:
        if not request.path.startswith("/new"):
            query = "&".join(f"{key}={value}" for key, value in request.query.items())
            return Answer(b"", 308, {"Location": f"/new{request.path}?{query}"})
        return jaeger(Request(request.path.removeprefix("/new"), request.query, request.headers))

    with standing_in(answers) as server:
        found = scaly_viz.load_recordings(f"jaeger:{server.url}?since=2026-01-01&until=2028-01-01")

    assert found == recorded.dicts


def test_a_bad_header_is_told_without_its_text(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SCALY_VIZ_BACKEND_HEADERS", "A=1,geheim,B=2%0d%0aEvil: 1,C=3")
    monkeypatch.setenv("SCALY_VIZ_BACKEND_TIMEOUT", "never")
    with caplog.at_level(logging.WARNING):
        settings = read_backend()

    assert settings.headers == (("A", "1"), ("C", "3"))
    assert settings.timeout_s == 30
    assert "=" not in repr(settings).replace("timeout_s=30.0", "")
    assert caplog.messages == [
        "SCALY_VIZ_BACKEND_HEADERS: entry 2 is no key=value; left out",
        "SCALY_VIZ_BACKEND_HEADERS: entry 3 is no key=value; left out",
        "SCALY_VIZ_BACKEND_TIMEOUT='never' is not a positive number of seconds; using 30",
    ]


@pytest.mark.parametrize("pack", [lambda data: data, gzip.compress], ids=["plain", "gzip"])
def test_a_gigantic_trace_is_not_read(
    pack: Callable[[bytes], bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http, "MAX_TRACE_BYTES", 1_000_000)
    body = b'{"services": ["' + b"x" * 3_000_000 + b'"]}'
    headers = {} if pack(b"") == b"" else {"Content-Encoding": "gzip"}
    with standing_in(_always(Answer(pack(body), headers=headers))) as server:
        assert _error(f"jaeger:{server.url}") == (
            f"jaeger:{server.url}: answers a trace of more than 1 MB; it was not read"
        )
