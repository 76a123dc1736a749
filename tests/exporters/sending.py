"""Owns sending one span as the environment says."""

from __future__ import annotations

from pathlib import Path

from scaly_viz_exporters.otlp import OtlpExporter

from .made_spans import made
from .receivers import (
    GrpcReceiver,
    HttpReceiver,
    Received,
)

PREFIX = "OTEL_EXPORTER_OTLP_"


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
