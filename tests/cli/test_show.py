"""Owns the tests of ``scaly-viz show``."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import scaly_viz
from scaly_viz import attributes as a
from scaly_viz import sources
from scaly_viz.analysis.summary import StepSummary, summarize, summarize_steps

from .conftest import HOSTILE_SHOWN
from .files import Line, add_attribute, add_event, add_payload
from .running import error_of, output_of, run

HEADER = " *# +step +dialect +time +nodes +flops +traffic B +workspace B +text B +changed"

type Odd = Callable[[str, Callable[[Line], None]], Path]


def table_of(output: str) -> list[str]:
    """Return the rows of the table of steps."""
    paragraphs = output.split("\n\n")
    header, *rows = paragraphs[1].splitlines()
    assert re.fullmatch(HEADER, header)
    return rows


def test_show_has_a_head_and_a_row_for_each_step(local: Path) -> None:
    spring = sources.load(local)[0]
    output = output_of("show", "1")
    head = output.split("\n\n")[0].splitlines()
    assert head[0] == "Spring, tuned"
    facts = dict(line.strip().split(maxsplit=1) for line in head[1:])
    summary = summarize(spring)
    assert facts["id"] == spring.id
    assert facts["function"] == "spring"
    assert facts["where"] == f"{summary.file}:{summary.line} in <module>"
    assert facts["status"] == "ok"
    names = [re.split(r" {2,}", row.strip())[:2] for row in table_of(output)]
    assert names == [[str(step.index), step.name] for step in spring.steps]


def expected_changes(step: StepSummary) -> list[str]:
    """Return what the row of ``step`` must say."""
    if not step.changed:
        return ["same"]
    added, removed = (step.figures.get(key, 0) for key in (a.GRAPH_ADDED, a.GRAPH_REMOVED))
    changes = [f"+{added:,}"] if added else []
    changes += [f"-{removed:,}"] if removed else []
    for key, name in ((a.FLOPS, "flops"), (a.TRAFFIC, "traffic")):
        if step.changes.get(key):
            changes.append(f"{name} {step.changes[key]:+,}")
    if a.CODE_LINES in step.figures:
        changes.append(f"{step.figures[a.CODE_LINES]:,} lines")
    return changes


@pytest.mark.usefixtures("local")
def test_a_row_says_what_the_step_changed(local: Path) -> None:
    steps = summarize_steps(sources.load(local)[0])
    rows = table_of(output_of("show", "1"))
    for step, row in zip(steps, rows, strict=True):
        for change in expected_changes(step):
            assert change in row
        assert row.endswith("same") == (not step.changed)
    assert any(row.endswith("same") for row in rows)
    assert any("traffic -" in row for row in rows)


@pytest.mark.usefixtures("local")
def test_a_failed_render_shows_its_error_and_where_it_was_raised() -> None:
    output = output_of("show", "high_rank")
    assert "  status    failed: LoweringError('TRANSPOSE lowering handles rank <= 4" in output
    assert "\n\nTraceback (most recent call last):\n  File " in output
    assert "LoweringError: TRANSPOSE lowering" in output.splitlines()[-1]


@pytest.mark.usefixtures("local")
def test_an_incomplete_recording_says_what_is_missing() -> None:
    output = output_of("show", "damper")
    assert "  status    incomplete\n  problem   the render is still running, or its pro" in output


def test_a_step_that_was_lost_has_a_row(local: Path) -> None:
    lines = local.read_text("utf-8").splitlines(keepends=True)
    lost = next(line for line in lines if '"lowered"' in line and "spring" in line)
    local.write_text("".join(line for line in lines if line != lost), "utf-8")
    steps = sources.load(local)[0].steps
    index = next(step.index for step in steps if step.placeholder)
    assert re.fullmatch(rf" *{index} +missing", table_of(output_of("show", "1"))[index])
    assert error_of("show", "1", str(index)) == (
        f"step {index} (missing) has no text: it is missing"
    )


def test_every_payload_is_printed_exactly_as_it_was_recorded(
    as_recorded: list[dict[str, Any]],
) -> None:
    for number, recording in enumerate(as_recorded, start=1):
        for index, step in enumerate(recording["steps"]):
            for kind in ("assembly", "listing", "code"):
                if kind in step:
                    printed = output_of("show", str(number), str(index), "--kind", kind)
                    assert printed.removesuffix("\n") == step[kind].removesuffix("\n")
            if "graph" in step:
                graph = output_of("show", str(number), str(index), "--kind", "graph")
                assert json.loads(graph) == step["graph"]


def test_a_step_shows_its_code_else_its_listing_else_its_assembly(
    as_recorded: list[dict[str, Any]],
) -> None:
    for index, step in enumerate(as_recorded[0]["steps"]):
        text = step.get("code") or step.get("listing") or step["assembly"]
        assert output_of("show", "1", str(index)).removesuffix("\n") == text.removesuffix("\n")


def test_a_kind_without_a_step_is_that_of_the_last_step_that_has_it(
    as_recorded: list[dict[str, Any]],
) -> None:
    assert output_of("show", "1", "--kind", "code") == as_recorded[0]["steps"][-1]["code"]
    assert error_of("show", "high_rank", "--kind", "code") == (
        "no step of high_rank has a payload of kind 'code'; there are: assembly, graph"
    )


def test_show_as_json_has_the_summary_and_its_steps(local: Path) -> None:
    spring, high_rank, _ = sources.load(local)
    shown = json.loads(output_of("show", "1", "--json"))
    assert shown["id"] == spring.id
    assert [step["figures"] for step in shown["steps"]] == [
        step.figures for step in summarize_steps(spring)
    ]
    assert shown["exception"] is None
    assert "model.py" in shown["stacktrace"]
    failed = json.loads(output_of("show", high_rank.id, "--json"))
    assert failed["exception"].startswith("Traceback (most recent call last):")


def test_a_step_as_json_has_its_texts(as_recorded: list[dict[str, Any]]) -> None:
    lowered = next(s for s in as_recorded[0]["steps"] if s["name"] == "lowered")
    shown = json.loads(output_of("show", "1", "lowered", "--json"))
    assert shown["name"] == "lowered"
    assert shown["texts"] == {"assembly": lowered["assembly"], "listing": lowered["listing"]}
    assert shown["problems"] == {}
    only = json.loads(output_of("show", "1", "lowered", "--json", "--kind", "graph"))
    assert (only["texts"], only["graph"]) == ({}, lowered["graph"])


@pytest.mark.usefixtures("local")
def test_a_kind_that_the_step_lacks_is_answered_with_those_it_has() -> None:
    assert error_of("show", "1", "0", "--kind", "code") == (
        "step 0 (expression) has no code; it has: assembly, graph"
    )


def test_what_is_no_text_goes_to_a_pipe_unchanged(odd: Odd) -> None:
    data = bytes(range(256)) * 40
    path = odd("lowered", lambda line: add_payload(line, "profile", data, "application/x-profile"))
    result = run("show", "1", "lowered", "--kind", "profile", "--recording-path", path)
    assert result.stdout_bytes == data
    shown = json.loads(output_of("show", "1", "lowered", "--json", "--recording-path", path))
    assert [*shown["texts"]] == ["assembly", "listing"]


def test_counts_that_are_lower_bounds_are_marked(odd: Odd) -> None:
    reason = {"stringValue": "solver \x1b[1m: what it runs is unknown"}
    path = odd(
        "lowered",
        lambda line: add_attribute(line, a.UNCOUNTED, {"arrayValue": {"values": [reason]}}),
    )
    output = output_of("show", "1", "--recording-path", path)
    assert output.endswith(
        "\n\n* counts are lower bounds: solver \\x1b[1m: what it runs is unknown\n"
    )
    (row,) = (row for row in table_of(output) if " lowered " in row)
    assert re.search(r" \d+\* +[\d,]+\* ", row)


def test_a_payload_that_could_not_be_made_is_named(odd: Odd) -> None:
    path = odd(
        "expression",
        lambda line: add_event(line, "notes", {a.PAYLOAD_ERROR: "RecursionError: deep"}),
    )
    output = output_of("show", "1", "--recording-path", path)
    assert output.endswith("\n\nstep 0 (expression): its notes is missing: RecursionError: deep\n")
    assert error_of("show", "1", "0", "--kind", "notes", "--recording-path", path) == (
        "step 0 (expression): its notes cannot be shown: RecursionError: deep; try --kind assembly"
    )


def test_a_damaged_payload_ends_the_command_with_its_cause(odd: Odd) -> None:
    def damage(line: Line) -> None:
        add_event(
            line,
            "notes",
            {a.PAYLOAD_ENCODING: "text", a.PAYLOAD_BODY: "cut", a.PAYLOAD_DIGEST: "0" * 64},
        )

    path = odd("expression", damage)
    error = error_of("show", "1", "0", "--kind", "notes", "--recording-path", path)
    assert "its notes cannot be shown: its digest is wrong" in error
    shown = json.loads(output_of("show", "1", "0", "--json", "--recording-path", path))
    assert shown["problems"] == {"notes": "its digest is wrong: the body is damaged or was cut"}


def test_a_hostile_label_cannot_steer_the_terminal(hostile: Path) -> None:
    output = output_of("show", "--recording-path", hostile)
    assert output.startswith(f"{HOSTILE_SHOWN}\n")
    assert all(character.isprintable() for character in output.replace("\n", ""))


def test_without_a_local_file_show_says_how_to_make_one() -> None:
    assert output_of("show", "last", "3").startswith("No recordings yet in ")
    assert output_of("show", "--json") == "[]\n"


def test_a_recording_of_scaly_viz_shows_without_what_it_lacks(tmp_path: Path) -> None:
    path = tmp_path / "recordings.json"
    steps = [
        {"name": "expression", "phase": "p", "dialect": "expr", "assembly": "a\nb"},
        {"name": "generated C", "phase": "c", "dialect": "c", "code": "int x;\n"},
    ]
    path.write_text(json.dumps([{"id": "ab", "name": "f", "function": "f", "steps": steps}]))
    output = output_of("show", "--recording-path", path)
    assert output.startswith("f\n  id        ab\n  function  f\n  status    ok\n\n")
    assert output_of("show", "ab", "0", "--recording-path", path) == "a\nb\n"
    assert output_of("show", "ab", "-1", "--recording-path", path) == "int x;\n"


@pytest.mark.usefixtures("local")
def test_what_looks_like_an_option_and_is_none_is_refused() -> None:
    result = run("show", "--jsn")
    assert result.exit_code == 2
    assert "No such option" in result.stderr
    assert "--json" in result.stderr


def test_the_library_reads_the_same_recordings(as_recorded: list[dict[str, Any]]) -> None:
    listed = json.loads(output_of("list", "--json"))
    assert [entry["id"] for entry in listed] == [recording["id"] for recording in as_recorded]
    assert scaly_viz.recording_path().exists()
