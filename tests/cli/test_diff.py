"""Owns the tests of ``scaly-viz diff``."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import click
import pytest

from scaly_viz import sources
from scaly_viz.recording import Recording

from .files import Line, add_payload
from .running import error_of, output_of, run, run_on_terminal, run_process

type Odd = Callable[[str, Callable[[Line], None]], Path]


@pytest.fixture
def spring(local: Path) -> Recording:
    return sources.load(local)[0]


def lines(recording: Recording, step: str, kind: str) -> list[str]:
    found = next(each for each in recording.steps if each.name == step)
    return recording.text(found, kind).splitlines()


def sides(diff: str) -> tuple[list[str], list[str]]:
    """Return both sides of a diff that has one hunk."""
    _, _, head, *hunk = diff.splitlines()
    assert head.startswith("@@ -1,")
    left, right = ([line[1:] for line in hunk if line[0] in tags] for tags in (" -", " +"))
    return left, right


def test_a_step_is_compared_with_what_it_changed(spring: Recording) -> None:
    step = next(s for s in spring.steps if s.dialect == "prog" and s.changed and s.index > 3)
    before = spring.steps[step.index - 1]
    output = output_of("diff", "1", step.name, "--exact", "-U", "10000")
    assert output.splitlines()[:2] == [
        f"--- {before.index} {before.name}.listing",
        f"+++ {step.index} {step.name}.listing",
    ]
    left, right = (lines(spring, each.name, "listing") for each in (before, step))
    assert left != right
    assert sides(output) == (left, right)


def test_two_steps_can_be_compared_in_any_kind_of_text(spring: Recording) -> None:
    steps = ("lowered", "pass:coalesce_stores")
    output = output_of("diff", "1", *steps, "--kind", "assembly", "--exact", "-U", "10000")
    left, right = (lines(spring, step, "assembly") for step in steps)
    assert sides(output) == (left, right)


def test_lines_around_a_change_can_be_asked_for(spring: Recording) -> None:
    left, right = (lines(spring, s, "listing") for s in ("lowered", "pass:coalesce_stores"))
    output = output_of("diff", "1", "lowered", "coalesce_stores", "-U", "0", "--exact")
    body = [line for line in output.splitlines()[2:] if not line.startswith("@@ ")]
    assert body
    assert {line[0] for line in body} == {"-", "+"}
    assert all(line[1:] in (left if line[0] == "-" else right) for line in body)


def test_a_step_without_a_change_prints_nothing_in_a_pipe_and_a_sentence_on_a_terminal(
    spring: Recording,
) -> None:
    assert output_of("diff", "1", "lowered", "lowered") == ""
    code, screen = run_on_terminal("diff", "1", "lowered", "lowered")
    index = next(step.index for step in spring.steps if step.name == "lowered")
    name = f"step {index} (lowered)"
    assert (code, screen) == (0, f"The listing of {name} is that of {name}.\n")


def test_a_pass_that_changed_nothing_has_no_difference(spring: Recording) -> None:
    programs = [s for s in spring.steps if s.dialect == "prog"]
    unchanged = [
        step
        for before, step in pairwise(programs)
        if lines(spring, before.name, "listing") == lines(spring, step.name, "listing")
    ]
    assert unchanged
    for step in unchanged:
        assert output_of("diff", "1", step.name) == ""
        assert run("diff", "1", step.name, "--exit-code").exit_code == 0


@pytest.mark.usefixtures("local")
def test_the_first_text_of_a_kind_is_compared_with_nothing() -> None:
    output = output_of("diff", "1", "expression")
    assert output.startswith("--- /dev/null\n+++ 0 expression.assembly\n@@ -0,0 +1,")
    assert all(line.startswith("+") for line in output.splitlines()[3:])


@pytest.mark.usefixtures("local")
def test_an_exit_code_tells_whether_there_is_a_difference() -> None:
    assert run("diff", "1", "lowered", "coalesce_stores", "--exit-code").exit_code == 1
    assert run("diff", "1", "lowered", "lowered", "--exit-code").exit_code == 0


@pytest.mark.usefixtures("local")
def test_json_has_the_counts_and_chunks_that_the_api_has() -> None:
    found = json.loads(output_of("diff", "1", "lowered", "coalesce_stores", "--json"))
    assert [found[side]["name"] for side in ("left", "right")] == [
        "lowered",
        "pass:coalesce_stores",
    ]
    assert found["kind"] == "listing"
    assert found["identical"] is False
    assert {"left", "right", "op", "move"} == set(found["chunks"][0])


@pytest.mark.usefixtures("local")
def test_a_terminal_gets_colors_by_what_happened_to_a_line() -> None:
    _, screen = run_on_terminal("diff", "1", "lowered", "coalesce_stores", columns=200)
    assert "\x1b[32m+" in screen
    assert "\x1b[31m-" in screen
    assert "\x1b[34m@@" in screen


@pytest.mark.usefixtures("local")
def test_force_color_colors_a_pipe_and_changes_nothing_else() -> None:
    words = ("diff", "1", "lowered", "coalesce_stores")
    colored = run_process(*words, FORCE_COLOR="1", NO_COLOR="").stdout.decode()
    assert "\x1b[32m+" in colored
    assert click.unstyle(colored) == output_of(*words)
    assert run_process(*words, FORCE_COLOR="1", NO_COLOR="1").stdout.decode() == output_of(*words)


def test_hostile_text_does_not_reach_a_terminal(odd: Odd) -> None:
    path = odd(
        "pass:coalesce_stores",
        lambda line: add_payload(line, "notes", b"\x1b[2Jgone\n", "text/plain"),
    )
    _, screen = run_on_terminal(
        "diff",
        "1",
        "coalesce_stores",
        "--kind",
        "notes",
        "--recording-path",
        str(path),
        columns=200,
    )
    assert "\\x1b[2Jgone" in screen
    assert "\x1b[2J" not in screen


@pytest.mark.usefixtures("local")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("1", "lowered", "--kind", "code"), "has no text 'code'; it has: listing, assembly"),
        (
            ("1", "expression", "-1"),
            "there is no text to compare: step 0 (expression) has assembly",
        ),
        (("1", "lowered", "--kind", "graph"), "has no text 'graph'"),
        (("1", "no_such_pass"), "has no step 'no_such_pass'"),
        (("nobody", "lowered"), "no recording is called 'nobody'"),
    ],
)
def test_what_cannot_be_compared_is_told_in_one_line(
    arguments: tuple[str, ...], message: str
) -> None:
    assert message in error_of("diff", *arguments)


def test_a_step_that_is_missing_is_told_and_so_is_what_stands_in_for_it(local: Path) -> None:
    lines = local.read_text("utf-8").splitlines()
    local.write_text("\n".join(x for x in lines if '"pass:fuse_elementwise"' not in x), "utf-8")
    (spring, *_) = sources.load(local)
    missing = next(step.index for step in spring.steps if step.placeholder)
    after, before = spring.steps[missing + 1], spring.steps[missing - 1]

    assert error_of("diff", "1", f"{missing}") == (
        f"step {missing} is missing from the recording: 1 of {len(spring.steps)} steps is missing"
    )
    result = run("diff", "1", after.name)
    assert result.exit_code == 0
    assert result.stdout.startswith(f"--- {before.index} {before.name}.listing\n")
    assert result.stderr == (
        f"scaly-viz: warning: step {missing} before it cannot be read: compared with step"
        f" {before.index} ({before.name})\n"
    )
    assert run("diff", "1", before.name, after.name).stderr == ""


def test_without_recordings_there_is_an_error() -> None:
    assert error_of("diff", "last", "lowered").startswith("No recordings yet in ")
