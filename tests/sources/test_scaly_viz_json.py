"""scaly.viz's own file: of any version, cut short, damaged, or not what its name says."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scaly_viz.sources import scaly_viz_json, scaly_viz_stream
from scaly_viz.sources.scaly_viz_json import is_scaly_viz, read_recordings
from scaly_viz.sources.scaly_viz_stream import recordings_one_by_one


def recording(number: int) -> dict[str, Any]:
    """Return a recording as scaly.viz 0.1.0a2 makes it, shortened."""
    return {
        "id": f"{number:032x}",
        "name": f"f{number} 😀",
        "function": "f",
        "started_at": 1796004323.25 + number,
        "error": "ValueError('no')" if number % 2 else None,
        "steps": [
            {
                "name": "expression",
                "phase": "expression dialect",
                "dialect": "expr",
                "assembly": "%0 = input\n  {\n%1 = add %0, inf",
                "graph": {"nodes": [{"id": 0, "value": 0.1}], "edges": [[0, 1]]},
            },
            {"name": "generated C", "phase": "generated code", "dialect": "c", "code": "int\n  {"},
        ],
    }


RECORDINGS = [recording(number) for number in range(4)]
TEXT = json.dumps(RECORDINGS, indent=2)  # as scaly.viz writes it


def read(path: Path) -> tuple[list[dict[str, Any]], list[str]]:
    reports: list[str] = []
    return read_recordings(path, reports.append), reports


def line_of(text: str, number: int) -> int:
    """Return the line in which a recording starts."""
    return text[: text.index(f'"id": "{number:032x}"')].count("\n")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "recordings.json"


def test_recordings_are_returned_unchanged(path: Path) -> None:
    path.write_text(TEXT)
    assert read(path) == (RECORDINGS, [])


def test_what_scaly_viz_writes_is_what_it_reads_back(recording_folder: Path) -> None:
    from scaly.viz import recording as recorder

    for made in RECORDINGS:
        recorder._append_disk(made)
    assert read(recording_folder / "recordings.json") == (recorder.load_recordings(), [])


def test_a_missing_file_has_no_recordings(path: Path) -> None:
    assert read(path) == ([], [])


def test_an_empty_list_has_no_recordings(path: Path) -> None:
    path.write_text("[]\n")
    assert read(path) == ([], [])


@pytest.mark.parametrize("compress", [gzip.compress, zstandard.compress])
def test_a_compressed_file_is_read(path: Path, compress: Callable[[bytes], bytes]) -> None:
    path.write_bytes(compress(TEXT.encode()))
    assert is_scaly_viz(path)
    assert read(path) == (RECORDINGS, [])


def test_other_layouts_and_a_byte_order_mark_are_read(path: Path) -> None:
    path.write_bytes(b"\xef\xbb\xbf \r\n" + json.dumps(RECORDINGS).encode())
    assert is_scaly_viz(path)
    assert read(path) == (RECORDINGS, [])


def test_old_recordings_may_lack_keys(path: Path) -> None:
    old = [{"id": "1"}, {"name": "f", "steps": [{}]}, {"steps": [], "error": None, "novel": 1}]
    path.write_text(json.dumps(old))
    assert read(path) == (old, [])


def test_numbers_that_json_has_not_are_read_as_python_wrote_them(path: Path) -> None:
    path.write_text('[{"id": "1", "steps": [{"bound": -Infinity, "text": "\\ud800"}]}]')
    [found], reports = read(path)
    assert (found["steps"], reports) == ([{"bound": float("-inf"), "text": "\ud800"}], [])


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"[]", True),
        (b" \n\t[", True),
        (b"\xef\xbb\xbf[", True),
        (gzip.compress(b"\n[]", mtime=0), True),
        (b"", False),
        (b" \n", False),
        (b'{"resourceSpans": []}', False),
        (gzip.compress(b"{}", mtime=0), False),
        (gzip.compress(b"[]", mtime=0)[:5], False),
        (b" " * 3_000_000 + b"[", False),
    ],
)
def test_the_format_is_told_by_the_first_byte_that_is_not_blank(
    path: Path, content: bytes, expected: bool
) -> None:
    path.write_bytes(content)
    assert is_scaly_viz(path) is expected


def test_what_is_no_file_is_not_scaly_vizs(tmp_path: Path) -> None:
    assert not is_scaly_viz(tmp_path)
    assert not is_scaly_viz(tmp_path / "missing")


@pytest.mark.parametrize("dumped", [TEXT, json.dumps(RECORDINGS)])
def test_a_file_that_is_cut_short_gives_the_whole_recordings_before_the_cut(
    path: Path, dumped: str
) -> None:
    cut = dumped[: dumped.index("\\n", dumped.index("f2"))]
    path.write_text(cut)
    found, [report] = read(path)
    assert found == RECORDINGS[:2]
    assert report.startswith(f"recordings.json:{line_of(dumped, 2)}: not JSON: ") or "\n" not in cut
    assert f"at line {cut.count(chr(10)) + 1} column " in report
    assert report.endswith("; the recording that starts here was left out")


@pytest.mark.parametrize("end", ["", "\n", ",", ",\n  "])
def test_a_file_that_is_cut_between_recordings_is_reported_too(path: Path, end: str) -> None:
    path.write_text(TEXT[: TEXT.index(",\n  {\n    " + f'"id": "{2:032x}"')] + end)
    found, [report] = read(path)
    assert found == RECORDINGS[:2]
    assert report.startswith(f"recordings.json:{line_of(TEXT, 2) - 1 + end.count(chr(10))}: ")
    assert report.endswith("cut short: the list of recordings has no end")


def test_a_damaged_recording_costs_no_other(path: Path) -> None:
    path.write_text(TEXT.replace('"name": "f1', '"name" "f1').replace('"name": "f2', '"name: "f2'))
    found, reports = read(path)
    assert found == [RECORDINGS[0], RECORDINGS[3]]
    assert reports == [
        f"recordings.json:{line_of(TEXT, 1)}: not JSON: Expecting ':' delimiter"
        f" at line {line_of(TEXT, 1) + 2} column 12; the recording that starts here was left out",
        f"recordings.json:{line_of(TEXT, 2)}: not JSON: Expecting ':' delimiter"
        f" at line {line_of(TEXT, 2) + 2} column 13; the recording that starts here was left out",
    ]


def test_text_that_is_not_utf8_costs_the_recording_that_it_is_in(path: Path) -> None:
    path.write_bytes(TEXT.encode().replace(b"f2 ", b"f2\xff"))
    assert read(path) == (
        [RECORDINGS[0], RECORDINGS[1], RECORDINGS[3]],
        [f"recordings.json:{line_of(TEXT, 2)}: the recording is not UTF-8 text; it was left out"],
    )


def test_what_is_no_recording_is_left_out_and_said(path: Path) -> None:
    path.write_text(
        '[\n  {"id": "1"},\n  3,\n  null,\n  {"foo": 1},\n  {"id": 2},\n'
        '  {"steps": {}},\n  {"steps": [1]},\n  {"id": "2"}\n]'
    )
    assert read(path) == (
        [{"id": "1"}, {"id": "2"}],
        [
            "recordings.json:3: no recording but a number; it was left out",
            "recordings.json:4: no recording but null; it was left out",
            "recordings.json:5: no recording: it has none of the keys"
            " id, name, function, started_at, error, steps; it was left out",
            "recordings.json:6: the recording's id is a number; it was left out",
            "recordings.json:7: the recording's steps is an object; it was left out",
            "recordings.json:8: a step of the recording is no object; it was left out",
        ],
    )


@pytest.mark.parametrize(
    ("content", "report"),
    [
        (b"", "recordings.json:1: not a list of recordings; the file was left out"),
        (b"{}", "recordings.json:1: not a list of recordings; the file was left out"),
        (b"\n\xff", "recordings.json:2: not a list of recordings; the file was left out"),
        (b"[", "recordings.json:1: cut short: the list of recordings has no end"),
        (b"[]\n{}", "recordings.json:2: the list ends here, but the file goes on"),
        (
            b"[" * 100_000,
            "recordings.json:1: nested too deeply; the recording that starts here was left out",
        ),
    ],
)
def test_what_is_not_a_list_of_recordings_is_said(path: Path, content: bytes, report: str) -> None:
    path.write_bytes(content)
    assert read(path) == ([], [report])


def test_a_compressed_file_that_is_cut_short_gives_what_is_whole(path: Path) -> None:
    path.write_bytes(zstandard.compress(TEXT.encode(), 1)[:-30] + b"")
    found, reports = read(path)
    assert found == RECORDINGS[: len(found)]
    assert "cut short after compressed byte" in reports[0]


def test_a_bomb_is_given_up(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scaly_viz_json, "MAX_EXPANDED_BYTES", 100_000)
    path.write_bytes(gzip.compress(TEXT[:-2].encode() + b" " * 10_000_000 + b"]"))
    found, [bomb, cut] = read(path)
    assert found == RECORDINGS
    end = TEXT.count("\n")
    assert bomb == (
        f"recordings.json:{end}: expands to more than 100000 bytes; the rest was left out"
    )
    assert cut == f"recordings.json:{end}: cut short: the list of recordings has no end"


def test_a_list_of_anything_does_not_flood_the_reader(path: Path) -> None:
    path.write_text(json.dumps(list(range(1000)), indent=2))
    found, reports = read(path)
    assert (found, len(reports)) == ([], 101)
    assert reports[-1] == "recordings.json: 900 more problems like these"


DATA = TEXT.encode()
any_damage = settings(
    deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


def untouched(position: int) -> list[dict[str, Any]]:
    """Return the recordings that a change at ``position`` is neither in nor next to."""
    starts = [TEXT.index(f'  {{\n    "id": "{number:032x}"') for number in range(4)]
    starts = [len(TEXT[:start].encode()) - 1 for start in starts] + [len(DATA)]
    return [
        made
        for made, start, end in zip(RECORDINGS, starts, starts[1:], strict=False)
        if not start <= position < end
    ]


@any_damage
@given(position=st.integers(1, len(DATA) - 1), value=st.integers(0, 255))
def test_a_flipped_byte_costs_no_other_recording(path: Path, position: int, value: int) -> None:
    data = bytearray(DATA)
    data[position] = value
    path.write_bytes(data)
    found, _ = read(path)
    assert [made for made in found if made in RECORDINGS] == found or len(found) == 4
    for made in untouched(position):
        assert made in found


@any_damage
@given(size=st.integers(0, len(DATA)))
def test_a_cut_at_any_byte_keeps_what_is_before_it(path: Path, size: int) -> None:
    path.write_bytes(DATA[:size])
    found, reports = read(path)
    assert found == RECORDINGS[: len(found)]
    ends = [len(TEXT[: TEXT.index(f'"id": "{number:032x}"')].encode()) for number in range(1, 4)]
    assert len(found) >= sum(end <= size for end in ends)
    assert bool(reports) is (size < len(DATA))


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_a_big_file_is_read_recording_by_recording(
    pack: Callable[[bytes], bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scaly_viz_stream, "WHOLE_BYTES", 0)
    path = tmp_path / "recordings.json"
    whole = json.dumps([recording(1), 7, recording(2), recording(3)], indent=2)
    path.write_bytes(pack(whole.encode()))
    reports: list[str] = []

    assert [*recordings_one_by_one(path, reports.append)] == [*map(recording, (1, 2, 3))]
    assert reports == [
        "recordings.json: item 2 of the list: no recording but a number; it was left out"
    ]

    path.write_bytes(pack(whole[:-300].encode()))
    reports.clear()
    assert [*recordings_one_by_one(path, reports.append)] == [*map(recording, (1, 2))]
    assert reports[-1].startswith("recordings.json: behind item 3 of the list: ")
