"""Recording files that are followed: growing, renamed, cleared or packed meanwhile, each span given once."""

from __future__ import annotations

import errno
import gzip
import io
from pathlib import Path

import pytest

from scaly_viz.sources.files import Follower, segments
from scaly_viz_exporters.segments import rotate

from .span_files import (
    COLLECTOR_ZSTD,
    Following,
    append,
    fail,
    line,
    lines_of,
)


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
