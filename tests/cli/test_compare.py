"""Owns the tests of ``scaly-viz compare``: what is compared, how it is shown, and what fails a build."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

from programs.compat import STEPS
from scaly_viz import sources
from scaly_viz.analysis import report
from scaly_viz.analysis.render_times import RenderTimes, TimeComparison
from scaly_viz.recording import Recording

from .conftest import HOSTILE, HOSTILE_SHOWN
from .files import write_lines
from .running import error_of, output_of, run, run_on_terminal

DOCS = Path(__file__).parents[2] / "docs" / "compare.md"


@pytest.fixture(scope="module")
def base(versions: Path) -> list[Recording]:
    return sources.load(versions / "base")


@pytest.fixture(scope="module")
def new(versions: Path) -> list[Recording]:
    return sources.load(versions / "new")


def compared(*arguments: str | Path) -> dict[str, Any]:
    result: dict[str, Any] = json.loads(output_of("compare", *arguments, "--json"))
    return result


def code_bytes(recording: Recording) -> int:
    size = recording.steps[-1].figure("scaly.code.bytes")
    assert size is not None
    return size


def latest(recordings: list[Recording], function: str) -> Recording:
    return [each for each in recordings if each.function == function][-1]


def test_the_latest_recordings_of_each_function_and_label_are_compared(
    versions: Path, base: list[Recording], new: list[Recording]
) -> None:
    found = compared(versions / "base", versions / "new")

    assert [(p["function"], p["name"], p["matched_by"]) for p in found["pairs"]] == [
        ("spring", HOSTILE, "function and label"),
        ("damper", "damper", "function and label"),
    ]
    spring, damper = found["pairs"]
    assert spring["base"]["id"] == latest(base, "spring").id
    assert spring["new"]["id"] == latest(new, "spring").id
    assert (spring["base_recordings"], spring["new_recordings"]) == (4, 2)
    assert spring["render_time"]["base"]["recordings"] == 4
    figures = {each["name"]: each for each in spring["figures"]}
    assert len({each["label"] for each in spring["figures"]}) == len(figures)
    sizes = code_bytes(latest(base, "spring")), code_bytes(latest(new, "spring"))
    assert (figures["code_bytes"]["base"], figures["code_bytes"]["new"]) == sizes
    assert figures["code_bytes"]["change"] == sizes[1] - sizes[0] > 0
    # Three more products.
    assert figures["flops"]["change"] == 3
    assert spring["first_diverging"] == 0
    assert spring["steps"][0]["kinds"] == ["assembly"]
    assert not spring["same"]
    assert damper["same"]
    assert damper["first_diverging"] is None
    assert {step["same"] for step in damper["steps"]} == {True}
    assert [each["name"] for each in found["only_base"]] == ["only here"]
    assert [each["name"] for each in found["only_new"]] == ["high_rank"]


def test_sides_are_files_folders_recordings_in_them_and_recordings_of_ones_own(
    versions: Path, base: list[Recording], recording_folder: Path
) -> None:
    lines = (versions / "base" / "recordings.jsonl").read_text("utf-8").splitlines()
    write_lines(recording_folder / "recordings.jsonl", map(json.loads, lines))
    spring, damper = latest(base, "spring"), latest(base, "damper")
    file = versions / "base" / "recordings.jsonl"

    for words, ids in (
        (("1", "spring"), (base[0].id, spring.id)),
        (("-1", spring.id[:12]), (base[-1].id, spring.id)),
        ((f"{file}#spring", f"{versions}/base#only here"), (spring.id, damper.id)),
        (("#last", "only here"), (base[-1].id, damper.id)),
    ):
        (pair,) = compared(*words)["pairs"]
        assert (pair["base"]["id"], pair["new"]["id"]) == ids


def test_paths_and_labels_may_have_what_parts_them(
    versions: Path, base: list[Recording], tmp_path: Path, recording_folder: Path
) -> None:
    lines = (versions / "base" / "recordings.jsonl").read_text("utf-8")
    folder = tmp_path / "issue #3"
    folder.mkdir()
    for name, label in (("a.jsonl", "PR #12"), ("a.jsonl#PR ", "12")):
        (folder / name).write_text(lines.replace('"only here"', f'"{label}"'), "utf-8")
    write_lines(
        recording_folder / "recordings.jsonl",
        map(json.loads, lines.replace('"only here"', '"PR #12"').splitlines()),
    )
    file, longer = folder / "a.jsonl", folder / "a.jsonl#PR "

    for asked, name in ((f"{file}#PR #12", "12"), ("PR #12", "PR #12"), ("#PR #12", "PR #12")):
        (pair,) = compared(asked, f"{longer}#damper")["pairs"]
        assert (pair["base"]["name"], pair["base"]["id"]) == (name, base[-1].id)
    longer.unlink()
    (pair,) = compared(f"{file}#PR #12", f"{file}#spring")["pairs"]
    assert pair["base"]["name"] == "PR #12"
    output_of("export", f"{file}#PR #12", "--to", tmp_path / "one.json")
    assert [each["name"] for each in sources.load_dicts(tmp_path / "one.json")] == ["PR #12"]


def test_a_chosen_recording_faces_its_own_function(versions: Path, new: list[Recording]) -> None:
    found = compared(f"{versions}/base#only here", versions / "new")
    (pair,) = found["pairs"]
    assert (pair["matched_by"], pair["new"]["id"]) == ("choice", latest(new, "damper").id)
    assert (found["only_base"], found["only_new"]) == ([], [])
    # Nothing is the same recording twice, and a render that failed has no figures.
    (pair,) = compared(f"{versions}/new#spring", f"{versions}/new#high_rank")["pairs"]
    assert {figure["new"] for figure in pair["figures"]} == {None}
    assert pair["notes"][0] == "two functions: BASE is spring, NEW is high_rank"
    assert pair["notes"][1].startswith("NEW has no final figures: failed: ")


def test_scaly_viz_own_files_are_compared_too(versions: Path, tmp_path: Path) -> None:
    dicts = sources.load_dicts(versions / "base")
    theirs = tmp_path / "recordings.json"
    theirs.write_text(json.dumps(dicts), "utf-8")

    found = compared(theirs, versions / "base")

    spring = found["pairs"][0]
    assert spring["same"]
    assert spring["render_time"]["verdict"] == "unknown"
    figures = {each["name"]: (each["base"], each["new"]) for each in spring["figures"]}
    assert figures["code_bytes"][0] == figures["code_bytes"][1]
    assert figures["flops"][0] is None


@pytest.mark.parametrize(
    ("conditions", "code", "outcomes"),
    [
        (["flops > +0"], 1, ["met"]),
        (["flops > +3", "code_bytes > 1 GB"], 0, ["not met", "not met"]),
        (["damper: flops > +0"], 0, ["not met"]),
        (["spring: flops@lowered > +0 and loops > +1"], 1, ["met"]),
        (["damper: differing_steps > 0"], 0, ["not met"]),
        (["differing_steps > 0"], 1, ["met"]),
        (["flops@no_such_pass > +0"], 3, ["unknown"]),
        (["flops@no_such_pass > +0", "flops > +0"], 1, ["unknown", "met"]),
        (["nobody: flops > +0"], 3, ["unknown"]),
        (["damper: render_time > 1000 s or code_bytes > +0"], 0, ["not met"]),
        (["damper: render_time > 1000x or code_bytes > +0"], 3, ["unknown"]),
    ],
)
def test_a_condition_decides_the_exit_code(
    versions: Path, conditions: list[str], code: int, outcomes: list[str]
) -> None:
    options = [word for each in conditions for word in ("--fail-if", each)]
    sides = (versions / "base", versions / "new", "--allow-unmatched", "--json")
    result = run("compare", *sides, *options)
    assert result.exit_code == code
    found = json.loads(result.stdout)
    assert [each["outcome"] for each in found["conditions"]] == outcomes
    reasons = [reason for each in found["conditions"] for reason in each["reasons"]]
    told = [line.partition(": ")[2].partition(": ")[2] for line in result.stderr.splitlines()]
    assert [reason.replace(HOSTILE, HOSTILE_SHOWN) for reason in reasons] == told
    assert bool(told) == (code != 0)


def test_the_reasons_have_values_and_changes(versions: Path) -> None:
    condition = "flops > +10% or code_bytes > 1 GB"
    sides = (f"{versions}/base#spring", f"{versions}/new#spring")
    result = run("compare", *sides, "--fail-if", condition)
    assert result.exit_code == 1
    assert re.fullmatch(
        r"scaly-viz: failed: .*: flops > \+10%: \d+ -> \d+ \(\+\d+\.\d %\)\n", result.stderr
    )
    assert result.stdout.endswith(result.stderr.removeprefix("scaly-viz: "))


def test_reasons_tell_functions_of_one_label_apart(versions: Path, tmp_path: Path) -> None:
    lines = (versions / "base" / "recordings.jsonl").read_text("utf-8")
    for label in (json.dumps(HOSTILE), json.dumps(HOSTILE, ensure_ascii=False), '"only here"'):
        lines = lines.replace(label, '"one"')
    both = tmp_path / "both.jsonl"
    both.write_text(lines, "utf-8")
    condition = f"steps >= {STEPS}"
    reasons = [
        f"{title}: {condition}: it is {STEPS}" for title in ("spring: one", "damper", "damper: one")
    ]

    options = ("--fail-if", condition, "--format")
    found = {form: run("compare", both, both, *options, form) for form in ("text", "json")}

    assert json.loads(found["json"].stdout)["conditions"][0]["reasons"] == reasons
    told = [f"failed: {reason}" for reason in reasons]
    assert found["text"].stdout.splitlines()[-3:] == told
    assert found["text"].stderr.splitlines() == [f"scaly-viz: {line}" for line in told]


def test_a_render_time_is_judged_as_far_as_there_are_recordings(versions: Path) -> None:
    base, new = versions / "base", versions / "new"
    condition = "damper: render_time > 1000x"
    result = run("compare", base, new, "--allow-unmatched", "--fail-if", condition)
    assert (result.exit_code, result.stderr) == (
        3,
        "scaly-viz: cannot be judged: damper: render_time > 1000x: too few recordings to tell a change"
        " from noise: 1 in BASE and 1 in NEW; 4 on each side are enough\n",
    )
    # Of the same recordings all that there is is noise.
    output_of("compare", base, base, "--fail-if", "render_time != 1x or render_time > +0%")


def test_what_new_does_not_render_any_more_never_passes(versions: Path) -> None:
    sides = (versions / "base", versions / "new", "--fail-if", "flops > 1M")
    result = run("compare", *sides)
    assert (result.exit_code, result.stderr) == (
        3,
        "scaly-viz: cannot be judged: damper: only here: NEW has no recording of it\n",
    )
    assert run("compare", *sides, "--allow-unmatched").exit_code == 0
    assert run("compare", *sides, "--function", "spring").exit_code == 0


def test_a_recording_that_lacks_a_step_never_passes(versions: Path, tmp_path: Path) -> None:
    lines = (versions / "base" / "recordings.jsonl").read_text("utf-8").splitlines()
    damaged = tmp_path / "damaged.jsonl"
    damaged.write_text(
        "\n".join(line for line in lines if '"pass:fold_arith"' not in line), "utf-8"
    )
    sides = (f"{versions}/base#damper", f"{damaged}#damper")
    result = run("compare", *sides, "--fail-if", "flops > +5%")
    assert result.exit_code == 3
    assert f"only here has no flops: incomplete: 1 of {STEPS} steps" in result.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("{}/base", "nosuch.jsonl"), "nosuch.jsonl: no such file or folder"),
        (("{}/base", "no/such"), "no/such: no such file or folder"),
        (("{}/base", "nosuch"), "there is no file 'nosuch', and there are no recordings yet in "),
        (("{}/base", ""), "there is no file '', and there are no recordings yet in "),
        (("{}/base#nobody", "{}/new"), "no recording is called 'nobody'; there are 6"),
        (("{}", "{}/new"), "No recordings in {}."),
        (("{}/base#damper", "{}/new#high_rank", "--function", "x*"), "is called x*"),
        (("jaeger:x", "{}/new"), "jaeger:x: write jaeger:http://HOST:PORT"),
    ],
)
def test_what_cannot_be_compared_is_told_in_one_line(
    versions: Path, words: tuple[str, ...], message: str
) -> None:
    arguments = [word.replace("{}", str(versions)) for word in words]
    assert message.replace("{}", str(versions)) in error_of("compare", *arguments)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("{}/base",), "Missing argument 'NEW'"),
        (("{}/base", "{}/new", "more"), "Got unexpected extra argument (more)"),
        (("--bogus", "{}/base", "{}/new"), "No such option '--bogus'"),
        (("-x", "{}/new"), "No such option '-x'"),
        (("{}/base", "{}/new", "--format", "xml"), "'xml' is not one of"),
        (("{}/base", "{}/new", "--fail-if"), "Option '--fail-if' requires an argument"),
        (("{}/base", "{}/new", "--fail-if", "flop > 1"), "did you mean flops?"),
        (("{}/base", "{}/new", "--fail-if", "\x1b[2J"), r"'\x1b[2J': expected the name of"),
    ],
)
def test_a_wrong_call_is_told_with_exit_code_2(
    versions: Path, words: tuple[str, ...], message: str
) -> None:
    result = run("compare", *(word.replace("{}", str(versions)) for word in words))
    assert (result.exit_code, result.stdout) == (2, "")
    # Click's versions do not agree on quotes here.
    assert message in re.sub(r"No such option: (\S+)", r"No such option '\1'", result.stderr)


def test_a_text_has_figures_steps_and_what_each_step_added(versions: Path) -> None:
    text = output_of("compare", versions / "base", versions / "new")
    assert HOSTILE_SHOWN in text
    assert text.isprintable() or set(filter(lambda c: not c.isprintable(), text)) == {"\n"}
    assert re.search(r"^flops +\d+ +\d+ +\+3 +\+\d+\.\d %$", text, re.MULTILINE)
    assert f"  {STEPS} of {STEPS} steps differ, first 0 expression (assembly)\n" in text
    assert f"  all {STEPS} steps are the same\n" in text
    lowered = next(line for line in text.splitlines() if " lowered " in line)
    assert "assembly, listing, flops +3, " in lowered
    # What a pass leaves as it is, is not said again.
    assert re.search(r"pass:hoist_invariant +\d+ +\d+  assembly, listing$", text, re.MULTILINE)
    assert "(median of 4, " in text
    assert "too few recordings to tell it from noise" in text
    assert text.count("only in ") == 2
    summary = f"2 pairs of {versions}/base and {versions}/new: 1 the same"
    assert text.endswith(f"{summary}, 1 failed or incomplete in NEW\n")
    # That it has no counterpart makes no difference.
    assert text.startswith("the render of high_rank failed in NEW: LoweringError(")


def test_a_terminal_shows_what_is_more_in_red(versions: Path) -> None:
    words = ("compare", f"{versions}/base", f"{versions}/new", "--fail-if", "flops > +0")
    code, screen = run_on_terminal(*words, columns=120)
    assert code == 1
    assert re.search("\x1b\\[31m\\+3\x1b\\[0m", screen)
    assert "\x1b[1;31mfailed: " in screen
    assert screen.count("flops > +0") == 1
    _, plain = run_on_terminal(*words, columns=120, environ={"NO_COLOR": "1"})
    assert "\x1b[31m" not in plain


def test_a_render_that_failed_in_new_is_told_on_top_and_passes_no_condition(
    versions: Path,
) -> None:
    new = versions / "new"
    sides = (f"{versions}/base#damper", f"{new}#high_rank")

    text = output_of("compare", *sides)
    told = re.match(r"the render of high_rank failed in NEW: LoweringError\(.*\n\n", text)
    assert told is not None
    assert text.endswith(": 0 the same, 1 failed or incomplete in NEW\n")
    comment = output_of("compare", *sides, "--format", "markdown").splitlines()
    assert comment[4] == f"- ⚠️ `{told[0].strip()}`"

    for condition in ("flops > 1G", "nodes@expression > 1M", "damper: flops > 1 or nodes > 1"):
        assert run("compare", *sides, "--fail-if", condition).exit_code == 3
    result = run("compare", *sides, "--fail-if", "nodes@expression > 1M")
    assert result.stderr.startswith(
        "scaly-viz: cannot be judged: high_rank: NEW has no final figures: failed: LoweringError("
    )
    assert run("compare", *sides, "--fail-if", "nodes@expression > 1").exit_code == 1
    # A render that failed before is no news, and no better.
    again = output_of("compare", f"{new}#high_rank", f"{new}#high_rank")
    assert again.startswith("the render of high_rank failed in NEW as in BASE: ")


def test_where_nothing_has_a_counterpart_the_report_says_what_there_is(versions: Path) -> None:
    sides = (f"{versions}/base#damper", versions / "new", "--function")
    told = "scaly-viz: nothing to compare: no recording in BASE, high_rank in NEW\n"

    for glob, message in (
        ("high*", told),
        ("spring", f"scaly-viz: nothing to compare: no recording in BASE, {SPRING} in NEW\n"),
    ):
        found = {form: run("compare", *sides, glob, "--format", form) for form in FORMS}
        assert {(each.exit_code, each.stderr) for each in found.values()} == {(3, message)}
        assert "only in NEW: " in found["text"].stdout
        assert "only in BASE" not in found["text"].stdout
        assert found["markdown"].stdout.startswith("### scaly-viz: nothing to compare\n")
        read = json.loads(found["json"].stdout)
        assert (read["outcome"], read["pairs"], len(read["only_new"])) == ("unknown", [], 1)

    for options in ((), ("--allow-unmatched",)):
        result = run("compare", *sides, "high*", "--fail-if", "flops > 1", *options)
        assert (result.exit_code, result.stderr) == (
            3,
            f"{told}scaly-viz: cannot be judged: no pair\n",
        )


FORMS = ("text", "markdown", "json")
SPRING = f"spring: {HOSTILE_SHOWN}"


def test_the_page_names_every_field_of_the_json() -> None:
    page = DOCS.read_text("utf-8").partition("\n## JSON\n")[2]
    rows = re.findall(r"^\| ?(\w*) \| (`.*?) \|", page, re.MULTILINE)
    documented: dict[str, list[str]] = {}
    current = ""
    for name, fields in rows:
        current = name or current
        documented.setdefault(current, []).extend(re.findall(r"`(\w+)`", fields))
    structs: dict[str, type[msgspec.Struct]] = {
        "Report": report.Report,
        "Condition": report.ReportedCondition,
        "Pair": report.ReportedPair,
        "Figure": report.ReportedFigure,
        "Times": TimeComparison,
        "RenderTimes": RenderTimes,
        "Step": report.ReportedStep,
        "Unmatched": report.Unmatched,
    }
    assert documented == {name: [*each.__struct_fields__] for name, each in structs.items()}
