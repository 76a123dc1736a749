"""``scaly-viz ship``: everything arrives once, however often the command is run or interrupted."""

from __future__ import annotations

import gzip
import json
import signal
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import zstandard
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans

import scaly_viz
from exporters.made_spans import made
from exporters.receivers import (
    OK,
    Answer,
    HttpReceiver,
    Received,
    grpc_receiver,
    http_receiver,
    partly,
    waiting,
)
from scaly_viz.assembling import assemble
from scaly_viz.sources.otlp_json import decode_line
from scaly_viz.span_record import SpanRecord
from scaly_viz_exporters import parcels
from scaly_viz_exporters.outbox import Outbox
from scaly_viz_exporters.span_lines import line_of, spans_of

from .files import Line, attribute_of, write_lines
from .running import COMMAND, error_of, output_of, run, run_on_terminal


@pytest.fixture
def receiver() -> Iterator[HttpReceiver]:
    with http_receiver() as receiver:
        yield receiver


@pytest.fixture
def outbox(recording_folder: Path) -> Outbox:
    return Outbox(recording_folder / "outbox", 10**9)


@pytest.fixture
def file(rendered: list[Line], tmp_path: Path) -> Path:
    """A file with the recordings of the four renders."""
    path = tmp_path / "some.jsonl"
    write_lines(path, rendered)
    return path


def lines_at(path: Path) -> list[bytes]:
    return path.read_bytes().splitlines()


def wire(path: Path) -> list[bytes]:
    """Return the spans of a file as a backend should get them."""
    spans = [span for line in lines_at(path) for span in spans_of(line)]
    return spans_on_wire(Received("", {}, encode_spans(spans), 0))


def spans_on_wire(*received: Received) -> list[bytes]:
    """Return each span with its resource and scope, as protobuf."""
    result = []
    for request in received:
        for of in request.request.resource_spans:
            for scope in of.scope_spans:
                for span in scope.spans:
                    parts = (of.resource, scope.scope, span)
                    result.append(b"".join(part.SerializeToString() for part in parts))
    return result


def read_back(receiver: HttpReceiver) -> list[SpanRecord]:
    """Return what a reader makes of all that the receiver got."""
    spans = []
    for request in receiver.received:
        for of in request.request.resource_spans:
            for scope in of.scope_spans:
                for span in scope.spans:
                    one = type(request.request)()
                    copy = one.resource_spans.add()
                    copy.resource.CopyFrom(of.resource)
                    copied = copy.scope_spans.add()
                    copied.scope.CopyFrom(scope.scope)
                    copied.spans.add().CopyFrom(span)
                    spans += decode_line(as_json(one), "backend")
    return spans


def as_json(request: object) -> bytes:
    from google.protobuf.json_format import MessageToJson

    # Ids come out in base64, which the reader takes, too.
    return MessageToJson(request, indent=None).encode()  # type: ignore[arg-type]  # a message


def test_a_file_arrives_as_it_is_and_a_repeated_command_sends_nothing(
    file: Path, receiver: HttpReceiver
) -> None:
    spans = len(lines_at(file))
    told = output_of("ship", file, "--to", receiver.url)
    assert told == f"{spans} spans of 4 recordings delivered to {receiver.url}/v1/traces\n"
    assert spans_on_wire(*receiver.received) == wire(file)
    requests = len(receiver.received)
    assert output_of("ship", file, "--to", receiver.url) == (
        f"nothing to ship: {spans} spans are known to be delivered to {receiver.url}/v1/traces"
        " (--again sends them again)\n"
    )
    assert len(receiver.received) == requests
    output_of("ship", file, "--to", f"{receiver.url}/v1/traces", "--again")
    assert spans_on_wire(*receiver.received) == 2 * wire(file)


def test_another_backend_gets_everything(file: Path, receiver: HttpReceiver) -> None:
    output_of("ship", file, "--to", receiver.url)
    output_of("ship", file, "--to", f"{receiver.url}/other")
    assert spans_on_wire(*receiver.received) == 2 * wire(file)


def test_new_recordings_in_the_file_are_sent_without_the_old(
    rendered: list[Line], tmp_path: Path, receiver: HttpReceiver
) -> None:
    path = tmp_path / "grows.jsonl"
    write_lines(path, rendered[:10])
    output_of("ship", path, "--to", receiver.url)
    write_lines(path, rendered)
    output_of("ship", path, "--to", receiver.url)
    assert spans_on_wire(*receiver.received) == wire(path)


def test_packed_files_and_folders_arrive_each_span_once(
    file: Path, tmp_path: Path, receiver: HttpReceiver
) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "a.jsonl.gz").write_bytes(gzip.compress(file.read_bytes()))
    (folder / "b.jsonl.zst").write_bytes(zstandard.compress(file.read_bytes()))
    output_of("ship", folder, file, "--to", receiver.url)
    assert spans_on_wire(*receiver.received) == wire(file)


def test_recordings_of_scaly_viz_come_back_as_they_were_and_have_the_same_ids_each_time(
    rendered: list[Line], file: Path, tmp_path: Path, receiver: HttpReceiver
) -> None:
    recordings = scaly_viz.load_recordings(file)
    path = tmp_path / "viz" / "recordings.json"
    path.parent.mkdir()
    path.write_text(json.dumps(recordings))
    told = output_of("ship", path, "--to", receiver.url)
    assert "of 4 recordings delivered to" in told
    output_of("ship", path.parent, "--to", receiver.url)
    back = [recording.to_dict() for recording in assemble(read_back(receiver))]
    assert sorted(back, key=lambda r: str(r["id"])) == sorted(
        recordings, key=lambda r: str(r["id"])
    )
    first = spans_on_wire(*receiver.received)
    receiver.received.clear()
    output_of("ship", path, "--to", receiver.url, "--again")
    assert spans_on_wire(*receiver.received) == first


def test_spans_of_other_services_stay_at_home(
    rendered: list[Line], tmp_path: Path, receiver: HttpReceiver
) -> None:
    """A Collector's file has many spans a line, of anybody."""
    ours = [span for line in rendered for span in spans_of(json.dumps(line).encode())]
    others = made("GET /", "SELECT")
    from opentelemetry.exporter.otlp.json.common.trace_encoder import encode_spans as to_json

    path = tmp_path / "collector.json"
    path.write_text(to_json([others[0], *ours[:5], others[1], *ours[5:]]).to_json() + "\n")
    output_of("ship", path, "--to", receiver.url)
    assert [name for request in receiver.received for name in request.names] == [
        span.name for span in ours
    ]


def test_a_dry_run_sends_and_remembers_nothing(file: Path, receiver: HttpReceiver) -> None:
    size = sum(len(line) + 1 for line in lines_at(file))
    told = output_of("ship", file, "--to", receiver.url, "--dry-run")
    spans = len(lines_at(file))
    assert told == (
        f"{spans} spans of 4 recordings, {size:,} bytes, would be sent to {receiver.url}/v1/traces\n"
    )
    assert receiver.received == []


def test_damaged_lines_are_told_and_the_rest_is_sent(file: Path, receiver: HttpReceiver) -> None:
    whole = wire(file)
    file.write_bytes(b'{"resourceSpans": [{\n' + file.read_bytes())
    result = run("ship", file, "--to", receiver.url)
    assert result.exit_code == 0
    assert "some.jsonl:1: not JSON" in result.stderr
    assert spans_on_wire(*receiver.received) == whole


# The outbox


def test_what_waits_is_sent_in_order_and_leaves_the_outbox(
    outbox: Outbox, receiver: HttpReceiver
) -> None:
    for name in ("one", "two", "three"):
        outbox.append(line_of(made(name)[0]))
        assert outbox.take()
    outbox.append(line_of(made("four")[0]))
    told = output_of("ship", "--to", receiver.url)
    assert told == f"4 spans delivered to {receiver.url}/v1/traces\n"
    assert receiver.names == ["one", "two", "three", "four"]
    assert waiting(outbox.folder) == []
    assert output_of("ship", "--to", receiver.url) == (
        f"nothing to ship: nothing waits in {outbox.folder}\n"
    )


def test_what_was_refused_is_tried_again_once_each_time(
    outbox: Outbox, receiver: HttpReceiver
) -> None:
    outbox.append(line_of(made("bad")[0]) + line_of(made("good")[0]))
    receiver.decide = lambda received: Answer(400) if "bad" in received.names else OK
    result = run("ship", "--to", receiver.url)
    assert result.exit_code == 1
    first, second = result.stderr.splitlines()
    assert first == "scaly-viz: warning: 1 span, first 'bad': answered 400 Bad Request"
    assert second == (
        f"scaly-viz: error: 1 span not taken by {receiver.url}/v1/traces; 1 span delivered to"
        f" {receiver.url}/v1/traces"
    )
    assert waiting(outbox.folder / "refused") == ["bad"]
    receiver.answers(OK)
    output_of("ship", "--to", receiver.url)
    assert receiver.names[-1] == "bad"
    assert waiting(outbox.folder / "refused") == []


def test_a_file_of_the_outbox_can_be_shipped_like_any_other(
    rendered: list[Line], outbox: Outbox, receiver: HttpReceiver
) -> None:
    outbox.append(b"".join(json.dumps(line).encode() + b"\n" for line in rendered))
    output_of("ship", outbox.folder, "--to", receiver.url)
    assert len(receiver.names) == len(rendered)
    assert len(waiting(outbox.folder)) == len(
        rendered
    )  # it was asked to send the file, not the outbox


# Backends that do not take it all


def test_a_backend_that_is_down_is_said_in_one_line(file: Path) -> None:
    told = error_of("ship", file, "--to", "http://127.0.0.1:9")
    assert told == (
        "http://127.0.0.1:9/v1/traces: Connection refused; 0 spans delivered to"
        " http://127.0.0.1:9/v1/traces, the rest is kept: run it again to go on"
    )


def test_a_port_that_speaks_grpc_is_hinted_at(file: Path) -> None:
    assert "(port 4317 is gRPC's by custom, HTTP's is 4318)" in error_of(
        "ship", file, "--to", "http://127.0.0.1:4317"
    )


def test_a_run_that_fails_in_the_middle_is_continued_by_the_next(
    file: Path, receiver: HttpReceiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parcels, "MESSAGE_BYTES", 20_000)
    monkeypatch.setattr("scaly_viz_exporters.parcels.messages.__defaults__", (20_000,))
    receiver.answers(OK, OK, Answer(503))
    assert "answered 503 Service Unavailable" in error_of("ship", file, "--to", receiver.url)
    taken = receiver.received[:2]
    receiver.received.clear()
    receiver.answers(OK)
    output_of("ship", file, "--to", receiver.url)
    assert spans_on_wire(*taken, *receiver.received) == wire(file)


def test_a_backend_that_asks_to_wait_is_waited_for(file: Path, receiver: HttpReceiver) -> None:
    receiver.answers(Answer(429, {"retry-after": "1"}), OK)
    output_of("ship", file, "--to", receiver.url)
    first, second = receiver.received
    assert second.at - first.at >= 1
    assert spans_on_wire(second) == wire(file)


def test_it_waits_no_longer_than_it_may(file: Path, receiver: HttpReceiver) -> None:
    receiver.answers(Answer(429, {"retry-after": "5"}), OK)
    told = error_of("ship", file, "--to", receiver.url, "--wait", "4")
    assert "answered 429 Too Many Requests" in told
    assert len(receiver.received) == 1


def test_a_backend_that_comes_up_is_waited_for_on_request(file: Path) -> None:
    with http_receiver() as closed:
        port = int(closed.url.rpartition(":")[2])
    started = threading.Event()
    done = threading.Event()
    arrived: list[bytes] = []

    def start() -> None:
        started.wait()
        with http_receiver(port) as receiver:
            done.wait(30)
            arrived.extend(spans_on_wire(*receiver.received))

    thread = threading.Thread(target=start)
    thread.start()
    started.set()
    output_of("ship", file, "--to", f"http://127.0.0.1:{port}", "--wait", "30")
    done.set()
    thread.join()
    assert arrived == wire(file)


def test_what_is_partly_rejected_is_said_and_not_sent_again(
    file: Path, receiver: HttpReceiver
) -> None:
    receiver.answers(partly(3, "too old"), OK)
    result = run("ship", file, "--to", receiver.url)
    assert result.exit_code == 1
    assert "rejected 3 of the spans: too old" in result.stderr
    assert "nothing to ship: " in output_of("ship", file, "--to", receiver.url)
    assert len(receiver.received) == 1


# Ways there


def test_headers_and_protocol_are_options(file: Path, receiver: HttpReceiver) -> None:
    output_of(
        *("ship", file, "--to", receiver.url, "--protocol", "http/json"),
        *("--header", "Authorization=Bearer a=b", "--header", "x-scope-orgid=me"),
    )
    [request] = receiver.received
    assert request.headers["content-type"] == "application/json"
    assert request.headers["authorization"] == "Bearer a=b"
    assert request.headers["x-scope-orgid"] == "me"
    assert spans_on_wire(request) == wire(file)


@pytest.mark.parametrize("scheme", ["http://", ""])
def test_over_grpc(file: Path, scheme: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_INSECURE", "true")
    with grpc_receiver() as receiver:
        output_of("ship", file, "--to", f"{scheme}{receiver.address}", "--protocol", "grpc")
        assert spans_on_wire(*receiver.received) == wire(file)


def test_without_to_the_environment_says_where(
    file: Path, receiver: HttpReceiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = run("ship", file)
    assert result.exit_code == 2
    assert "where to? Give --to URL, or set OTEL_EXPORTER_OTLP_ENDPOINT" in result.stderr
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.url)
    output_of("ship", file)
    assert spans_on_wire(*receiver.received) == wire(file)


def test_what_makes_no_sense_is_refused(file: Path, receiver: HttpReceiver) -> None:
    assert error_of("ship", file, "--to", "localhost:4318") == (
        "--to localhost:4318: not a URL such as http://localhost:4318"
    )
    for address in ("http://", "http://[::1", "http://127.0.0.1:99999", "ftp://127.0.0.1"):
        assert error_of("ship", file, "--to", address) == (
            f"--to {address}: not a URL such as http://localhost:4318"
        )
    for option in ("--timeout", "--wait"):
        result = run("ship", file, "--to", receiver.url, option, "nan")
        assert result.exit_code == 2
        assert "nan is not a number of seconds" in result.stderr
    assert error_of("ship", "nowhere", "--to", receiver.url) == "nowhere: no such file or folder"
    assert run("ship", file, "--to", receiver.url, "--header", "token").exit_code == 2
    assert receiver.received == []


# Interrupted, and two at once


def test_ctrl_c_ends_after_the_message_and_the_next_run_sends_the_rest(
    rendered: list[Line], tmp_path: Path, receiver: HttpReceiver
) -> None:
    """Two spans of half the limit and more are two messages."""
    path = tmp_path / "big.jsonl"
    line = next(line for line in rendered if attribute_of(line, "scaly.step.name") == "expression")
    [small] = spans_of(json.dumps(line).encode())
    attributes = dict(small.attributes or {})
    big = [made(f"step {n}", **attributes, filler="x" * 2_000_000)[0] for n in range(3)]
    path.write_bytes(b"".join(map(line_of, big)))
    sent = threading.Event()
    go_on = threading.Event()

    def decide(received: Received) -> Answer:
        sent.set()
        go_on.wait(30)
        return OK

    receiver.decide = decide
    process = subprocess.Popen(
        [*COMMAND, "ship", path, "--to", receiver.url], stderr=subprocess.PIPE, text=True
    )
    assert sent.wait(60)
    process.send_signal(signal.SIGINT)
    go_on.set()
    _, errors = process.communicate()
    assert process.returncode == 130
    assert errors == (
        f"scaly-viz: warning: interrupted: 1 span of 1 recording delivered to"
        f" {receiver.url}/v1/traces; run it again to go on\n"
    )
    output_of("ship", path, "--to", receiver.url)
    assert receiver.names == ["step 0", "step 1", "step 2"]


def test_two_at_once_send_everything_once(file: Path, receiver: HttpReceiver) -> None:
    busy = threading.Event()
    go_on = threading.Event()

    def decide(received: Received) -> Answer:
        busy.set()
        go_on.wait(30)
        return OK

    receiver.decide = decide
    command = [*COMMAND, "ship", str(file), "--to", receiver.url]
    first = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    assert busy.wait(60)
    assert error_of("ship", file, "--to", receiver.url) == (
        f"another scaly-viz ship to {receiver.url}/v1/traces is running"
    )
    go_on.set()
    assert first.wait() == 0
    assert spans_on_wire(*receiver.received) == wire(file)


def test_a_terminal_shows_a_bar_and_a_pipe_nothing(file: Path, receiver: HttpReceiver) -> None:
    code, screen = run_on_terminal("ship", str(file), "--to", receiver.url)
    assert code == 0
    assert "shipping" in screen
    assert screen.rstrip().endswith(f"delivered to {receiver.url}/v1/traces")
