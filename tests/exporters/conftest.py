"""Owns what tests of exporters begin with: where the local file and the outbox are to be, and a receiver."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from scaly_viz_exporters.otlp import OtlpExporter

from .receivers import GrpcReceiver, HttpReceiver, grpc_receiver, http_receiver

type Make = Callable[[], OtlpExporter]


@pytest.fixture
def receiver(monkeypatch: pytest.MonkeyPatch) -> Iterator[HttpReceiver]:
    """A receiver that the environment leads to."""
    with http_receiver() as receiver:
        for name, value in receiver.endpoint().items():
            monkeypatch.setenv(name, value)
        yield receiver


@pytest.fixture
def grpc_backend(monkeypatch: pytest.MonkeyPatch) -> Iterator[GrpcReceiver]:
    """A receiver for gRPC that the environment leads to."""
    with grpc_receiver() as receiver:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://{receiver.address}")
        yield receiver


@pytest.fixture
def outbox(tmp_path: Path) -> Path:
    return tmp_path / "viz" / "outbox"


@pytest.fixture
def make(outbox: Path, receiver: HttpReceiver) -> Iterator[Make]:
    """Return a function that makes exporters, which are shut down before the receiver is."""
    exporters: list[OtlpExporter] = []

    def make() -> OtlpExporter:
        exporters.append(OtlpExporter(outbox))
        return exporters[-1]

    yield make
    for exporter in exporters:
        exporter._sender.stop()


@pytest.fixture
def down(monkeypatch: pytest.MonkeyPatch) -> str:
    """Have the environment lead to a port that nobody listens on."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", url)
    return url


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return where the local file is to be; neither it nor its folder exists."""
    return tmp_path / "viz" / "recordings.jsonl"
