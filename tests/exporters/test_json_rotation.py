"""Rotation and retention of the local file."""

from __future__ import annotations

import errno
import logging
from pathlib import Path

import pytest

from scaly_viz.sources.otlp_json import decode_line
from scaly_viz_exporters import segments
from scaly_viz_exporters.file_lock import lock_path
from scaly_viz_exporters.json_file import JsonFileExporter, delete

from .local_file import names
from .made_spans import made


def test_a_full_file_is_renamed_to_the_next_segment(path: Path) -> None:
    exporter = JsonFileExporter(path, max_bytes=10**9, segment_bytes=2000)
    for number in range(9):
        exporter.export(made(f"render {number}"))
    rotated = [file.name for file in segments.rotated(path)]
    assert rotated == [f"recordings-{number:010}.jsonl" for number in range(1, len(rotated) + 1)]
    assert len(rotated) > 2
    assert all(file.stat().st_size <= 2000 for file in path.parent.iterdir())
    assert names(path) == [f"render {number}" for number in range(9)]


def test_numbers_go_on_after_the_highest_segment_even_a_compressed_one(path: Path) -> None:
    path.parent.mkdir()
    (path.parent / "recordings-0000000041.jsonl.gz").touch()
    (path.parent / "other-0000000077.jsonl").touch()
    (path.parent / "recordings-2026113001.jsonl").touch()  # a date, by the user
    exporter = JsonFileExporter(path, segment_bytes=1)
    exporter.export(made("one"))
    exporter.export(made("two"))
    assert [file.name for file in segments.rotated(path)] == [
        "recordings-0000000041.jsonl.gz",
        "recordings-0000000042.jsonl",
    ]


def test_the_oldest_segments_go_when_all_take_too_much_and_the_log_says_so_once(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "scaly_viz")
    exporter = JsonFileExporter(path, max_bytes=10_000, segment_bytes=2500)
    sizes = []
    for number in range(60):
        exporter.export(made(f"render {number}"))
        sizes.append(sum(file.stat().st_size for file in path.parent.iterdir()))
    assert 7500 < max(sizes) <= 10_000
    kept = names(path)
    assert kept == [f"render {number}" for number in range(60 - len(kept), 60)]
    dropped = [record for record in caplog.records if "deleted" in record.getMessage()]
    assert [record.levelname for record in dropped[:3]] == ["WARNING", "DEBUG", "DEBUG"]
    assert "recordings-0000000001.jsonl: deleted, as the oldest" in dropped[0].getMessage()
    assert "SCALY_VIZ_MAX_BYTES" in dropped[0].getMessage()


def test_a_file_that_cannot_be_renamed_grows_on_and_the_log_says_so_once(
    path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(path: Path) -> Path:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(segments, "rotate", refuse)
    exporter = JsonFileExporter(path, segment_bytes=1)
    for name in ("one", "two", "three"):
        exporter.export(made(name))
    assert names(path) == ["one", "two", "three"]
    assert [record.getMessage() for record in caplog.records] == [
        f"{path}: cannot be renamed and grows on: [Errno 1] Operation not permitted"
    ]


def test_an_export_bigger_than_every_limit_is_kept_whole(path: Path) -> None:
    exporter = JsonFileExporter(path, max_bytes=1000, segment_bytes=100)
    exporter.export(made("small"))
    exporter.export(made("x" * 5000))
    assert names(path) == ["x" * 5000]


def test_an_export_does_not_depend_on_the_size_of_the_file(path: Path) -> None:
    path.parent.mkdir()
    with path.open("wb") as file:
        file.truncate(2**36)  # nobody could read 64 GiB before this test's timeout
    JsonFileExporter(path, max_bytes=2**40, segment_bytes=2**40).export(made("render f"))
    with path.open("rb") as file:
        file.seek(2**36)
        assert file.read(1) == b"\n"
        assert [span.name for span in decode_line(file.read(), "here")] == ["render f"]


def test_delete_removes_the_file_and_its_segments_and_nothing_else(path: Path) -> None:
    exporter = JsonFileExporter(path, segment_bytes=1)
    for name in ("one", "two", "three"):
        exporter.export(made(name))
    scaly_viz_file = path.with_name("recordings.json")
    scaly_viz_file.write_text("[]")
    delete(path)
    assert sorted(path.parent.iterdir()) == [scaly_viz_file, lock_path(path)]
    delete(path)
    exporter.export(made("four"))
    assert names(path) == ["four"]


def test_delete_makes_no_folder(path: Path) -> None:
    delete(path)
    assert not path.parent.exists()
