"""The local file: one span a line, whole, for its owner alone."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from opentelemetry.exporter.otlp.json.common.trace_encoder import encode_spans
from opentelemetry.sdk.trace.export import SpanExportResult

from scaly_viz.sources.files import read_spans
from scaly_viz_exporters.json_file import JsonFileExporter

from .local_file import names, read
from .made_spans import Value, made


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def umask() -> Iterator[None]:
    """Restore the umask that a test sets."""
    before = os.umask(0)
    os.umask(before)
    yield
    os.umask(before)


def test_a_span_becomes_the_official_encoders_line(path: Path) -> None:
    [span] = made("render f", **{"scaly.recording.id": "42"})
    assert JsonFileExporter(path).export([span]) is SpanExportResult.SUCCESS
    assert path.read_text().endswith("\n")
    [line] = path.read_text().splitlines()
    assert line == json.dumps(encode_spans([span]).to_dict(), separators=(",", ":"))


def test_spans_exported_together_are_lines_of_their_own_in_their_order(path: Path) -> None:
    JsonFileExporter(path).export(made("lower", "emit C", "render f"))
    JsonFileExporter(path).export(made("later"))
    assert names(path) == ["lower", "emit C", "render f", "later"]
    assert [span.origin for span in read(path)] == [f"recordings.jsonl:{n}" for n in (1, 2, 3, 4)]


def test_an_export_of_nothing_touches_no_disk(path: Path) -> None:
    assert JsonFileExporter(path).export([]) is SpanExportResult.SUCCESS
    assert not path.parent.exists()


def test_the_constructor_touches_no_disk_and_the_export_finds_the_configured_folder(
    path: Path,
) -> None:
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("SCALY_VIZ_DIR", str(path.parent))
        exporter = JsonFileExporter()
        assert not path.parent.exists()
        exporter.export(made("render f"))
    assert names(path) == ["render f"]


def test_without_a_home_folder_the_error_says_what_to_set() -> None:
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("SCALY_VIZ_DIR", "~no-such-user/viz")
        exporter = JsonFileExporter()
        with pytest.raises(OSError, match=r"home directory.*set SCALY_VIZ_DIR"):
            exporter.export(made("render f"))


def test_the_size_limit_comes_from_the_environment(path: Path) -> None:
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("SCALY_VIZ_MAX_BYTES", "40000")
        exporter = JsonFileExporter(path)
    for _ in range(100):
        exporter.export(made("x" * 1000))
    assert 20_000 < sum(file.stat().st_size for file in path.parent.iterdir()) <= 40_000


@pytest.mark.parametrize("mask", [0o000, 0o022, 0o777])
def test_only_the_owner_may_read_whatever_the_umask(path: Path, umask: None, mask: int) -> None:
    exporter = JsonFileExporter(path, segment_bytes=1)
    os.umask(mask)
    exporter.export(made("render f"))
    exporter.export(made("render g"))
    os.umask(0o022)
    assert mode(path.parent) == 0o700
    files = {file.name: mode(file) for file in path.parent.iterdir()}
    assert files == {
        "recordings.jsonl": 0o600,
        "recordings.jsonl.lock": 0o600,
        "recordings-0000000001.jsonl": 0o600,
    }


def test_a_folder_that_exists_keeps_its_mode(path: Path) -> None:
    path.parent.mkdir(mode=0o755)
    JsonFileExporter(path).export(made("render f"))
    assert (mode(path.parent), mode(path)) == (0o755, 0o600)


def test_a_file_or_folder_deleted_meanwhile_is_made_again(path: Path) -> None:
    exporter = JsonFileExporter(path)
    exporter.export(made("one"))
    path.unlink()
    exporter.export(made("two"))
    assert names(path) == ["two"]
    for file in path.parent.iterdir():
        file.unlink()
    path.parent.rmdir()
    exporter.export(made("three"))
    assert names(path) == ["three"]


@pytest.mark.parametrize("torn", [b"{", b'{"resourceSpans": [{"resource": {"attr', b"\xf0\x9f"])
def test_a_torn_last_line_does_not_hurt_the_next_recording(path: Path, torn: bytes) -> None:
    exporter = JsonFileExporter(path)
    exporter.export(made("before"))
    with path.open("ab") as file:
        file.write(torn)
    exporter.export(made("after"))
    reports: list[str] = []
    assert [span.name for span in read_spans(path, reports.append)] == ["before", "after"]
    [report] = reports
    assert report.startswith("recordings.jsonl:2: not JSON: ")
    assert report.endswith("; the line was left out")


def test_one_span_that_cannot_be_encoded_does_not_cost_the_others(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    deep: Value = "bottom"
    for _ in range(400):
        deep = [deep]
    [good] = made("good")
    [bad] = made("bad", **{"deep": deep})
    assert JsonFileExporter(path).export([bad, good]) is SpanExportResult.FAILURE
    assert names(path) == ["good"]
    assert "span 'bad' cannot be written as OTLP JSON and is left out" in caplog.text


def test_after_the_shutdown_spans_are_refused_and_said_to_be_lost(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    exporter = JsonFileExporter(path)
    exporter.export(made("in time"))
    assert exporter.force_flush()
    exporter.shutdown()
    assert exporter.export(made("late")) is SpanExportResult.FAILURE
    assert names(path) == ["in time"]
    assert "1 spans came after the exporter's shutdown and are lost" in caplog.text
