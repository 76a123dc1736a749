"""Compressed recording files: gzip, zstd, a Collector's messages; cut short, damaged, or bombs."""

from __future__ import annotations

import gzip
import os
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from scaly_viz.sources import lines, streams
from scaly_viz.sources.files import read_spans

from .span_files import (
    COLLECTOR_ZSTD,
    fail,
    lines_of,
    read,
    zstd_with_checksum,
)


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
