"""Recording files with damage of any kind: bytes flipped, cut, inserted, lines moved."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scaly_viz_exporters.segments import rotate

from .span_files import (
    Following,
    append,
    line,
    lines_of,
    read,
    zstd_with_checksum,
)

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
