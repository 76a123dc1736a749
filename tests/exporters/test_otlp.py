"""The OTLP exporter: what was exported reaches the backend once, or waits on disk."""

from __future__ import annotations

import errno
import logging
import os
import socket
import stat
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.trace.export import SpanExportResult

from scaly_viz_exporters import parcels, sender
from scaly_viz_exporters.otlp import OtlpExporter
from scaly_viz_exporters.outbox import Outbox
from scaly_viz_exporters.span_lines import line_of

from .receivers import OK, Answer, HttpReceiver, Received, http_receiver, made, partly, waiting

type Make = Callable[[], OtlpExporter]


@pytest.fixture
def receiver(monkeypatch: pytest.MonkeyPatch) -> Iterator[HttpReceiver]:
    """A receiver that the environment leads to."""
    with http_receiver() as receiver:
        for name, value in receiver.endpoint().items():
            monkeypatch.setenv(name, value)
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


def warnings_of(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [r.getMessage() for r in caplog.records if r.levelno >= logging.WARNING]


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


def test_after_the_shutdown_spans_wait_on_disk(
    make: Make, receiver: HttpReceiver, outbox: Path
) -> None:
    exporter = make()
    exporter.shutdown()
    assert exporter.export(made("late")) is SpanExportResult.SUCCESS
    assert not exporter.force_flush(100)
    assert waiting(outbox) == ["late"]


# What stands in the way of the disk


def test_what_the_outbox_may_not_take_is_sent_from_memory_in_order(
    receiver: HttpReceiver, outbox: Path, caplog: pytest.LogCaptureFixture
) -> None:
    exporter = OtlpExporter(outbox, max_bytes=3000)
    names = [str(number) for number in range(10)]
    for name in names:
        exporter.export(made(name, body="x" * 500))
    assert 0 < len(waiting(outbox)) < 10
    assert exporter.force_flush(10_000)
    exporter.shutdown()
    assert receiver.names == names
    [warning] = warnings_of(caplog)
    assert "holds 3000 bytes" in warning
    assert "spans are sent from memory, and lost if the backend does not take them" in warning


def test_a_file_in_the_place_of_the_folder_costs_nothing_while_the_backend_answers(
    receiver: HttpReceiver, outbox: Path, caplog: pytest.LogCaptureFixture
) -> None:
    outbox.parent.mkdir()
    outbox.write_text("in the way")
    exporter = OtlpExporter(outbox)
    exporter.export(made("one"))
    exporter.export(made("two"))
    assert exporter.force_flush(10_000)
    exporter.shutdown()
    assert receiver.names == ["one", "two"]
    [warning] = warnings_of(caplog)
    assert "Not a directory" in warning


def test_the_disk_that_takes_lines_again_gets_those_from_memory_first(
    down: str, outbox: Path
) -> None:
    exporter = OtlpExporter(outbox)
    outbox.parent.mkdir()
    outbox.write_text("in the way")
    exporter.export(made("one"))
    outbox.unlink()
    exporter.export(made("two"))
    exporter.shutdown()
    assert waiting(outbox) == ["one", "two"]


@pytest.mark.parametrize(
    "bad", [b"{garbage", b"\xff", b"[]", b'{"resourceSpans": [{"resource": {"attr'], ids=repr
)
def test_a_line_that_nobody_can_read_is_kept_aside_and_the_others_are_delivered(
    make: Make, receiver: HttpReceiver, outbox: Path, bad: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    [before, after] = made("before", "after")
    Outbox(outbox, 10**9).append(line_of(before) + b"\n" + bad + b"\n\n" + line_of(after))
    exporter = make()
    exporter.export(made("now"))
    assert exporter.force_flush(10_000)
    assert receiver.names == ["before", "after", "now"]
    assert (outbox / "unreadable" / "spans.jsonl").read_bytes() == bad + b"\n"
    [warning] = warnings_of(caplog)
    assert "not OTLP JSON" in warning
    assert f"is kept in {outbox}/unreadable" in warning


def test_a_torn_last_line_does_not_hold_up_the_others(
    make: Make, receiver: HttpReceiver, outbox: Path
) -> None:
    [whole, torn] = made("whole", "torn")
    Outbox(outbox, 10**9).append(line_of(whole))
    with (outbox / "spans.jsonl").open("ab") as file:
        file.write(line_of(torn)[:-40])
    assert Outbox(outbox, 10**9).take()
    exporter = make()
    exporter.export(made("now"))
    assert exporter.force_flush(10_000)
    assert receiver.names == ["whole", "now"]
    assert waiting(outbox) == []


def test_what_is_no_file_holds_up_nobody(
    make: Make, receiver: HttpReceiver, outbox: Path, caplog: pytest.LogCaptureFixture
) -> None:
    [span] = made("kept")
    Outbox(outbox, 10**9).append(line_of(span))
    (outbox / "spans-0000000001.jsonl").mkdir()
    (outbox / "spans-0000000002.jsonl").symlink_to(outbox / "gone")
    exporter = make()
    exporter.export(made("now"))
    assert exporter.force_flush(10_000)
    assert receiver.names == ["kept", "now"]
    assert warnings_of(caplog) == []


def test_an_outbox_that_cannot_be_sent_from_is_said_and_the_spans_wait(
    make: Make, outbox: Path, caplog: pytest.LogCaptureFixture
) -> None:
    outbox.parent.mkdir()
    outbox.mkdir()
    (outbox / "delivery.lock").mkdir()
    exporter = make()
    exporter.export(made("one"))
    assert not exporter.force_flush(10_000)
    assert waiting(outbox) == ["one"]
    [warning] = warnings_of(caplog)
    assert warning == (
        f"otlp: {outbox}/delivery.lock: Is a directory; spans wait in {outbox} until this or a later"
        " process, or scaly-viz ship, delivers them"
    )


def test_a_full_disk_is_said_with_the_folder(
    receiver: HttpReceiver,
    outbox: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def full(file: object, lines: bytes) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("scaly_viz_exporters.outbox.append_lines", full)
    exporter = OtlpExporter(outbox)
    exporter.export(made("one"))
    assert exporter.force_flush(10_000)
    exporter.shutdown()
    assert receiver.names == ["one"]
    [warning] = warnings_of(caplog)
    assert warning.startswith(
        f"otlp: {outbox}: No space left on device; spans are sent from memory"
    )


def test_a_note_on_a_file_of_long_ago_counts_for_nothing(
    make: Make, receiver: HttpReceiver, outbox: Path
) -> None:
    box = Outbox(outbox, 10**9)
    [span] = made("kept")
    box.append(line_of(span))
    assert box.take()
    (outbox / "spans-0000000001.sent").write_text(f"{100:020} {1:020} {2:020} {3:020}\n")
    (outbox / "spans-0000000009.sent").write_text("old")
    exporter = make()
    exporter.export(made("now"))
    assert exporter.force_flush(10_000)
    assert receiver.names == ["kept", "now"]
    assert sorted(file.name for file in outbox.iterdir()) == ["delivery.lock", "spans.jsonl.lock"]


def test_an_idle_exporter_has_no_thread(make: Make, receiver: HttpReceiver) -> None:
    exporter = make()
    exporter.export(made("render f"))
    assert exporter.force_flush(10_000)
    deadline = time.monotonic() + 10
    while exporter._sender._thread is not None:
        assert time.monotonic() < deadline
        time.sleep(0.01)
