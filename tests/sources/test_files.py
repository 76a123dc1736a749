"""Recording files: read whole, in order, once, whatever is damaged, growing or renamed meanwhile."""

from __future__ import annotations

import errno
import gzip
import io
import itertools
import json
import os
import threading
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import zstandard

from scaly_viz.sources import files, lines, snapshot
from scaly_viz.sources.files import read_spans, segments
from scaly_viz_exporters.file_lock import writers_lock
from scaly_viz_exporters.segments import rotate

from .span_files import (
    Following,
    append,
    fail,
    line,
    lines_of,
    read,
)


def test_a_missing_file_or_folder_has_no_spans(tmp_path: Path) -> None:
    assert read(tmp_path / "recordings.jsonl") == ([], [])
    assert read(tmp_path / "no folder" / "recordings.jsonl") == ([], [])


def test_an_empty_file_or_folder_has_no_spans(path: Path) -> None:
    path.touch()
    assert read(path) == ([], [])
    assert read(path.parent) == ([], [])


def test_every_span_tells_the_file_and_line_it_was_read_from(path: Path) -> None:
    path.write_bytes(lines_of("a") + b"\n  \r\n" + lines_of("b"))
    assert [(span.name, span.origin) for span in read_spans(path, fail)] == [
        ("a", "recordings.jsonl:1"),
        ("b", "recordings.jsonl:4"),
    ]


def test_windows_line_ends_and_a_byte_order_mark_are_no_damage(path: Path) -> None:
    path.write_bytes(b"\xef\xbb\xbf" + lines_of("a", "b").replace(b"\n", b"\r\n"))
    assert read(path) == (["a", "b"], [])


def test_the_last_line_needs_no_line_end_when_it_is_whole(path: Path) -> None:
    path.write_bytes(lines_of("a") + line("b"))
    assert read(path) == (["a", "b"], [])


def test_segments_are_read_first_and_oldest_first(path: Path) -> None:
    for name in ("a", "b", "c"):
        path.write_bytes(lines_of(name))
        rotate(path)
    path.write_bytes(lines_of("d"))
    numbered = [path.with_name(f"recordings-{number:010}.jsonl") for number in (1, 2, 3)]
    assert segments(path) == [*numbered, path]
    assert read(path) == (["a", "b", "c", "d"], [])


def test_a_segment_that_is_named_stands_alone(path: Path) -> None:
    for name in ("a", "b"):
        path.write_bytes(lines_of(name))
        rotate(path)
    segment = path.with_name("recordings-0000000002.jsonl")
    assert segments(segment) == [segment]
    assert read(segment) == (["b"], [])


def test_a_compressed_segment_keeps_its_place_and_is_not_read_twice(path: Path) -> None:
    for name in ("a", "b"):
        path.write_bytes(lines_of(name))
        segment = rotate(path)
        segment.with_name(segment.name + ".gz").write_bytes(gzip.compress(lines_of(name)))
    path.with_name("recordings-0000000001.jsonl").unlink()
    path.write_bytes(lines_of("c"))
    assert read(path) == (["a", "b", "c"], [])


def test_bad_lines_are_reported_and_the_others_read(path: Path) -> None:
    path.write_bytes(
        lines_of("a") + b'garbage\n{"foo": 1}\n' + lines_of("b") + b"[]\n" + lines_of("c")
    )
    assert read(path) == (
        ["a", "b", "c"],
        [
            "recordings.jsonl:2: not JSON: Expecting value at column 1; the line was left out",
            "recordings.jsonl:3: not OTLP traces: no resourceSpans, but the keys 'foo';"
            " the line was left out",
            "recordings.jsonl:5: not OTLP traces: a list instead of an object;"
            " the line was left out",
        ],
    )


def test_a_file_of_garbage_does_not_flood_the_reader(path: Path) -> None:
    path.write_bytes(b"\x00garbage\n" * 1000 + lines_of("a"))
    names, reports = read(path)
    assert names == ["a"]
    assert len(reports) == lines.MAX_REPORTS + 1
    assert reports[-1] == "recordings.jsonl: 900 more problems like these"


def test_a_strict_report_ends_the_reading_and_closes_the_file(path: Path) -> None:
    path.write_bytes(lines_of("a") + b"garbage\n")
    with pytest.raises(AssertionError, match=r"recordings\.jsonl:2: not JSON"):
        list(read_spans(path, fail))


def test_a_whole_line_behind_a_torn_one_is_read(path: Path) -> None:
    """As tools leave it that append without looking at the end of the file."""
    path.write_bytes(lines_of("a") + line("b")[:30] + lines_of("c") + line("d") + lines_of("e"))
    names, [report] = read(path)
    assert names == ["a", "c", "d", "e"]
    assert report.startswith("recordings.jsonl:2: not JSON: ")
    assert report.endswith("; this part of a torn line was left out")


def test_an_indented_document_is_read_as_one(path: Path) -> None:
    indented = json.dumps(json.loads(line("b")), indent=2).encode()
    path.write_bytes(lines_of("a") + indented + b"\n" + indented + b"\n" + lines_of("c"))
    spans = list(read_spans(path, fail))
    assert [span.name for span in spans] == ["a", "b", "b", "c"]
    assert [span.origin for span in spans][1:3] == ["recordings.jsonl:2", "recordings.jsonl:17"]


def test_a_line_torn_after_its_brace_does_not_take_others_with_it(path: Path) -> None:
    path.write_bytes(b"{\n" + line("torn")[1:] + b"\n" + lines_of("a") + b"{\n" + lines_of("b"))
    names, reports = read(path)
    assert names == ["torn", "a", "b"]
    assert [report.partition(": ")[0] for report in reports] == ["recordings.jsonl:4"]


def test_a_line_that_is_too_long_is_left_out(path: Path, short_lines: None) -> None:
    path.write_bytes(lines_of("a", "b" * 2000, "c") + line("d" * 2000))
    assert read(path) == (
        ["a", "c"],
        [
            f"recordings.jsonl:{number}: longer than 1000 bytes; the line was left out"
            for number in (2, 4)
        ],
    )


def test_a_line_that_is_too_long_takes_no_memory(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines, "MAX_LINE_BYTES", 2**20)
    path.write_bytes(gzip.compress(line("a" * 2**25) + b"\n" + lines_of("b"), 1))
    tracemalloc.start()
    try:
        names, _ = read(path)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert names == ["b"]
    assert peak < 2**24


def test_a_torn_last_line_is_reported_as_torn(path: Path) -> None:
    path.write_bytes(lines_of("a") + line("b")[:-9])
    names, [report] = read(path)
    assert names == ["a"]
    assert report.startswith("recordings.jsonl:2: not JSON: ")
    assert report.endswith("; the line, which is torn or being written, was left out")


def test_a_line_that_is_being_written_is_read_when_it_is_whole(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits = threading.Event()

    @contextmanager
    def told_lock(path: Path, timeout_s: float, *, create: bool) -> Iterator[bool]:
        waits.set()
        with writers_lock(path, 60, create=create) as locked:
            yield locked

    monkeypatch.setattr(files, "writers_lock", told_lock)
    results: list[tuple[list[str], list[str]]] = []
    reader = threading.Thread(target=lambda: results.append(read(path)))
    with writers_lock(path, 0):
        path.write_bytes(lines_of("a") + line("b")[:30])
        reader.start()
        assert waits.wait(60)
        append(path, line("b")[30:] + b"\n" + lines_of("not there when the reading began"))
    reader.join()
    assert results == [(["a", "b"], [])]


def test_what_is_appended_while_reading_is_not_read(path: Path) -> None:
    path.write_bytes(lines_of("a", "b"))
    spans = read_spans(path, fail)
    assert next(spans).name == "a"
    append(path, lines_of("c"))
    assert [span.name for span in spans] == ["b"]


def test_a_rotation_while_reading_neither_loses_nor_repeats_spans(path: Path) -> None:
    path.write_bytes(lines_of("a"))
    rotate(path)
    path.write_bytes(lines_of("b", "c"))
    spans = read_spans(path, fail)
    assert next(spans).name == "a"
    rotate(path)
    path.write_bytes(lines_of("d"))
    assert [span.name for span in spans] == ["b", "c"]
    assert read(path) == (["a", "b", "c", "d"], [])


def test_a_rotation_in_the_moment_of_opening_neither_loses_nor_repeats_spans(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path.write_bytes(lines_of("a"))
    really_open = io.FileIO

    def rotate_and_open(name: Path, *, opener: Callable[[str, int], int]) -> io.FileIO:
        monkeypatch.setattr(io, "FileIO", really_open)
        rotate(path)
        path.write_bytes(lines_of("b"))
        return really_open(name, opener=opener)

    monkeypatch.setattr(io, "FileIO", rotate_and_open)
    assert read(path) == (["a", "b"], [])


def test_a_file_that_is_rotated_at_every_look_is_read_as_well_as_can_be(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path.write_bytes(lines_of("a"))
    gone = (path.with_name(f"{number}.jsonl") for number in itertools.count())
    monkeypatch.setattr(snapshot, "rotated", lambda _: [next(gone)])
    assert read(path) == (
        ["a"],
        ["recordings.jsonl: rotated all the time; some spans may be missing"],
    )


def test_a_folder_that_cannot_be_listed_is_reported_and_its_file_read(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(folder: Path) -> Iterator[Path]:
        raise PermissionError(errno.EACCES, "Permission denied")

    path.write_bytes(lines_of("a"))
    monkeypatch.setattr(Path, "iterdir", refuse)
    assert read(path)[0] == ["a"]
    assert set(read(path)[1]) == {
        f"{path.parent}: Permission denied; rotated segments were left out"
    }
    assert read(path.parent) == (
        [],
        [f"{path.parent}: Permission denied; the folder was left out"],
    )


def test_a_segment_dropped_while_reading_is_missing_and_nothing_else(path: Path) -> None:
    for name in ("a", "b", "c"):
        path.write_bytes(lines_of(name))
        rotate(path)
    spans = read_spans(path, fail)
    assert next(spans).name == "a"
    path.with_name("recordings-0000000002.jsonl").unlink()
    assert [span.name for span in spans] == ["c"]


def test_a_disk_that_fails_costs_the_rest_of_the_file(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class FailingDisk(io.FileIO):
        def read(self, size: int | None = -1, /) -> bytes:
            if self.tell():
                raise OSError(errno.EIO, "Input/output error")
            return super().read(len(lines_of("a", "b")) + 5)

    path.write_bytes(lines_of("a", "b", "c"))
    segment = rotate(path)
    monkeypatch.setattr(files, "open_file", lambda path, _: FailingDisk(path))
    assert read(path) == (
        ["a", "b"],
        [f"{segment.name}:3: Input/output error; the rest was left out"],
    )


def test_a_link_is_read_with_the_segments_of_what_it_points_to(tmp_path: Path) -> None:
    (tmp_path / "viz").mkdir()
    target = tmp_path / "viz" / "recordings.jsonl"
    link = tmp_path / "latest"
    link.symlink_to(target)
    following = Following(link)
    target.write_bytes(lines_of("a"))
    rotate(target)
    target.write_bytes(lines_of("b"))
    assert read(link) == (["a", "b"], [])
    assert following.poll() == ["a", "b"]


def test_a_loop_of_links_is_no_file(path: Path) -> None:
    path.symlink_to(path)
    assert read(path) == (
        [],
        ["recordings.jsonl: Too many levels of symbolic links; the file was left out"],
    )


def test_what_is_no_file_is_left_out(path: Path) -> None:
    os.mkfifo(path)
    assert read(path) == ([], ["recordings.jsonl: not a regular file; it was left out"])


def test_a_folder_is_read_file_by_file_each_with_its_segments(tmp_path: Path) -> None:
    (tmp_path / "b.jsonl").write_bytes(lines_of("b2"))
    (tmp_path / "b-0000000001.jsonl").write_bytes(lines_of("b1"))
    (tmp_path / "a.json").write_bytes(json.dumps(json.loads(line("a")), indent=1).encode())
    (tmp_path / "c.jsonl.gz").write_bytes(gzip.compress(lines_of("c")))
    (tmp_path / "d.jsonl.zst").write_bytes(zstandard.compress(lines_of("d")))
    (tmp_path / "only-0000000007.jsonl").write_bytes(lines_of("segment without a file"))
    assert read(tmp_path) == (["a", "b1", "b2", "c", "d", "segment without a file"], [])


def test_what_does_not_belong_to_a_folder_of_recordings_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "recordings.jsonl").write_bytes(lines_of("a"))
    (tmp_path / "latest.jsonl").symlink_to(tmp_path / "recordings.jsonl")
    (tmp_path / "broken.jsonl").symlink_to(tmp_path / "nothing")
    (tmp_path / "recordings.jsonl.lock").touch()
    (tmp_path / "recordings.json").write_text(' [{"id": "1", "steps": []}]')
    (tmp_path / "recordings.json.gz").write_bytes(gzip.compress(b"[]"))
    (tmp_path / "recordings.json.tmp").write_text("[")
    (tmp_path / "notes.txt").write_text("notes")
    (tmp_path / "folder.jsonl").mkdir()
    assert read(tmp_path) == (["a"], [])
