"""Owns the tests of what a pipe gets, and of readers that do not wait for all of it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from .files import Line, attribute_of, lines_of, write_lines
from .running import COMMAND, output_of, run_on_terminal, run_process


@pytest.mark.usefixtures("local")
@pytest.mark.parametrize(
    "words",
    [
        "list",
        "list --json",
        "show 1",
        "--help",
        "--version",
        "prune --keep 9 --json",
        "list --help",
    ],
)
def test_whoever_reads_no_further_gets_no_traceback(words: str) -> None:
    process = subprocess.Popen(
        [*COMMAND, *words.split()], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    process.stdout.close()
    _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (141, b"")


@pytest.mark.usefixtures("local")
def test_a_pipe_through_head_ends_with_success() -> None:
    command = f"{' '.join(COMMAND)} list | head -1"
    done = subprocess.run(command, shell=True, capture_output=True, timeout=60, check=True)
    assert (done.stdout.split()[:2], done.stderr) == ([b"#", b"id"], b"")


def test_one_long_name_widens_no_other_row(local: Path) -> None:
    lines = lines_of(local)
    long = "x" * 300
    for line in lines:
        _rename(line, "spring", long)
    write_lines(local, lines)
    output = run_process("list").stdout.decode()
    rows = {row.split()[0]: row for row in output.splitlines()}
    assert long in rows["1"]
    assert all(len(row) < 180 for number, row in rows.items() if number != "1")
    assert all(row == row.rstrip() for row in rows.values())


def _rename(line: Line, old: str, new: str) -> None:
    if attribute_of(line, "scaly.function.name") == old:
        span = line["resourceSpans"][0]["scopeSpans"][0]["spans"][0]
        for attribute in span["attributes"]:
            if attribute["key"] == "scaly.function.name":
                attribute["value"]["stringValue"] = new


@pytest.mark.usefixtures("local")
def test_an_empty_no_color_means_nothing_and_a_full_one_wins_over_force_color() -> None:
    _, colored = run_on_terminal("list", environ={"NO_COLOR": ""})
    assert "\x1b[3" in colored
    assert b"\x1b[3" in run_process("list", FORCE_COLOR="1", NO_COLOR="").stdout
    assert b"\x1b[3" not in run_process("list", FORCE_COLOR="1", NO_COLOR="1").stdout
    assert run_process("list", FORCE_COLOR="", NO_COLOR="").stdout.decode() == output_of("list")


@pytest.mark.usefixtures("local")
def test_a_closed_standard_output_is_as_a_closed_pipe() -> None:
    command = " ".join(COMMAND)
    for words in ("list", "show 1", "diff 1 fuse_ranges --json", "doctor", "--version"):
        done = subprocess.run(
            f"{command} {words} >&-", shell=True, capture_output=True, timeout=60, check=False
        )
        assert (words, done.returncode, done.stderr) == (words, 141, b"")
    silent = f"{command} list 2>&- <&-; {command} list --recording-path nosuch 2>&- >&-; echo $?"
    done = subprocess.run(silent, shell=True, capture_output=True, timeout=60, check=True)
    rows = done.stdout.decode().splitlines()
    assert (rows[0].split()[:2], rows[-1], done.stderr) == (["#", "id"], "1", b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device that Linux has")
@pytest.mark.parametrize("words", ["--version", "--help", "list --help"])
def test_what_cannot_be_printed_is_one_line(words: str) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [*COMMAND, *words.split()], stdout=full, stderr=subprocess.PIPE, timeout=60, check=False
        )
    assert done.returncode == 1
    assert done.stderr == b"scaly-viz: error: No space left on device\n"
