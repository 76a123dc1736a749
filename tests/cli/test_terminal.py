"""Owns the tests of what a real terminal gets."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import HOSTILE_SHOWN
from .files import Line, add_payload
from .running import output_of, run_on_terminal

type Odd = Callable[[str, Callable[[Line], None]], Path]

COLOR = re.compile(r"\x1b\[[0-9;]*m")


def plain(screen: str) -> str:
    return COLOR.sub("", screen)


def cells(line: str) -> int:
    return len(plain(line).rstrip())


@pytest.mark.usefixtures("local")
@pytest.mark.parametrize("columns", [40, 60, 80, 120, 200])
@pytest.mark.parametrize("command", [("list",), ("show", "1")])
def test_a_table_fits_the_terminal(command: tuple[str, ...], columns: int) -> None:
    code, screen = run_on_terminal(*command, columns=columns)
    assert code == 0
    table = screen.split("\n\n")[-1] if command[0] == "show" else screen
    assert max(map(cells, table.splitlines())) <= columns


@pytest.mark.usefixtures("local")
def test_80_columns_show_every_figure_of_a_recording() -> None:
    _, screen = run_on_terminal("list", columns=80)
    header = plain(screen).splitlines()[0].strip()
    assert re.split(" +(?!bytes)", header) == [
        "#",
        "when",
        "name",
        "steps",
        "duration",
        "nodes",
        "C bytes",
        "status",
        "process",
    ]
    last = screen.splitlines()[-1]
    assert last.startswith("\x1b[2mNot shown: id, function (see them wider, in a pipe")
    _, steps = run_on_terminal("show", "1", columns=80)
    assert "Not shown: dialect, flops" in steps
    assert not any("Not shown" in run_on_terminal(w, columns=250)[1] for w in ("list", "show"))


@pytest.mark.usefixtures("local")
def test_a_wide_terminal_gets_the_table_of_a_pipe_in_colors() -> None:
    _, screen = run_on_terminal("list", columns=200)
    assert re.search(r"\x1b\[31mfailed *\x1b\[0m", screen)
    assert [line.rstrip() for line in plain(screen).splitlines()] == output_of("list").splitlines()


@pytest.mark.usefixtures("local")
def test_steps_without_effect_are_dim() -> None:
    _, screen = run_on_terminal("show", "1", columns=200)
    for line in screen.splitlines():
        if plain(line).rstrip().endswith("  same"):
            assert line.startswith("\x1b[2m")


@pytest.mark.usefixtures("local")
@pytest.mark.parametrize(
    "arguments", [("0",), ("lowered",), ("generated",), ("0", "--kind", "graph")]
)
def test_a_text_is_highlighted_and_otherwise_the_same(arguments: tuple[str, ...]) -> None:
    code, screen = run_on_terminal("show", "1", *arguments, "--no-pager", rows=2000)
    assert code == 0
    assert len({*COLOR.findall(screen)}) > 2
    in_a_pipe = output_of("show", "1", *arguments)
    if "graph" in arguments:
        assert json.loads(plain(screen)) == json.loads(in_a_pipe)
    else:
        assert plain(screen) == in_a_pipe.expandtabs(8) if "\t" in in_a_pipe else in_a_pipe


@pytest.mark.usefixtures("local")
@pytest.mark.parametrize("environ", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_who_wants_no_colors_gets_none(environ: dict[str, str]) -> None:
    _, screen = run_on_terminal("show", "1", "lowered", rows=2000, environ=environ)
    assert screen == output_of("show", "1", "lowered")
    _, screen = run_on_terminal("list", environ=environ)
    assert not re.search(r"\x1b\[[0-9;]*3[0-9]", screen)


@pytest.mark.usefixtures("local")
def test_only_a_text_longer_than_the_screen_is_paged() -> None:
    pager = {"PAGER": "sed s,^,paged:,"}
    _, long = run_on_terminal("show", "1", "generated", rows=10, environ=pager)
    assert all(line.startswith("paged:") for line in long.splitlines())
    _, short = run_on_terminal("show", "1", "generated", rows=2000, environ=pager)
    assert "paged:" not in short
    _, unpaged = run_on_terminal("show", "1", "generated", "--no-pager", rows=10, environ=pager)
    assert unpaged == short


@pytest.mark.usefixtures("local")
def test_a_pager_that_ends_early_is_no_error() -> None:
    code, screen = run_on_terminal("show", "1", "generated", rows=5, environ={"PAGER": "head -1"})
    assert (code, len(screen.strip().splitlines())) == (0, 1)


@pytest.mark.usefixtures("local")
@pytest.mark.parametrize("pager", ["", "cat", "no-such-pager", "'"])
def test_without_a_pager_a_long_text_keeps_its_colors(pager: str) -> None:
    _, screen = run_on_terminal("show", "1", "generated", rows=5, environ={"PAGER": pager})
    assert len({*COLOR.findall(screen)}) > 2
    assert plain(screen) == output_of("show", "1", "generated")


def test_a_hostile_label_reaches_the_terminal_escaped(hostile: Path) -> None:
    for command in ("list", "show"):
        _, screen = run_on_terminal(command, "--recording-path", hostile, columns=250)
        assert HOSTILE_SHOWN in plain(screen)
        assert plain(screen).replace("\n", "").isprintable()


def test_a_hostile_text_reaches_the_terminal_escaped(odd: Odd) -> None:
    text = b"one\x1b[2J\x07\n\ttwo \xc2\x9b \xe2\x80\xae \xff\n"
    path = odd("lowered", lambda line: add_payload(line, "notes", text, "text/plain"))
    arguments = ("show", "1", "lowered", "--kind", "notes", "--recording-path", path)
    _, screen = run_on_terminal(*arguments)
    assert plain(screen) == "one\\x1b[2J\\x07\n\ttwo \\x9b \\u202e \\xff\n"


def test_what_is_no_text_is_refused_with_its_size(odd: Odd) -> None:
    data = bytes(range(256)) * 40
    path = odd("lowered", lambda line: add_payload(line, "profile", data, "application/x-profile"))
    code, screen = run_on_terminal(
        "show", "1", "lowered", "--kind", "profile", "--recording-path", path, columns=250
    )
    assert code == 1
    assert "is no text but 10,240 bytes of application/x-profile" in screen


@pytest.mark.usefixtures("local")
def test_json_is_indented_for_people() -> None:
    _, screen = run_on_terminal("list", "--json")
    assert screen.startswith('[\n  {\n    "id": "')
    assert json.loads(screen) == json.loads(output_of("list", "--json"))
