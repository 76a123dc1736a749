"""OpenTelemetry's variables, one by one: each changes what arrives at a real receiver."""

from __future__ import annotations

import logging
import ssl
import time
from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest
import trustme
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

from scaly_viz_exporters import otlp_settings, sender
from scaly_viz_exporters.otlp import OtlpExporter

from .receivers import (
    Answer,
    GrpcReceiver,
    HttpReceiver,
    Received,
    Refusal,
    grpc_receiver,
    http_receiver,
    made,
    waiting,
)

PREFIX = "OTEL_EXPORTER_OTLP_"


@pytest.fixture
def receiver() -> Iterator[HttpReceiver]:
    with http_receiver() as receiver:
        yield receiver


@pytest.fixture
def grpc_backend(monkeypatch: pytest.MonkeyPatch) -> Iterator[GrpcReceiver]:
    with grpc_receiver() as receiver:
        monkeypatch.setenv(f"{PREFIX}PROTOCOL", "grpc")
        monkeypatch.setenv(f"{PREFIX}ENDPOINT", f"http://{receiver.address}")
        yield receiver


@pytest.fixture
def outbox(tmp_path: Path) -> Path:
    return tmp_path / "viz" / "outbox"


class Authority:
    """Certificates as files: the authority's, the server's in use, and a client's."""

    def __init__(self, folder: Path) -> None:
        self.ca = trustme.CA()
        self.server = self.ca.issue_cert("127.0.0.1", "localhost")
        self.certificate = folder / "ca.pem"
        self.client_key = folder / "client.key"
        self.client_certificate = folder / "client.pem"
        self.ca.cert_pem.write_to_path(self.certificate)
        client = self.ca.issue_cert("client@example.org")
        client.private_key_pem.write_to_path(self.client_key)
        client.cert_chain_pems[0].write_to_path(self.client_certificate)

    def context(self, *, asks: bool) -> ssl.SSLContext:
        """Return the server's side, which asks for a client's certificate or does not."""
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        self.server.configure_cert(context)
        if asks:
            self.ca.configure_trust(context)
            context.verify_mode = ssl.CERT_REQUIRED
        return context

    def credentials(self, *, asks: bool) -> grpc.ServerCredentials:
        """Return the same for gRPC."""
        pair = (self.server.private_key_pem.bytes(), self.server.cert_chain_pems[0].bytes())
        return grpc.ssl_server_credentials([pair], self.ca.cert_pem.bytes(), asks)


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("certificates"))


def send(outbox: Path, *, works: bool = True) -> None:
    """Export one span and end."""
    exporter = OtlpExporter(outbox)
    exporter.export(made("render f", body="x" * 5000))
    assert exporter.force_flush(10_000) is works
    exporter._sender.stop()


def sent(outbox: Path, receiver: HttpReceiver | GrpcReceiver) -> Received:
    """Export one span, and return the request that it came in."""
    send(outbox)
    [request] = receiver.received
    assert request.names == ["render f"]
    return request


def warnings_of(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [r.getMessage() for r in caplog.records if r.levelno >= logging.WARNING]


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


def late(received: Received) -> ExportTraceServiceResponse:
    """Answer, but not in time."""
    time.sleep(0.5)
    return ExportTraceServiceResponse()


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
    with http_receiver() as over_http, grpc_receiver() as over_grpc:
        over_http.answers(Answer(delay_s=0.5))
        over_grpc.decide = late
        url = f"http://{over_grpc.address}" if protocol == "grpc" else over_http.url
        monkeypatch.setenv(f"{PREFIX}ENDPOINT", url)
        send(outbox, works=False)
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


@pytest.mark.parametrize("prefix", [PREFIX, f"{PREFIX}TRACES_"])
@pytest.mark.parametrize("protocol", ["http/protobuf", "grpc", "http/json"])
def test_certificates(
    outbox: Path,
    monkeypatch: pytest.MonkeyPatch,
    authority: Authority,
    prefix: str,
    protocol: str,
) -> None:
    monkeypatch.setenv(f"{PREFIX}PROTOCOL", protocol)
    monkeypatch.setenv(f"{prefix}CERTIFICATE", str(authority.certificate))
    monkeypatch.setenv(f"{prefix}CLIENT_KEY", str(authority.client_key))
    monkeypatch.setenv(f"{prefix}CLIENT_CERTIFICATE", str(authority.client_certificate))
    if protocol == "grpc":
        with grpc_receiver(authority.credentials(asks=True)) as over_grpc:
            monkeypatch.setenv(f"{PREFIX}ENDPOINT", f"https://{over_grpc.address}")
            assert sent(outbox, over_grpc).names == ["render f"]
    else:
        with http_receiver(tls=authority.context(asks=True)) as over_http:
            monkeypatch.setenv(f"{PREFIX}ENDPOINT", over_http.url)
            assert sent(outbox, over_http).names == ["render f"]


@pytest.mark.parametrize("protocol", ["http/protobuf", "http/json"])
def test_a_server_that_is_not_trusted_is_said_and_gets_nothing(
    outbox: Path,
    monkeypatch: pytest.MonkeyPatch,
    authority: Authority,
    protocol: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setenv(f"{PREFIX}PROTOCOL", protocol)
    with http_receiver(tls=authority.context(asks=False)) as receiver:
        monkeypatch.setenv(f"{PREFIX}ENDPOINT", receiver.url)
        send(outbox, works=False)
        assert receiver.received == []
    [warning] = warnings_of(caplog)
    assert "its certificate is not trusted: " in warning
    assert waiting(outbox) == ["render f"]


def test_a_certificate_that_is_no_file_is_said_with_its_variable(
    outbox: Path,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setenv(f"{PREFIX}ENDPOINT", "https://127.0.0.1:9")
    monkeypatch.setenv(f"{PREFIX}CERTIFICATE", str(tmp_path / "none.pem"))
    send(outbox, works=False)
    first, second = warnings_of(caplog)
    assert first.startswith(f"{PREFIX}CERTIFICATE='{tmp_path}/none.pem' is no file")
    assert "this process sends nothing more, and spans wait in" in second


@pytest.mark.parametrize("name", ["INSECURE", "TRACES_INSECURE"])
def test_insecure_counts_for_an_endpoint_without_a_scheme(
    outbox: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(f"{PREFIX}PROTOCOL", "grpc")
    with grpc_receiver() as receiver:
        monkeypatch.setenv(f"{PREFIX}ENDPOINT", receiver.address)
        monkeypatch.setenv(f"{PREFIX}{name}", "true")
        assert sent(outbox, receiver).names == ["render f"]
        receiver.received.clear()
        # A scheme says it by itself.
        monkeypatch.setenv(f"{PREFIX}ENDPOINT", f"http://{receiver.address}")
        monkeypatch.setenv(f"{PREFIX}{name}", "false")
        assert sent(outbox, receiver).names == ["render f"]


# What gRPC answers


def test_grpc_that_asks_to_wait_is_asked_again_after_that_time(
    outbox: Path, grpc_backend: GrpcReceiver
) -> None:
    wait = Refusal(grpc.StatusCode.RESOURCE_EXHAUSTED, "slow down", retry_s=1.0)
    grpc_backend.answers(wait, ExportTraceServiceResponse())
    send(outbox)
    first, second = grpc_backend.received
    assert second.at - first.at >= 1
    assert waiting(outbox) == []


def test_grpc_that_is_not_there_is_found_again(
    outbox: Path,
    grpc_backend: GrpcReceiver,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(sender, "FIRST_BACKOFF_S", 0.05)
    down = Refusal(grpc.StatusCode.UNAVAILABLE, "starting")
    grpc_backend.answers(down, down, ExportTraceServiceResponse())
    exporter = OtlpExporter(outbox)
    exporter.export(made("render f"))
    while not exporter.force_flush(10_000):
        pass
    exporter.shutdown()
    assert grpc_backend.names == ["render f"] * 3
    assert waiting(outbox) == []
    [warning] = warnings_of(caplog)
    assert f"otlp: http://{grpc_backend.address}: answered UNAVAILABLE: starting; spans" in warning


@pytest.mark.parametrize(
    "code",
    [grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.UNIMPLEMENTED, grpc.StatusCode.INTERNAL],
)
def test_grpc_that_refuses_everything_is_asked_once(
    outbox: Path, grpc_backend: GrpcReceiver, code: grpc.StatusCode
) -> None:
    grpc_backend.answers(Refusal(code, "no"))
    exporter = OtlpExporter(outbox)
    for name in ("one", "two"):
        exporter.export(made(name))
        assert not exporter.force_flush(10_000)
    exporter.shutdown()
    assert len(grpc_backend.received) == 1
    assert waiting(outbox) == ["one", "two"]


def test_grpc_that_meets_an_http_server_says_what_to_set(
    outbox: Path,
    receiver: HttpReceiver,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setenv(f"{PREFIX}PROTOCOL", "grpc")
    monkeypatch.setenv(f"{PREFIX}ENDPOINT", receiver.url)
    send(outbox, works=False)
    [warning] = warnings_of(caplog)
    assert "it speaks HTTP: gRPC's port is 4317 by custom, or set" in warning


def test_a_header_that_grpc_cannot_send_costs_no_spans(
    outbox: Path,
    grpc_backend: GrpcReceiver,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setenv(f"{PREFIX}HEADERS", "a-bin=text")
    send(outbox, works=False)
    assert waiting(outbox) == ["render f"]
    assert not (outbox / "refused").exists()
    [warning] = warnings_of(caplog)
    assert 'Binary metadata key="a-bin" expected bytes' in warning


def test_grpc_that_takes_smaller_messages_only_gets_smaller_ones(
    outbox: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(f"{PREFIX}PROTOCOL", "grpc")
    with grpc_receiver(options=[("grpc.max_receive_message_length", 100_000)]) as receiver:
        monkeypatch.setenv(f"{PREFIX}ENDPOINT", f"http://{receiver.address}")
        exporter = OtlpExporter(outbox)
        names = [str(number) for number in range(8)]
        for name in names:
            exporter.export(made(name, body="x" * 30_000))
        assert exporter.force_flush(10_000)
        exporter.shutdown()
        assert receiver.names == names


def test_grpc_that_takes_a_part_is_not_sent_it_again(
    outbox: Path, grpc_backend: GrpcReceiver, caplog: pytest.LogCaptureFixture
) -> None:
    response = ExportTraceServiceResponse()
    response.partial_success.rejected_spans = 1
    grpc_backend.answers(response)
    send(outbox)
    assert waiting(outbox / "partly-rejected") == ["render f"]
    assert "rejected 1 of the spans; which ones is not said" in caplog.text
