"""Recording files: read whole, in order, once, whatever is damaged, growing or renamed meanwhile."""

from __future__ import annotations

import base64
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
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scaly_viz.sources import files, lines, snapshot, streams
from scaly_viz.sources.files import Follower, read_spans, segments
from scaly_viz_exporters.file_lock import writers_lock
from scaly_viz_exporters.segments import rotate

# What a Collector's file exporter (0.161.0) wrote with compression: zstd, for two batches.
COLLECTOR_ZSTD = base64.b64decode("""
AAAAjCi1L/0EAP0DAAKIGhpwxwIoTmxoRrvob4p2cu8qTGyT3aTt6f+XF1100UV3A8/Mogv/fG4hGRx+CYr8fCCYRC
kdx1uHthGIKvzz2Daywy3ZkkONGUrV8NZTiz2VyTAOLwEbdS5KEvmnG3gBPCOqBDZOJuGdbwIGAPGUgKpK9EyQ2QBQ
ESl4hgHtrEg6AAAAjSi1L/0EAAUEADLIGhpgARYrLIa26shyT3ajNPStCJAkIV3keq1rDF100UX34s5KognfPAbmQr
nz7hug8uYCseBBKMa2w1lGSEX45o/tW3FQkKHhsGUkTUJTLanVFCLDuDsU7NOZIMfjm17cAdxZKjLYN5WDd34JBgDx
lICqSvRMkNkAUBEpeIYBV9+L9A==
""")


def line(name: str) -> bytes:
    """Return one complete line with a span of that name."""
    return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [{"name": name}]}]}]}).encode()


def lines_of(*names: str) -> bytes:
    return b"".join(line(name) + b"\n" for name in names)


def read(path: Path) -> tuple[list[str], list[str]]:
    """Return the names of the spans that are found, and what is reported."""
    reports: list[str] = []
    return [span.name for span in read_spans(path, reports.append)], reports


def fail(text: str) -> None:
    raise AssertionError(text)


def append(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "recordings.jsonl"


@pytest.fixture
def short_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let lines of more than 1000 bytes be too long."""
    monkeypatch.setattr(lines, "MAX_LINE_BYTES", 1000)


# Reading


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


# Folders


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


# Compression


@pytest.mark.parametrize("name", ["recordings.jsonl", "recordings.jsonl.gz", "recordings.zst"])
@pytest.mark.parametrize("compress", [gzip.compress, zstandard.compress])
def test_compression_is_told_by_content_not_by_name(
    tmp_path: Path, name: str, compress: Callable[[bytes], bytes]
) -> None:
    path = tmp_path / name
    path.write_bytes(compress(lines_of("a", "b")))
    assert read(path) == (["a", "b"], [])


@pytest.mark.parametrize("compress", [gzip.compress, zstandard.compress])
def test_compressed_files_that_were_joined_are_read_to_the_end(
    path: Path, compress: Callable[[bytes], bytes]
) -> None:
    path.write_bytes(compress(lines_of("a")) + compress(lines_of("b", "c")) + compress(b""))
    assert read(path) == (["a", "b", "c"], [])


def numbered(count: int) -> bytes:
    """Return lines that do not compress well, so that damage hits some of them only."""
    return lines_of(*(f"{number} {os.urandom(500).hex()}" for number in range(count)))


@pytest.mark.parametrize("compress", [gzip.compress, zstandard.compress])
def test_a_compressed_file_that_is_cut_short_gives_what_is_whole(
    path: Path, compress: Callable[[bytes], bytes]
) -> None:
    compressed = compress(numbered(1000))
    path.write_bytes(compressed[: len(compressed) // 2])
    names, [report] = read(path)
    assert 200 < len(names) < 700
    assert [int(name.split()[0]) for name in names] == list(range(len(names)))
    where = f"recordings.jsonl:{len(names) + 1}: "
    assert report.startswith(f"{where}cut short after compressed byte {len(compressed) // 2}")


zstd_with_checksum = zstandard.ZstdCompressor(write_checksum=True).compress


@pytest.mark.parametrize("compress", [gzip.compress, zstd_with_checksum])
def test_a_damaged_compressed_file_gives_what_comes_before_the_damage(
    path: Path, compress: Callable[[bytes], bytes]
) -> None:
    compressed = bytearray(compress(numbered(1000)))
    middle = len(compressed) // 2
    compressed[middle : middle + 2000] = bytes(2000)
    path.write_bytes(compressed)
    names, reports = read(path)
    assert len(names) > 100
    [report] = [report for report in reports if "damaged after compressed byte" in report]
    assert report.endswith("; the rest was left out")


def test_a_zstd_frame_that_wants_too_much_memory_is_refused(path: Path) -> None:
    parameters = zstandard.ZstdCompressionParameters(window_log=30)
    compressor = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    path.write_bytes(compressor.compress(lines_of("a")) + compressor.flush())
    names, [report] = read(path)
    assert names == []
    assert report.startswith("recordings.jsonl:1: damaged after compressed byte 0: ")
    assert "too much memory" in report


@pytest.mark.parametrize("compress", [gzip.compress, zstandard.compress])
def test_a_bomb_is_given_up(
    path: Path, monkeypatch: pytest.MonkeyPatch, compress: Callable[[bytes], bytes]
) -> None:
    monkeypatch.setattr(streams, "UNSUSPICIOUS_BYTES", 2**20)
    monkeypatch.setattr(streams, "MAX_RATIO", 500)
    monkeypatch.setattr(lines, "MAX_LINE_BYTES", 2**19)
    path.write_bytes(compress(lines_of("a") + bytes(2**25)) + compress(lines_of("b")))
    tracemalloc.start()
    try:
        names, reports = read(path)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert names == ["a"]
    assert reports[0] == "recordings.jsonl:2: longer than 524288 bytes; the line was left out"
    assert reports[1].endswith(", a bomb; the rest was left out")
    assert peak < 2**26 + 2**23  # a piece of zeros, and the chunk cut from it


def test_no_file_may_expand_for_ever(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "MAX_DECOMPRESSED_BYTES", 10_000)
    path.write_bytes(gzip.compress(lines_of("a")) + gzip.compress(numbered(100)))
    names, [report] = read(path)
    assert 5 < len(names) < 50
    assert "a bomb" in report


def test_a_collectors_own_zstd_messages_are_read(path: Path) -> None:
    path.write_bytes(COLLECTOR_ZSTD)
    assert [(span.name, span.origin) for span in read_spans(path, fail)] == [
        ("lower", "recordings.jsonl:1"),
        ("render f", "recordings.jsonl:2"),
    ]


def test_one_damaged_message_of_a_collector_does_not_cost_the_others(path: Path) -> None:
    damaged = bytearray(COLLECTOR_ZSTD)
    damaged[60:70] = bytes(10)
    path.write_bytes(damaged)
    names, [report] = read(path)
    assert names == ["render f"]
    assert report.startswith("recordings.jsonl:1: the message after byte 0 was left out: damaged")


def test_a_collectors_last_message_may_be_cut_short(path: Path) -> None:
    path.write_bytes(COLLECTOR_ZSTD[:-1])
    assert read(path) == (
        ["lower"],
        ["recordings.jsonl:2: the message after byte 144 is cut short; the rest was left out"],
    )


def test_a_message_of_a_collector_that_is_a_bomb_is_left_out(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams, "MAX_MESSAGE_BYTES", 2**20)
    bomb = zstandard.compress(bytes(2**27))
    path.write_bytes(len(bomb).to_bytes(4) + bomb + COLLECTOR_ZSTD)
    names, [report] = read(path)
    assert names == ["lower", "render f"]
    assert report == (
        "recordings.jsonl:1: the message after byte 0 was left out: it is longer than 1048576 bytes"
    )


# Damage of any kind

WHOLE = [line(f"span {number}") for number in range(6)]


def survivors(path: Path, data: bytes) -> list[str]:
    path.write_bytes(data)
    names, reports = read(path)
    assert all(report.startswith("recordings.jsonl:") for report in reports)
    return names


def undamaged(first: int, last: int) -> list[str]:
    """Return the spans whose lines, with their line ends, lie outside of these bytes."""
    kept, position = [], 0
    for number, data in enumerate(WHOLE):
        end = position + len(data) + 1
        if end <= first or position >= last:
            kept.append(f"span {number}")
        position = end
    return kept


SIZE = sum(len(data) + 1 for data in WHOLE)
any_damage = settings(
    deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


@any_damage
@given(position=st.integers(0, SIZE - 1), value=st.integers(0, 255))
def test_a_flipped_byte_costs_no_other_line(path: Path, position: int, value: int) -> None:
    data = bytearray(b"\n".join(WHOLE) + b"\n")
    data[position] = value
    assert set(undamaged(position, position + 1)) <= set(survivors(path, bytes(data)))


@any_damage
@given(start=st.integers(0, SIZE - 1), length=st.integers(1, SIZE))
def test_a_cut_costs_no_line_outside_of_it(path: Path, start: int, length: int) -> None:
    data = b"\n".join(WHOLE) + b"\n"
    found = survivors(path, data[:start] + data[start + length :])
    assert set(undamaged(start, start + length)) <= set(found)


@any_damage
@given(start=st.integers(0, SIZE), inserted=st.binary(min_size=1, max_size=40))
def test_inserted_bytes_cost_no_other_line(path: Path, start: int, inserted: bytes) -> None:
    data = b"\n".join(WHOLE) + b"\n"
    found = survivors(path, data[:start] + inserted + data[start:])
    assert set(undamaged(start - 1, start + 1)) <= set(found)


@any_damage
@given(order=st.lists(st.integers(0, 5), max_size=12))
def test_lines_that_are_missing_doubled_or_moved_are_read_as_they_come(
    path: Path, order: list[int]
) -> None:
    data = b"".join(WHOLE[number] + b"\n" for number in order)
    assert survivors(path, data) == [f"span {number}" for number in order]


@any_damage
@given(data=st.binary(max_size=300), compress=st.sampled_from([bytes, gzip.compress]))
def test_no_content_at_all_makes_the_reader_raise(
    path: Path, data: bytes, compress: Callable[[bytes], bytes]
) -> None:
    assert survivors(path, compress(data) + b"\n" + lines_of("after"))[-1:] in ([], ["after"])


@any_damage
@given(data=st.data(), compress=st.sampled_from([gzip.compress, zstd_with_checksum]))
def test_damage_to_compressed_data_is_reported_and_never_raised(
    path: Path, data: st.DataObject, compress: Callable[[bytes], bytes]
) -> None:
    compressed = bytearray(compress(b"\n".join(WHOLE)))
    compressed[data.draw(st.integers(0, len(compressed) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(compressed)
    names, reports = read(path)
    assert reports or names == [f"span {number}" for number in range(6)]


# Following


class Following:
    """A follower with what it has reported."""

    def __init__(self, path: Path) -> None:
        self.reports: list[str] = []
        self._follower = Follower(path, self.reports.append)

    def poll(self) -> list[str]:
        return [span.name for span in self._follower.poll()]


def test_a_file_that_comes_later_is_followed_from_its_first_line(path: Path) -> None:
    following = Following(path)
    assert following.poll() == []
    path.write_bytes(lines_of("a"))
    assert following.poll() == ["a"]
    assert following.poll() == []
    append(path, lines_of("b", "c"))
    assert following.poll() == ["b", "c"]


def test_a_follower_tells_file_and_line(path: Path) -> None:
    path.write_bytes(lines_of("a"))
    follower = Follower(path, fail)
    follower.poll()
    append(path, b"\n" + lines_of("b"))
    assert [span.origin for span in follower.poll()] == ["recordings.jsonl:3"]


def test_a_line_is_given_when_it_is_complete_and_not_before(path: Path) -> None:
    following = Following(path)
    whole = lines_of("a")
    for end in range(1, len(whole)):
        path.write_bytes(whole[:end])
        assert following.poll() == []
    path.write_bytes(whole)
    assert following.poll() == ["a"]
    assert following.reports == []


def test_a_rotated_file_is_read_to_its_end_before_the_new_one(path: Path) -> None:
    following = Following(path)
    path.write_bytes(lines_of("a"))
    assert following.poll() == ["a"]
    append(path, lines_of("b"))
    rotate(path)
    assert following.poll() == ["b"]
    path.write_bytes(lines_of("c"))
    assert following.poll() == ["c"]
    for name in ("d", "e", "f"):
        append(path, lines_of(name))
        rotate(path)
        path.write_bytes(lines_of(name + "2"))
    assert following.poll() == ["d", "d2", "e", "e2", "f", "f2"]
    assert following.poll() == []
    assert following.reports == []


def test_segments_that_were_there_before_are_given_first(path: Path) -> None:
    path.write_bytes(lines_of("a"))
    rotate(path)
    path.write_bytes(lines_of("b"))
    assert Following(path).poll() == ["a", "b"]


def test_what_a_late_writer_adds_to_a_segment_is_given_once(path: Path) -> None:
    following = Following(path)
    path.write_bytes(lines_of("a") + line("torn")[:20])
    segment = rotate(path)
    assert following.poll() == ["a"]
    assert len(following.reports) == 1
    append(segment, b"\n" + lines_of("late"))
    assert following.poll() == ["late"]
    assert following.poll() == []
    assert len(following.reports) == 1


@pytest.mark.parametrize("name", ["b", "a longer name than before"])
def test_a_file_that_was_cleared_and_made_again_is_read_from_its_start(
    path: Path, name: str
) -> None:
    following = Following(path)
    path.write_bytes(lines_of("a"))
    assert following.poll() == ["a"]
    path.unlink()
    path.write_bytes(lines_of(name))  # most likely with the same inode
    assert following.poll() == [name]
    path.write_bytes(lines_of(name + "!"))  # truncated, and with the same inode for sure
    assert following.poll() == [name + "!"]
    path.write_bytes(b"")
    assert following.poll() == []
    append(path, lines_of("c"))
    assert following.poll() == ["c"]


def test_everything_cleared_rotated_and_made_again_between_two_looks_is_read_anew(
    path: Path,
) -> None:
    following = Following(path)
    for names in (("a", "b"), ("c", "d")):
        for name in names:
            path.write_bytes(lines_of(name))
            rotate(path)
        path.write_bytes(lines_of(names[1] + "2"))
        assert following.poll() == [*names, names[1] + "2"]
        for file in segments(path):
            file.unlink()


def test_bad_lines_are_reported_once_by_a_follower(path: Path) -> None:
    following = Following(path)
    path.write_bytes(b"garbage\n" + lines_of("a"))
    assert following.poll() == ["a"]
    append(path, lines_of("b"))
    assert following.poll() == ["b"]
    assert following.reports == [
        "recordings.jsonl:1: not JSON: Expecting value at column 1; the line was left out"
    ]


def test_a_line_that_grows_too_long_is_left_out_and_the_next_one_given(
    path: Path, short_lines: None
) -> None:
    following = Following(path)
    path.write_bytes(lines_of("a"))
    for _ in range(5):
        append(path, b"x" * 400)
        following.poll()
    append(path, b"x" * 400 + b"\n" + lines_of("b"))
    assert following.poll() == ["b"]
    assert following.reports == [
        "recordings.jsonl:2: longer than 1000 bytes; the line was left out"
    ]


def test_a_segment_that_is_compressed_later_is_not_given_again(path: Path) -> None:
    following = Following(path)
    path.write_bytes(lines_of("a"))
    segment = rotate(path)
    assert following.poll() == ["a"]
    segment.with_name(segment.name + ".gz").write_bytes(gzip.compress(segment.read_bytes()))
    assert following.poll() == []
    segment.unlink()
    assert following.poll() == []
    assert following.poll() == []


def test_a_compressed_file_that_grows_is_followed(path: Path) -> None:
    following = Following(path)
    path.write_bytes(COLLECTOR_ZSTD[:200])
    assert following.poll() == ["lower"]
    path.write_bytes(COLLECTOR_ZSTD)
    assert following.poll() == ["render f"]
    assert following.poll() == []


def test_the_last_line_of_a_compressed_file_needs_no_line_end(path: Path) -> None:
    following = Following(path)
    path.write_bytes(gzip.compress(lines_of("a") + line("b")))
    assert following.poll() == ["a", "b"]
    append(path, gzip.compress(b"\n" + lines_of("c")))
    assert following.poll() == ["c"]


def test_a_folder_is_followed_file_by_file(tmp_path: Path) -> None:
    following = Following(tmp_path)
    assert following.poll() == []
    (tmp_path / "a.jsonl").write_bytes(lines_of("a"))
    assert following.poll() == ["a"]
    (tmp_path / "b.jsonl").write_bytes(lines_of("b"))
    append(tmp_path / "a.jsonl", lines_of("a2"))
    assert following.poll() == ["a2", "b"]


def test_a_file_that_cannot_be_opened_for_a_while_is_not_given_again(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    following = Following(path)
    path.write_bytes(lines_of("a"))
    rotate(path)
    path.write_bytes(lines_of("b"))
    assert following.poll() == ["a", "b"]

    def refuse(*_: object, **__: object) -> io.FileIO:
        raise OSError(errno.EMFILE, "Too many open files")

    with monkeypatch.context() as patch:
        patch.setattr(io, "FileIO", refuse)
        assert following.poll() == []
    assert following.reports == [
        f"{name}: Too many open files; the file was left out"
        for name in ("recordings.jsonl", "recordings-0000000001.jsonl")
    ]
    append(path, lines_of("c"))
    assert following.poll() == ["c"]


def test_a_follower_keeps_no_file_open(path: Path) -> None:
    path.write_bytes(lines_of("a"))
    rotate(path)
    path.write_bytes(lines_of("b"))
    following = Following(path)
    before = sorted(Path("/dev/fd").iterdir())
    assert following.poll() == ["a", "b"]
    assert sorted(Path("/dev/fd").iterdir()) == before


@any_damage
@given(chunks=st.lists(st.integers(1, 200), min_size=1), rotations=st.sets(st.integers(0, 20)))
def test_a_follower_gives_every_span_once_however_the_file_grows(
    tmp_path_factory: pytest.TempPathFactory, chunks: list[int], rotations: set[int]
) -> None:
    path = tmp_path_factory.mktemp("growing") / "recordings.jsonl"
    following = Following(path)
    data = b"\n".join(WHOLE) + b"\n"
    given_names: list[str] = []
    for step, size in enumerate(chunks):
        if path.exists() and step in rotations and path.read_bytes().endswith(b"\n"):
            rotate(path)
        append(path, data[:size])
        data = data[size:]
        given_names += following.poll()
    append(path, data)
    given_names += following.poll()
    assert given_names == [f"span {number}" for number in range(6)]
    assert following.reports == []
