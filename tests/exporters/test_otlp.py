"""The OTLP exporter: what was exported reaches the backend once, or waits on disk."""

from __future__ import annotations

import stat
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.trace.export import SpanExportResult

from logged import warnings_of
from scaly_viz_exporters import parcels, sender
from scaly_viz_exporters.otlp import OtlpExporter
from scaly_viz_exporters.span_lines import line_of

from .conftest import Make
from .made_spans import made
from .receivers import OK, Answer, HttpReceiver, Received, http_receiver, waiting


def noting(arrived: threading.Event) -> Callable[[Received], Answer]:
    """Return what takes everything, and notes that something has arrived."""

    def decide(received: Received) -> Answer:
        arrived.set()
        return OK

    return decide


def test_what_is_exported_is_delivered_in_one_message_and_leaves_the_outbox(
    make: Make, receiver: HttpReceiver, outbox: Path
) -> None:
    exporter = make()
    spans = made("lower", "emit C", "render f", body="x" * 1000)
    for span in spans:
        assert exporter.export([span]) is SpanExportResult.SUCCESS
    assert exporter.force_flush(10_000)
    [request] = receiver.received
    assert request.path == "/v1/traces"
    assert request.headers["content-encoding"] == "gzip"
    assert request.request == encode_spans(spans)
    assert waiting(outbox) == []


def test_it_is_delivered_without_a_flush_too(make: Make, receiver: HttpReceiver) -> None:
    arrived = threading.Event()
    receiver.decide = noting(arrived)
    make().export(made("render f"))
    assert arrived.wait(10)


def test_before_export_returns_the_span_is_on_disk_for_its_owner_alone(
    down: str, outbox: Path
) -> None:
    exporter = OtlpExporter(outbox)
    [span] = made("render f")
    exporter.export([span])
    assert (outbox / "spans.jsonl").read_bytes() == line_of(span)
    assert stat.S_IMODE(outbox.stat().st_mode) == 0o700
    assert stat.S_IMODE((outbox / "spans.jsonl").stat().st_mode) == 0o600
    exporter._sender.stop()


def test_the_constructor_touches_no_disk_and_starts_no_thread(down: str, outbox: Path) -> None:
    threads = threading.active_count()
    OtlpExporter(outbox)
    assert threading.active_count() == threads
    assert not outbox.parent.exists()


def test_with_the_backend_down_a_flush_fails_and_one_line_says_where_the_spans_are(
    down: str, outbox: Path, caplog: pytest.LogCaptureFixture
) -> None:
    exporter = OtlpExporter(outbox)
    for name in ("one", "two", "three"):
        exporter.export(made(name))
        assert not exporter.force_flush(10_000)
    exporter.shutdown()
    assert warnings_of(caplog) == [
        f"otlp: {down}/v1/traces: Connection refused; spans wait in {outbox} until this or a later"
        " process, or scaly-viz ship, delivers them"
    ]
    assert waiting(outbox) == ["one", "two", "three"]


def test_the_next_exporter_delivers_what_waits_first_and_in_order(
    monkeypatch: pytest.MonkeyPatch, down: str, outbox: Path
) -> None:
    for names in (("one", "two"), ("three",)):
        exporter = OtlpExporter(outbox)
        for name in names:
            exporter.export(made(name))
        exporter.shutdown()
    with http_receiver() as receiver:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.url)
        exporter = OtlpExporter(outbox)
        exporter.export(made("four"))
        exporter.shutdown()
        assert receiver.names == ["one", "two", "three", "four"]
    assert waiting(outbox) == []


def test_a_backend_that_comes_back_gets_everything_without_being_asked(
    monkeypatch: pytest.MonkeyPatch, down: str, outbox: Path
) -> None:
    monkeypatch.setattr(sender, "FIRST_BACKOFF_S", 0.05)
    exporter = OtlpExporter(outbox)
    exporter.export(made("render f"))
    assert not exporter.force_flush(10_000)
    arrived = threading.Event()
    with http_receiver(int(down.rpartition(":")[2])) as receiver:
        receiver.decide = noting(arrived)
        assert arrived.wait(20)
        exporter.shutdown()
        assert receiver.names == ["render f"]


def test_no_message_exceeds_the_limit_and_order_is_kept(
    make: Make, receiver: HttpReceiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sender, "LINGER_S", 60)
    exporter = make()
    names = [f"step {number}" for number in range(40)]
    for name in names:
        exporter.export(made(name, body="x" * 500_000))
    assert exporter.force_flush(30_000)
    assert receiver.names == names
    assert len(receiver.received) == 7  # 6 of half a million characters fit
    assert max(request.size for request in receiver.received) <= parcels.MESSAGE_BYTES


def test_a_span_too_big_alone_is_said_and_kept_and_holds_up_nobody(
    make: Make, receiver: HttpReceiver, outbox: Path, caplog: pytest.LogCaptureFixture
) -> None:
    exporter = make()
    exporter.export(made("before"))
    exporter.export(made("huge", body="x" * 4_000_000))
    exporter.export(made("after"))
    assert exporter.force_flush(30_000)
    assert exporter.force_flush(30_000)
    assert receiver.names == ["before", "after"]
    assert waiting(outbox / "refused") == ["huge"]
    assert waiting(outbox) == []
    [warning] = warnings_of(caplog)
    assert "1 span(s), first 'huge': takes 4000" in warning
    assert f"kept in {outbox}/refused" in warning


def test_after_the_shutdown_spans_wait_on_disk(
    make: Make, receiver: HttpReceiver, outbox: Path
) -> None:
    exporter = make()
    exporter.shutdown()
    assert exporter.export(made("late")) is SpanExportResult.SUCCESS
    assert not exporter.force_flush(100)
    assert waiting(outbox) == ["late"]


def test_an_idle_exporter_has_no_thread(make: Make, receiver: HttpReceiver) -> None:
    exporter = make()
    exporter.export(made("render f"))
    assert exporter.force_flush(10_000)
    if (thread := exporter._sender._thread) is not None:
        thread.join(10)
    assert exporter._sender._thread is None
