"""The OTLP exporter where the disk takes nothing, or what waits there is damaged."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from logged import warnings_of
from scaly_viz_exporters.otlp import OtlpExporter
from scaly_viz_exporters.outbox import Outbox
from scaly_viz_exporters.span_lines import line_of

from .conftest import Make
from .made_spans import made
from .receivers import HttpReceiver, waiting


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
