"""What a gRPC backend answers, and what the exporter makes of it."""

from __future__ import annotations

from pathlib import Path

import grpc
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

from logged import warnings_of
from scaly_viz_exporters import sender
from scaly_viz_exporters.otlp import OtlpExporter

from .made_spans import made
from .receivers import (
    GrpcReceiver,
    HttpReceiver,
    Refusal,
    grpc_receiver,
    waiting,
)
from .sending import PREFIX, send


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
