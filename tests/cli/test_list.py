"""Owns the tests of ``scaly-viz list``."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from scaly_viz import sources
from scaly_viz.analysis.summary import summarize
from scaly_viz.cli import reading
from scaly_viz.cli.quantities import local_time

from .conftest import HOSTILE, HOSTILE_SHOWN
from .files import Line, lines_of, write_lines
from .running import error_of, output_of, run

HEADER = "# +id +when +name +function +steps +duration +nodes +C bytes +status +process"


def fields(line: str) -> list[str]:
    return re.split(r" {2,}", line.strip())


def test_list_has_a_line_for_each_recording_the_newest_last(local: Path) -> None:
    header, *rows = output_of("list").splitlines()
    assert re.fullmatch(HEADER, header)
    spring, high_rank, damper = map(summarize, sources.load(local))
    when = [local_time(s.started_at) for s in (spring, high_rank, damper)]
    pid = str(spring.process)
    first, second, third = map(fields, rows)
    assert first[:6] == ["1", spring.id[:8], when[0], "Spring, tuned", "spring", str(spring.steps)]
    assert first[7:] == [str(spring.nodes), f"{spring.code_bytes:,}", "ok", pid]
    assert second[:5] == ["2", high_rank.id[:8], when[1], "high_rank", "high_rank"]
    assert second[7:] == [str(high_rank.nodes), "failed", pid]
    assert third[:5] == ["3", damper.id[:8], when[2], "damper", "damper"]
    assert third[8:] == [f"{damper.code_bytes:,}", "incomplete", pid]
    assert re.fullmatch(r"[\d.]+ (us|ms|s)", first[6])


def test_list_as_json_has_the_summaries(local: Path) -> None:
    listed = json.loads(output_of("list", "--json"))
    summaries = [summarize(recording) for recording in sources.load(local)]
    assert [entry["id"] for entry in listed] == [summary.id for summary in summaries]
    for entry, summary in zip(listed, summaries, strict=True):
        assert entry == {field: getattr(summary, field) for field in summary.__struct_fields__}


@pytest.mark.parametrize(
    ("arguments", "functions"),
    [
        (["-n", "2"], ["high_rank", "damper"]),
        (["--limit", "99"], ["spring", "high_rank", "damper"]),
        (["--function", "*r*"], ["spring", "high_rank", "damper"]),
        (["--function", "s*"], ["spring"]),
        (["--status", "failed"], ["high_rank"]),
        (["--status", "ok", "--status", "incomplete", "-n1"], ["damper"]),
        (["--function", "none"], []),
    ],
)
@pytest.mark.usefixtures("local")
def test_list_shows_only_what_was_asked_for(arguments: list[str], functions: list[str]) -> None:
    listed = json.loads(output_of("list", "--json", *arguments))
    assert [entry["function"] for entry in listed] == functions


@pytest.mark.usefixtures("local")
def test_the_number_of_a_recording_does_not_depend_on_what_is_listed() -> None:
    _, row = output_of("list", "--status", "incomplete").splitlines()
    assert fields(row)[0] == "3"


@pytest.mark.usefixtures("local")
def test_list_says_that_no_recording_is_like_that() -> None:
    assert output_of("list", "--function", "none") == "None of the 3 recordings is like that.\n"


def test_a_hostile_label_cannot_steer_the_terminal(hostile: Path) -> None:
    output = output_of("list", "--recording-path", hostile)
    assert HOSTILE_SHOWN in output
    assert len(output.splitlines()) == 2
    assert all(character.isprintable() for character in output.replace("\n", ""))


def test_json_is_printable_and_gives_the_hostile_label_exactly(hostile: Path) -> None:
    output = output_of("list", "--json", "--recording-path", hostile)
    assert output.removesuffix("\n").isprintable()
    assert json.loads(output)[0]["name"] == HOSTILE


def test_json_keeps_a_label_that_utf8_cannot_carry(hostile: Path, tmp_path: Path) -> None:
    text = hostile.read_text("utf-8")
    broken = tmp_path / "surrogate.jsonl"
    broken.write_text(text.replace(json.dumps(HOSTILE)[1:-1], r"half \ud83d \u009b"), "utf-8")
    output = output_of("list", "--json", "--recording-path", broken)
    assert output.removesuffix("\n").isprintable()
    assert json.loads(output)[0]["name"] == "half \ud83d \u009b"


@pytest.mark.usefixtures("local")
def test_a_pipe_gets_every_row_in_one_line_without_blanks_at_its_end(
    monkeypatch: pytest.MonkeyPatch, local: Path
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    lines = local.read_text("utf-8").replace("Spring, tuned", "long " * 100)
    local.write_text(lines, "utf-8")
    rows = output_of("list").splitlines()
    assert len(rows) == 4
    assert rows == [row.rstrip() for row in rows]
    assert ("long " * 100).strip() in rows[1]


def test_without_a_local_file_list_says_how_to_make_one(recording_folder: Path) -> None:
    output = output_of("list")
    assert output.startswith(f"No recordings yet in {recording_folder / 'recordings.jsonl'}.")
    assert "    import scaly_viz\n    scaly_viz.visualize(f) " in output
    assert output_of("list", "--json") == "[]\n"


def test_without_a_local_file_list_names_what_scaly_viz_left(recording_folder: Path) -> None:
    recording_folder.mkdir()
    (recording_folder / "recordings.json").write_text("[]")
    assert f"--recording-path {recording_folder / 'recordings.json'}\n" in output_of("list")


def test_a_path_where_nothing_is_ends_the_command(tmp_path: Path) -> None:
    path = tmp_path / "none.jsonl"
    assert error_of("list", "--recording-path", path) == f"{path}: no such file or folder"
    assert error_of("list", "--json", "--recording-path", path) == f"{path}: no such file or folder"


def test_an_empty_folder_has_no_recordings(tmp_path: Path) -> None:
    assert output_of("list", "--recording-path", tmp_path) == f"No recordings in {tmp_path}.\n"


def test_a_folder_is_read_with_all_its_files(rendered: list[Line], tmp_path: Path) -> None:
    folder = tmp_path / "runs"
    write_lines(folder / "one.jsonl", rendered[::2])
    write_lines(folder / "two.jsonl", rendered[1::2])
    listed = json.loads(output_of("list", "--json", "--recording-path", folder))
    assert [entry["status"] for entry in listed] == ["ok", "failed", "ok", "ok"]


def test_scaly_vizs_own_format_is_read(tmp_path: Path) -> None:
    path = tmp_path / "recordings.json"
    step = {"name": "expression", "phase": "expression dialect", "dialect": "expr"}
    recording = {"id": "ab", "name": "f", "function": "f", "started_at": 1e9, "steps": [step]}
    path.write_text(json.dumps([recording]))
    _, row = output_of("list", "--recording-path", path).splitlines()
    assert fields(row) == ["1", "ab", local_time(1e9), "f", "f", "1", "ok"]


def test_what_cannot_be_read_is_one_line_on_standard_error_each(local: Path) -> None:
    lines = lines_of(local)
    local.write_text(
        "garbage\n" + "".join(json.dumps(line) + "\n" for line in lines) + '{"torn', "utf-8"
    )
    result = run("list")
    assert result.exit_code == 0
    assert len(result.stdout.splitlines()) == 4
    first, last = result.stderr.splitlines()
    assert first.startswith("scaly-viz: warning: recordings.jsonl:1: not JSON")
    assert last.startswith(f"scaly-viz: warning: recordings.jsonl:{len(lines) + 2}: not JSON")


def test_with_strict_the_first_thing_that_cannot_be_read_ends_the_command(local: Path) -> None:
    local.write_text(f"garbage\n{local.read_text('utf-8')}", "utf-8")
    assert error_of("list", "--strict").startswith("recordings.jsonl:1: not JSON")


@pytest.mark.usefixtures("local")
def test_with_strict_an_incomplete_recording_ends_the_command() -> None:
    assert "the render is still running, or its process was ended" in error_of("list", "--strict")


def test_list_keeps_no_payloads_in_memory(local: Path) -> None:
    recordings = reading.read(str(local), strict=False, payloads=False)
    assert not any(step.payloads for recording in recordings for step in recording.steps)
    whole = reading.read(str(local), strict=False)
    assert [*map(summarize, recordings)] == [*map(summarize, whole)]
