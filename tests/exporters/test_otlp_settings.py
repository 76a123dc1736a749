"""OpenTelemetry's variables, one by one: each changes what arrives at a real receiver."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

from logged import warnings_of
from scaly_viz_exporters import otlp_settings

from .receivers import (
    Answer,
    GrpcReceiver,
    HttpReceiver,
    Received,
    grpc_receiver,
    http_receiver,
    waiting,
)
from .sending import PREFIX, send, sent


@pytest.fixture
def receiver() -> Iterator[HttpReceiver]:
    with http_receiver() as receiver:
        yield receiver


@pytest.mark.parametrize(
    ("endpoint", "path"),
    [
        ("{url}", "/v1/traces"),
        ("{url}/", "/v1/traces"),
        ("{url}/otlp", "/otlp/v1/traces"),
        (" {url}/api/otlp/ ", "/api/otlp/v1/traces"),
    ],
)
def test_endpoint_is_a_base_that_the_signals_path_is_joined_to(
    outbox: Path, receiver: HttpReceiver, monkeypatch: pytest.MonkeyPatch, endpoint: str, path: str
) -> None:
    monkeypatch.setenv(f"{PREFIX}ENDPOINT", endpoint.format(url=receiver.url))
    assert sent(outbox, receiver).path == path


def test_traces_endpoint_is_taken_as_it_is_and_wins(
    outbox: Path, receiver: HttpReceiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(f"{PREFIX}ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setenv(f"{PREFIX}TRACES_ENDPOINT", f"{receiver.url}/mine")
    assert sent(outbox, receiver).path == "/mine"


def test_without_an_endpoint_it_is_the_one_of_the_specification() -> None:
    assert otlp_settings.read({}).endpoint == "http://localhost:4318/v1/traces"
    grpc_one = otlp_settings.read({f"{PREFIX}PROTOCOL": "grpc"})
    assert grpc_one.endpoint == "http://localhost:4317"


@pytest.mark.parametrize(
    ("endpoint", "why"),
    [
        ("localhost:4318", "not an address such as http://localhost:4318"),
        ("127.0.0.1:4318", "not an address such as http://localhost:4318"),
        ("ftp://127.0.0.1/x", "not an address such as http://localhost:4318"),
        ("http://[::1", "not a valid host or port"),
    ],
)
def test_an_endpoint_that_is_no_address_is_said_once_and_nothing_is_lost(
    outbox: Path,
    monkeypatch: pytest.MonkeyPatch,
    endpoint: str,
    why: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setenv(f"{PREFIX}ENDPOINT", endpoint)
    send(outbox, works=False)
    assert waiting(outbox) == ["render f"]
    [warning] = warnings_of(caplog)
    assert f"{why}; this process sends nothing more" in warning


def test_a_password_in_the_endpoint_is_used_and_never_shown(
    outbox: Path,
    receiver: HttpReceiver,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    url = receiver.url.replace("://", "://user:secret@")
    monkeypatch.setenv(f"{PREFIX}ENDPOINT", url)
    receiver.answers(Answer(403))
    send(outbox, works=False)
    assert receiver.received[0].headers["authorization"].startswith("Basic ")
    assert "secret" not in caplog.text


@pytest.mark.parametrize("protocol", ["http/protobuf", "grpc", "http/json"])
def test_headers_are_sent_and_those_for_traces_win(
    outbox: Path, monkeypatch: pytest.MonkeyPatch, protocol: str
) -> None:
    monkeypatch.setenv(f"{PREFIX}PROTOCOL", protocol)
    with http_receiver() as over_http, grpc_receiver() as over_grpc:
        receiver = over_grpc if protocol == "grpc" else over_http
        url = f"http://{over_grpc.address}" if protocol == "grpc" else over_http.url
        monkeypatch.setenv(f"{PREFIX}ENDPOINT", url)
        monkeypatch.setenv(f"{PREFIX}HEADERS", "api-key=all%20signals,X-Scope-OrgID=me")
        headers = sent(outbox, receiver).headers
        assert (headers["api-key"], headers["x-scope-orgid"]) == ("all signals", "me")
        receiver.received.clear()
        monkeypatch.setenv(f"{PREFIX}TRACES_HEADERS", "api-key=traces")
        headers = sent(outbox, receiver).headers
        assert headers["api-key"] == "traces"
        assert "x-scope-orgid" not in headers


@pytest.mark.parametrize("name", ["COMPRESSION", "TRACES_COMPRESSION"])
@pytest.mark.parametrize("protocol", ["http/protobuf", "http/json"])
@pytest.mark.parametrize("value", ["gzip", "deflate", "none", "GZIP"])
def test_compression_over_http(
    outbox: Path,
    receiver: HttpReceiver,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    protocol: str,
    value: str,
) -> None:
    monkeypatch.setenv(f"{PREFIX}ENDPOINT", receiver.url)
    monkeypatch.setenv(f"{PREFIX}PROTOCOL", protocol)
    monkeypatch.setenv(f"{PREFIX}{name}", value)
    encoding = sent(outbox, receiver).headers.get("content-encoding", "none")
    assert encoding == value.lower()


@pytest.mark.parametrize("value", ["gzip", "deflate", "none"])
def test_compression_over_grpc(
    outbox: Path, grpc_backend: GrpcReceiver, monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    monkeypatch.setenv(f"{PREFIX}COMPRESSION", value)
    assert sent(outbox, grpc_backend).names == ["render f"]


def test_an_unknown_compression_and_protocol_are_said_and_the_defaults_used(
    outbox: Path,
    receiver: HttpReceiver,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setenv(f"{PREFIX}ENDPOINT", receiver.url)
    monkeypatch.setenv(f"{PREFIX}COMPRESSION", "brotli")
    monkeypatch.setenv(f"{PREFIX}PROTOCOL", "thrift")
    monkeypatch.setenv(f"{PREFIX}TIMEOUT", "soon")
    request = sent(outbox, receiver)
    assert request.headers["content-encoding"] == "gzip"
    assert request.headers["content-type"] == "application/x-protobuf"
    assert warnings_of(caplog) == [
        f"{PREFIX}PROTOCOL='thrift' is none of http/protobuf, grpc, http/json; using http/protobuf",
        f"{PREFIX}TIMEOUT='soon' is not a positive number of seconds; using 10",
        f"{PREFIX}COMPRESSION='brotli' is none of gzip, deflate, none; using gzip",
    ]


@pytest.mark.parametrize(
    ("protocol", "content_type"),
    [("http/protobuf", "application/x-protobuf"), ("http/json", "application/json")],
)
def test_protocol_for_traces_wins(
    outbox: Path,
    receiver: HttpReceiver,
    monkeypatch: pytest.MonkeyPatch,
    protocol: str,
    content_type: str,
) -> None:
    monkeypatch.setenv(f"{PREFIX}ENDPOINT", receiver.url)
    monkeypatch.setenv(f"{PREFIX}PROTOCOL", "grpc")
    monkeypatch.setenv(f"{PREFIX}TRACES_PROTOCOL", protocol)
    assert sent(outbox, receiver).headers["content-type"] == content_type


@pytest.mark.parametrize("name", ["TIMEOUT", "TRACES_TIMEOUT"])
@pytest.mark.parametrize("protocol", ["http/protobuf", "grpc", "http/json"])
def test_timeout(
    outbox: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    protocol: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setenv(f"{PREFIX}PROTOCOL", protocol)
    monkeypatch.setenv(f"{PREFIX}{name}", "0.2")
    given_up = threading.Event()

    def late(received: Received) -> ExportTraceServiceResponse:
        given_up.wait()
        return ExportTraceServiceResponse()

    with http_receiver() as over_http, grpc_receiver() as over_grpc:
        over_http.answers(Answer(delay_s=1000))  # or until the receiver closes
        over_grpc.decide = late
        url = f"http://{over_grpc.address}" if protocol == "grpc" else over_http.url
        monkeypatch.setenv(f"{PREFIX}ENDPOINT", url)
        try:
            send(outbox, works=False)
        finally:
            given_up.set()
        assert "no answer within 0.2 s" in caplog.text


@pytest.mark.parametrize("protocol", ["http/protobuf", "grpc", "http/json"])
def test_a_timeout_longer_than_sockets_know_is_a_day(
    outbox: Path, monkeypatch: pytest.MonkeyPatch, protocol: str
) -> None:
    monkeypatch.setenv(f"{PREFIX}PROTOCOL", protocol)
    monkeypatch.setenv(f"{PREFIX}TIMEOUT", "1e300")
    assert otlp_settings.read().timeout_s == 86_400
    with http_receiver() as over_http, grpc_receiver() as over_grpc:
        url = f"http://{over_grpc.address}" if protocol == "grpc" else over_http.url
        monkeypatch.setenv(f"{PREFIX}ENDPOINT", url)
        send(outbox)
