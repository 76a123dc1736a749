"""OpenTelemetry's variables for certificates: who is trusted, over HTTP and gRPC."""

from __future__ import annotations

import ssl
from pathlib import Path

import grpc
import pytest
import trustme

from logged import warnings_of

from .receivers import (
    grpc_receiver,
    http_receiver,
    waiting,
)
from .sending import PREFIX, send, sent


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
