"""The OTLP exporter and a backend that asks to wait, refuses, breaks off or does not answer."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from logged import warnings_of
from scaly_viz_exporters.otlp import OtlpExporter

from .conftest import Make
from .made_spans import made
from .receivers import OK, Answer, HttpReceiver, Received, partly, waiting


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_a_backend_that_asks_to_wait_is_asked_again_after_that_time(
    make: Make, receiver: HttpReceiver, outbox: Path, status: int
) -> None:
    receiver.answers(Answer(status, {"retry-after": "1"}), OK)
    exporter = make()
    exporter.export(made("render f"))
    assert exporter.force_flush(10_000)
    first, second = receiver.received
    assert second.at - first.at >= 1
    assert first.names == second.names == ["render f"]
    assert waiting(outbox) == []


def test_a_flush_does_not_wait_longer_than_it_may_and_nobody_is_asked_too_early(
    make: Make, receiver: HttpReceiver, outbox: Path, caplog: pytest.LogCaptureFixture
) -> None:
    receiver.answers(Answer(503, {"retry-after": "3600"}))
    exporter = make()
    exporter.export(made("one"))
    assert not exporter.force_flush(60_000)
    exporter.export(made("two"))
    assert not exporter.force_flush(60_000)
    exporter.shutdown()
    assert len(receiver.received) == 1
    assert waiting(outbox) == ["one", "two"]
    [warning] = warnings_of(caplog)
    assert "/v1/traces: answered 503 Service Unavailable; spans wait in" in warning


@pytest.mark.parametrize("status", [401, 403, 404, 500, 301])
def test_a_backend_that_refuses_everything_is_asked_once_by_a_process(
    make: Make,
    receiver: HttpReceiver,
    outbox: Path,
    status: int,
    caplog: pytest.LogCaptureFixture,
) -> None:
    receiver.answers(Answer(status, {"content-type": "text/plain"}, b"no\x1b[31m way"))
    exporter = make()
    for name in ("one", "two"):
        exporter.export(made(name))
        assert not exporter.force_flush(10_000)
    exporter.shutdown()
    assert len(receiver.received) == 1
    assert waiting(outbox) == ["one", "two"]
    [warning] = warnings_of(caplog)
    assert f"answered {status} " in warning
    assert r"no\x1b[31m way; this process sends nothing more, and spans wait in" in warning
    receiver.answers(OK)
    later = make()
    later.export(made("three"))
    later.shutdown()
    assert receiver.names[1:] == ["one", "two", "three"]


def test_the_one_span_that_is_refused_does_not_cost_the_others(
    make: Make, receiver: HttpReceiver, outbox: Path, caplog: pytest.LogCaptureFixture
) -> None:
    taken: list[str] = []

    def decide(received: Received) -> Answer:
        names = received.names
        if "bad" in names:
            return Answer(400)
        taken.extend(names)
        return OK

    receiver.decide = decide
    exporter = make()
    exporter.export(made("a", "b", "bad", "c", "d", "e"))
    assert exporter.force_flush(10_000)
    assert taken == ["a", "b", "c", "d", "e"]
    assert waiting(outbox / "refused") == ["bad"]
    assert "answered 400 Bad Request" in (outbox / "refused" / "reasons.txt").read_text()
    [warning] = warnings_of(caplog)
    assert "1 span(s), first 'bad': answered 400 Bad Request; such spans are kept in" in warning


def test_where_every_message_is_refused_the_process_stops_and_all_is_kept(
    make: Make, receiver: HttpReceiver, outbox: Path, caplog: pytest.LogCaptureFixture
) -> None:
    receiver.answers(Answer(400))
    exporter = make()
    names = [str(number) for number in range(50)]
    exporter.export(made(*names))
    assert not exporter.force_flush(10_000)
    exporter.export(made("50"))
    exporter.shutdown()
    assert len(receiver.received) <= 8
    kept = waiting(outbox / "refused") + waiting(outbox)
    assert kept == [*names, "50"]
    assert [w.rpartition("; ")[2][:20] for w in warnings_of(caplog)] == [
        "such spans are kept ",
        "this process sends n",
    ]


def test_a_message_too_big_for_this_backend_is_halved(make: Make, receiver: HttpReceiver) -> None:
    taken: list[str] = []

    def decide(received: Received) -> Answer:
        names = received.names
        if len(names) > 2:
            return Answer(413)
        taken.extend(names)
        return OK

    receiver.decide = decide
    exporter = make()
    names = [str(number) for number in range(20)]
    exporter.export(made(*names))
    assert exporter.force_flush(10_000)
    assert taken == names


def test_spans_that_are_partly_rejected_are_kept_aside_and_not_sent_again(
    make: Make, receiver: HttpReceiver, outbox: Path, caplog: pytest.LogCaptureFixture
) -> None:
    receiver.answers(partly(1, "attribute too long"), OK)
    exporter = make()
    exporter.export(made("one", "two"))
    assert exporter.force_flush(10_000)
    exporter.export(made("three"))
    assert exporter.force_flush(10_000)
    assert receiver.names == ["one", "two", "three"]
    assert waiting(outbox / "partly-rejected") == ["one", "two"]
    [warning] = warnings_of(caplog)
    assert "rejected 1 of the spans: attribute too long; which ones is not said" in warning


@pytest.mark.parametrize(
    "answer",
    [
        Answer(200, {"content-type": "text/html"}, b"<!doctype html><title>Jaeger UI</title>"),
        Answer(200, {"content-type": "application/x-protobuf"}, b"\xff\xff\xff"),
        Answer(200, {"content-type": "application/json"}, b"[1"),
        Answer(200, {}, os.urandom(1) + b"\xff" * 20),
    ],
    ids=["a page", "no protobuf", "no JSON", "noise"],
)
def test_an_answer_that_no_receiver_of_otlp_gives_counts_as_none(
    make: Make,
    receiver: HttpReceiver,
    outbox: Path,
    answer: Answer,
    caplog: pytest.LogCaptureFixture,
) -> None:
    receiver.answers(answer)
    exporter = make()
    exporter.export(made("render f"))
    assert not exporter.force_flush(10_000)
    assert waiting(outbox) == ["render f"]
    [warning] = warnings_of(caplog)
    assert "but not as a receiver of OTLP does" in warning


@pytest.mark.parametrize(
    "answer",
    [
        Answer(200, {}, b""),
        Answer(202, {"content-type": "application/json"}, b"{}"),
        Answer(200, {"content-type": "application/json; charset=utf-8"}, b'{"partialSuccess":{}}'),
        Answer(
            200, {"content-type": "application/json"}, b'{"partialSuccess":{"rejectedSpans":"0"}}'
        ),
    ],
)
def test_other_ways_to_say_yes(make: Make, receiver: HttpReceiver, answer: Answer) -> None:
    receiver.answers(answer)
    exporter = make()
    exporter.export(made("render f"))
    assert exporter.force_flush(10_000)


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (Answer(resets=True), "Connection reset by peer"),
        (Answer(raw=b"SSH-2.0-OpenSSH_9.2\r\n"), "it answers something else than HTTP/1"),
        (Answer(raw=b"\0\0\6\4\0\0\0"), "it answers something else than HTTP/1 (gRPC, perhaps)"),
        (Answer(raw=b"HTTP/1.1 200 OK\r\ncont"), ""),
        (
            Answer(raw=b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"),
            "it closed the connection before its answer was whole",
        ),
    ],
    ids=["reset", "another protocol", "gRPC", "no headers", "cut short"],
)
def test_a_connection_that_breaks_loses_nothing(
    make: Make,
    receiver: HttpReceiver,
    outbox: Path,
    caplog: pytest.LogCaptureFixture,
    answer: Answer,
    why: str,
) -> None:
    receiver.answers(answer, OK)
    exporter = make()
    exporter.export(made("render f"))
    exporter.force_flush(10_000)
    assert exporter.force_flush(10_000)
    assert waiting(outbox) == []
    assert why in caplog.text


def test_an_export_never_waits_for_a_slow_backend(
    make: Make, receiver: HttpReceiver, outbox: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    busy, release = threading.Event(), threading.Event()

    def decide(received: Received) -> Answer:
        busy.set()
        release.wait(30)
        return OK

    receiver.decide = decide
    exporter = make()
    exporter.export(made("first"))
    assert busy.wait(10)
    for number in range(50):
        exporter.export(made(str(number)))
    assert not release.is_set()
    assert len(receiver.received) == 0
    assert waiting(outbox) == ["first", *map(str, range(50))]
    release.set()
    assert exporter.force_flush(10_000)
    assert receiver.names == ["first", *map(str, range(50))]


def test_a_backend_that_does_not_answer_in_time_is_said_with_the_time(
    receiver: HttpReceiver,
    outbox: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "0.2")
    receiver.answers(Answer(delay_s=0.6), OK)
    exporter = OtlpExporter(outbox)
    exporter.export(made("render f"))
    assert not exporter.force_flush(10_000)
    [warning] = warnings_of(caplog)
    assert "/v1/traces: no answer within 0.2 s; spans wait in" in warning
    exporter.shutdown()
