"""Owns the tests of ``scaly-viz export``."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard
from scaly import viz

import scaly_viz
from scaly_viz import sources
from scaly_viz.exports.formats import FORMATS

from .files import Line, span_of, write_lines
from .running import error_of, output_of, run, run_on_terminal, run_process


def lines_in(path: Path, recording: str) -> list[bytes]:
    """Return the lines of ``recording`` in a file."""
    return [line for line in path.read_bytes().splitlines() if recording.encode() in line]


def test_lines_are_those_of_the_file(local: Path, tmp_path: Path) -> None:
    spring = sources.load(local)[0]
    to = tmp_path / "spring.otlp.jsonl"

    output = output_of("export", "spring", "--to", to)

    assert to.read_bytes().splitlines() == lines_in(local, spring.id)
    assert output == f"{to}: 1 recording, {to.stat().st_size:,} bytes\n"


def test_json_is_what_scaly_viz_itself_writes_and_reads(
    local: Path, as_recorded: list[dict[str, Any]], tmp_path: Path
) -> None:
    to = tmp_path / "two.json"

    output_of("export", "spring", "high_rank", "--to", to)

    assert viz.load_recordings(to) == as_recorded[:2]
    assert to.read_text() == json.dumps(as_recorded[:2], indent=2)


@pytest.mark.usefixtures("local")
def test_a_suffix_says_the_format_and_another_one_compresses(tmp_path: Path) -> None:
    output_of("export", "1", "--to", tmp_path / "x.c")
    code = (tmp_path / "x.c").read_bytes()
    assert code == run_process("show", "1", "--kind", "code").stdout

    output_of("export", "1", "--to", tmp_path / "x.C.GZ")
    output_of("export", "1", "--to", tmp_path / "x.c.zst")
    assert gzip.decompress((tmp_path / "x.C.GZ").read_bytes()) == code
    packed = (tmp_path / "x.c.zst").read_bytes()
    assert zstandard.ZstdDecompressor().decompressobj().decompress(packed) == code


@pytest.mark.slow
@pytest.mark.usefixtures("local")
def test_every_format_can_be_printed_and_is_told_by_each_of_its_suffixes(tmp_path: Path) -> None:
    for each in FORMATS:
        printed = run_process("export", "spring", "--to", "-", "--format", each.name)
        assert (printed.returncode, printed.stderr) == (0, b"")
        assert printed.stdout
        for suffix in each.suffixes:
            output_of("export", "spring", "--to", tmp_path / f"x{suffix}", "--force")
            assert (tmp_path / f"x{suffix}").read_bytes() == printed.stdout


@pytest.mark.slow
@pytest.mark.usefixtures("local")
def test_a_page_tells_a_terminal_how_far_it_is_and_leaves_nothing_of_that(tmp_path: Path) -> None:
    page = tmp_path / "x.html"
    code, screen = run_on_terminal("export", "damper", "--to", page)
    assert code == 0
    for part in ("texts and costs", "lives of values"):
        assert f"damper: {part}" in screen
    assert "compressing the page" in screen
    assert (
        screen.rpartition("\x1b[2K")[2] == f"{page}: 1 recording, {page.stat().st_size:,} bytes\n"
    )
    piped = run_process("export", "spring", "--to", tmp_path / "y.html")
    assert (piped.returncode, piped.stderr) == (0, b"")


@pytest.mark.slow
def test_text_that_is_no_unicode_is_exported_in_every_format(local: Path, tmp_path: Path) -> None:
    with pytest.warns(scaly_viz.RecordingWarning):
        spring = json.dumps(scaly_viz.load_recordings(local)[0])
    odd = json.loads(spring.replace("spring", r"spr\udcfcng").replace("sin", r"s\ud800n"))
    path = tmp_path / "recordings.json"
    path.write_text(json.dumps([odd]), "utf-8")
    folder = tmp_path / "\udcff"
    for each in FORMATS:
        # A page takes seconds, and is made in the same way of either.
        for more in ([],) if each.name == "html" else ([], ["--redact"]):
            words = ("--format", each.name, "--force", *more)
            output_of("export", path, "--to", f"{folder}/", *words)
    page = next(folder.glob("*.html"))
    assert output_of("import", page, "--recording-path", tmp_path / "back.jsonl")
    page.write_bytes(page.read_bytes()[:20_000])
    assert "this page is cut short: the recordings" in error_of("import", page)


@pytest.mark.usefixtures("local")
def test_a_step_is_named_as_for_show(tmp_path: Path) -> None:
    for suffix, kind in ((".asm", "assembly"), (".txt", "listing")):
        to = tmp_path / f"step{suffix}"
        output_of("export", "spring", "--step", "fuse_ranges", "--to", to)
        shown = run_process("show", "spring", "fuse_ranges", "--kind", kind).stdout
        assert to.read_bytes() == shown.removesuffix(b"\n")


def test_what_exists_is_replaced_by_force_only(local: Path, tmp_path: Path) -> None:
    to = tmp_path / "x.c"
    to.write_text("mine")

    assert error_of("export", "spring", "--to", to) == (
        f"{to}: exists already; --force replaces it"
    )
    assert to.read_text() == "mine"

    output_of("export", "spring", "--to", to, "--force")
    assert to.read_text().startswith("/* Scaly")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["recordings", "x.c"]


def test_a_file_that_cannot_be_made_whole_is_not_made(local: Path, tmp_path: Path) -> None:
    to = tmp_path / "x.c"
    to.write_text("mine")

    message = error_of("export", "high_rank", "--to", to, "--force")

    assert message.startswith("high_rank has no generated C (LoweringError(")
    assert to.read_text() == "mine"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["recordings", "x.c"]


def test_a_folder_gets_a_file_for_each_recording(
    rendered: list[Line], tmp_path: Path, recording_folder: Path
) -> None:
    write_lines(recording_folder / "recordings.jsonl", rendered)
    ids = {r.name: r.id for r in sources.load(recording_folder) if r.function == "damper"}

    output_of("export", "--all", "--to", f"{tmp_path}/out/", "--format", "asm")

    names = sorted(path.name for path in (tmp_path / "out").iterdir())
    dampers = sorted(f"damper-{id_[:16]}.asm" for id_ in ids.values())
    assert names == [*dampers, "high_rank.asm", "spring.asm"]
    message = error_of("export", "spring", "--to", tmp_path / "out", "--format", "asm")
    assert message == f"{tmp_path}/out/spring.asm: exists already; --force replaces it"


def test_a_recording_without_code_does_not_keep_the_others_from_a_folder(
    rendered: list[Line], tmp_path: Path, recording_folder: Path
) -> None:
    failed_first = sorted(rendered, key=lambda line: b"high_rank" not in json.dumps(line).encode())
    write_lines(recording_folder / "recordings.jsonl", failed_first)
    words = ["export", "high_rank", "spring", "--format", "c", "--to"]

    result = run(*words, f"{tmp_path}/out/")

    assert result.exit_code == 1
    code = tmp_path / "out" / "spring.c"
    assert [*code.parent.iterdir()] == [code]
    assert result.stdout == f"{code}: 1 recording, {code.stat().st_size:,} bytes\n"
    first, last = result.stderr.splitlines()
    assert first.startswith("scaly-viz: warning: high_rank has no generated C (LoweringError(")
    assert last == "scaly-viz: error: 1 of 2 recordings could not be exported"
    alone = error_of("export", "high_rank", "--format", "c", "--to", f"{tmp_path}/other/")
    assert alone.startswith("high_rank has no generated C (LoweringError(")


def test_a_file_of_recordings_can_stand_for_all_in_it(local: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.jsonl"
    output_of("export", "spring", "high_rank", "--to", other)

    written = json.loads(output_of("export", other, "--to", tmp_path / "x.json", "--json"))
    output_of("export", f"{other}#spring", "--to", tmp_path / "y.json")

    assert written == [
        {
            "path": str(tmp_path / "x.json"),
            "format": "json",
            "recordings": [recording.id for recording in sources.load(other)],
            "bytes": (tmp_path / "x.json").stat().st_size,
        }
    ]
    assert [each["function"] for each in viz.load_recordings(tmp_path / "y.json")] == ["spring"]


@pytest.mark.parametrize(
    ("field", "value", "problem"),
    [
        ("timeUnixNano", "1" * 31, f"timeUnixNano: '{'1' * 31}' is no time in nanoseconds"),
        ("attributes", [{"key": "x", "value": "y"}], "attributes[0].value: expected object, got"),
    ],
)
def test_every_command_tells_once_of_the_same_line_that_is_left_out(
    field: str,
    value: object,
    problem: str,
    tmp_path: Path,
    odd: Callable[[str, Callable[[Line], None]], Path],
) -> None:
    path = odd("lowered", lambda line: span_of(line)["events"][0].update({field: value}))
    where = ("--recording-path", path)
    for words in (
        ("list", *where),
        ("show", *where),
        ("export", "--to", tmp_path / "x.jsonl", *where),
        ("import", path),
    ):
        result = run(*words)
        assert (result.exit_code, result.stderr.count(problem)) == (0, 1), words
        assert result.stderr.count("; the line was left out\n") == 1
    [whole, out] = [
        sources.load(each) for each in (tmp_path / "x.jsonl", scaly_viz.recording_path())
    ]
    assert [r.problems for r in whole] == [r.problems for r in out]
    assert [problem.partition(" is ")[2] for problem in whole[0].problems] == ["missing"]


def test_an_incomplete_recording_is_exported_with_a_warning(local: Path, tmp_path: Path) -> None:
    result = run("export", "damper", "--to", tmp_path / "x.jsonl")

    assert result.exit_code == 0
    assert "(damper): the render is still running, or its process was ended" in result.stderr
    assert "the render is still running" in error_of(
        "export", "damper", "--to", tmp_path / "y.jsonl", "--strict"
    )


@pytest.mark.usefixtures("local")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            "spring high_rank --to x.c",
            "x.c: c holds one recording, not 2 (Spring, tuned, high_rank)",
        ),
        ("nobody --to x.c", "no recording is called 'nobody'"),
        ("spring --to missing/x.c", "missing/x.c: there is no folder missing"),
        ("spring --to x.svg --step nowhere", "Spring, tuned has no step 'nowhere'"),
        ("spring --to x.svg --step -1", "(generated C) has no graph; it has: code"),
        ("--to x.c --recording-path gone.jsonl", "gone.jsonl: no such file or folder"),
    ],
)
def test_what_cannot_be_exported_is_said_in_one_line(
    arguments: str, message: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    assert message in error_of("export", *arguments.split())
    assert [path.name for path in tmp_path.iterdir()] == ["recordings"]


@pytest.mark.usefixtures("local")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("last", "Missing option '--to'"),
        ("--to x.pdf", "x.pdf: its suffix does not say in which format"),
        ("--to folder/", "folder/: a folder does not say in which format"),
        ("--to -", "--to - does not say in which format"),
        ("--to - --format c --json", "--json and --to - would both print"),
        ("--to x --format pdf", "'pdf' is none of otlp, json"),
        ("--to x.json --step 1", "--step: json holds whole recordings"),
        ("--to x.c --boxes 9", "--boxes is for graphs: dot and svg"),
        ("--to x.svg --boxes 0", "0 is not in the range 1<=x<=3000"),
        ("--to x.c --keep paths", "--keep says what --redact leaves"),
        ("--to x.c --redact --keep wine", "'wine' is none of paths, hosts"),
        ("--to x.c --all spring", "either --all or names"),
        ("--to x.c --colour", "No such option"),
    ],
)
def test_a_wrong_call_is_told_as_one(arguments: str, message: str) -> None:
    result = run("export", *arguments.split())
    assert result.exit_code == 2
    assert message in result.stderr


def test_nothing_to_export_is_an_error(tmp_path: Path) -> None:
    message = error_of("export", "--to", tmp_path / "x.json")
    assert message == f"{scaly_viz.recording_path()}: there are no recordings"


@pytest.mark.usefixtures("local")
def test_a_device_is_written_to() -> None:
    assert output_of("export", "spring", "--to", os.devnull, "--format", "c").startswith(os.devnull)


@pytest.mark.slow
@pytest.mark.usefixtures("local")
def test_redaction_holds_for_what_the_command_writes(local: Path, tmp_path: Path) -> None:
    spring = sources.load(local)[0]
    path = str(spring.head.attributes["code.file.path"])
    for each in FORMATS:
        out = run_process("export", "spring", "--to", "-", "--format", each.name, "--redact").stdout
        assert b"Spring, tuned" not in out
        assert path.encode() not in out
        assert b"host.name" not in out
