"""Owns the tests of snapshots of figures: written on request, compared, and told where they are obsolete."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from scaly_viz.analysis.condition_text import Check, parse_condition
from scaly_viz.analysis.figures import FigureError, Reference
from scaly_viz.pytest_plugin import snapshots
from scaly_viz.pytest_plugin.snapshots import Snapshot, SnapshotError

from .project import Project

TESTS = """
import pytest
from model import damper, spring

def test_first(scaly_viz):
    scaly_viz.render(damper).assert_snapshot()

def test_spring(scaly_viz):
    recording = scaly_viz.render(spring)
    recording.assert_snapshot()
    recording.assert_snapshot("again")

def test_damper(scaly_viz):
    scaly_viz.render(damper).assert_figures("code_bytes <= +1%", "flops < 1k")

def test_gone(scaly_viz):
    scaly_viz.render(damper).assert_snapshot("<b>\\n'\\"")
"""
CHANGED = ("(x * 2.0 + 1.0).sin()", "((x * 2.0 + 1.0).sin() * x).sin()")


@pytest.mark.slow
def test_snapshots_are_written_compared_and_dropped(tmp_path: Path) -> None:
    project = Project(tmp_path, test_model=TESTS)
    file = tmp_path / "__figures__" / "test_model.json"

    # Without a snapshot nothing passes that needs one.
    code, output, _ = project.run()
    assert code == 1
    assert "4 failed" in output
    assert "__figures__/test_model.json has no snapshot 'spring' of this test: " in output
    assert "code_bytes <= +1%: __figures__/test_model.json has no snapshot 'damper'" in output
    assert not file.exists()

    # Written, from several processes too, they are the same with each run.
    code, output, _ = project.run("--scaly-viz-update", "-n", "2")
    assert code == 0
    assert "__figures__/test_model.json: snapshots written: 5 new" in output
    written = file.read_text("utf-8")
    tests = snapshots.read(file)
    assert {test: sorted(names) for test, names in tests.items()} == {
        "test_damper": ["damper"],
        "test_first": ["damper"],
        "test_gone": ["<b>\n'\""],
        "test_spring": ["again", "spring"],
    }
    figures = tests["test_spring"]["spring"].figures
    assert figures["flops"] == 9
    assert "render_time" not in figures

    # A change is told with both values and the first step that differs, and so is what is obsolete.
    project.write("model.py", (tmp_path / "model.py").read_text("utf-8").replace(*CHANGED))
    tests_now = TESTS.partition("def test_gone")[0]
    skipped = tests_now.replace("def test_first", "@pytest.mark.skip\ndef test_first")
    project.write("test_model.py", skipped)
    code, output, _ = project.run()
    assert code == 1
    assert "1 failed, 1 passed, 1 skipped" in output
    assert "flops: wanted 9, found 15 (+66.7 %)" in output
    assert "the first step that changed is 0 expression: nodes 6 -> 8" in output
    assert "where that is as it should be: pytest --scaly-viz-update" in output
    said = "__figures__/test_model.json: no test compares test_gone: <b>\\n'\"; "
    assert f"{said}pytest --scaly-viz-update drops what is obsolete" in output
    assert file.read_text("utf-8") == written

    # A run of some tests leaves the others as they are.
    code, output, _ = project.run("--scaly-viz-update", "-k", "test_spring")
    assert code == 0
    assert "__figures__/test_model.json: snapshots written: 2 changed" in output
    assert set(snapshots.read(file)) == {"test_spring", "test_damper", "test_first", "test_gone"}

    # Tests that are gone as a whole, and a file that is damaged.
    (tmp_path / "test_model.py").rename(tmp_path / "test_other.py")
    damaged = file.with_name("test_other.json")
    damaged.write_text(written.replace('"flops"', "<<<<<<<", 1), "utf-8")
    code, output, _ = project.run("--scaly-viz-update")
    assert code == 1
    assert "2 failed, 1 skipped" in output
    assert "__figures__/test_model.json: removed" in output
    assert f"{damaged}: not a file of snapshots: JSON is malformed: " in output
    assert "mend it, or delete it and run pytest --scaly-viz-update" in output


@pytest.mark.slow
def test_what_no_snapshot_will_ever_have_fails_as_it_is_written(tmp_path: Path) -> None:
    tests = """
from model import spring

def test_edges(scaly_viz):
    scaly_viz.render(spring).assert_figures("edges <= +5%", "render_time < 1.5x", "flops < +5%")

def test_either(scaly_viz):
    scaly_viz.render(spring).assert_figures("edges <= +5% or nodes <= +5%", "flops == -1")
"""
    project = Project(tmp_path, test_model=tests)
    code, output, _ = project.run("--scaly-viz-update")
    assert code == 1
    assert "1 failed, 1 passed" in output
    assert "wanted edges <= +5%: the snapshot has no edges" in output
    assert "wanted render_time < 1.5x: the snapshot has no render_time" in output
    assert "wanted flops < +5%" not in output


SNAPSHOT = Snapshot(
    "0.1.0a2",
    {"flops": 9, "nodes": 5},
    [
        ("expression", {"nodes": 6}),
        ("lowered", {"nodes": 7, "flops": 12}),
        ("pass:fold", {"flops": 9}),
        ("pass:pack", {}),
        ("pass:fold", {"nodes": 5}),
    ],
)


def reference(text: str) -> Reference:
    root = parse_condition(f"{text} > 0").root
    assert isinstance(root, Check)
    return root.reference


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("flops", 9),
        ("nodes@expression", 6),
        ("flops@lowered", 12),
        ("nodes@pack", 7),
        ("nodes@pass:fold#1", 7),
        ("nodes@fold#2", 5),
    ],
)
def test_a_snapshot_knows_the_figures_of_each_step(name: str, value: int) -> None:
    assert SNAPSHOT.value(reference(name)) == value


@pytest.mark.parametrize(
    "name", ["loops", "flops@expression", "nodes@fold", "nodes@fold#3", "flops@x"]
)
def test_what_a_snapshot_lacks_is_an_error(name: str) -> None:
    with pytest.raises(FigureError):
        SNAPSHOT.value(reference(name))


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        (SNAPSHOT.steps, ""),
        (SNAPSHOT.steps[:-1], "there were 5 steps, now there are 4"),
        (
            [SNAPSHOT.steps[0], ("lowered", {"nodes": 8, "flops": 12}), *SNAPSHOT.steps[2:]],
            "the first step that changed is 1 lowered: nodes 7 -> 8",
        ),
        (
            [*SNAPSHOT.steps[:3], ("pass:new", {}), *SNAPSHOT.steps[3:]],
            "the first step that changed is 3: pass:pack before, pass:new now",
        ),
    ],
)
def test_the_first_step_that_differs_is_found(
    steps: list[tuple[str, dict[str, int]]], said: str
) -> None:
    other = Snapshot(SNAPSHOT.scaly, SNAPSHOT.figures, steps)
    assert snapshots.first_difference(SNAPSHOT, other) == said


def test_another_compiler_is_named() -> None:
    other = Snapshot("0.2", {"flops": 9, "loops": 1}, SNAPSHOT.steps)
    assert [*snapshots.differences(SNAPSHOT, other)] == [
        "nodes: wanted 5, found none",
        "loops: wanted none, found 1",
        "the snapshot is of scaly 0.1.0a2, this is 0.2",
    ]
    # But it is no difference by itself.
    alike = Snapshot("0.2", SNAPSHOT.figures, SNAPSHOT.steps)
    assert [*snapshots.differences(SNAPSHOT, alike)] == []


def test_a_file_is_read_as_it_was_written_one_line_a_figure(tmp_path: Path) -> None:
    file = tmp_path / "__figures__" / "test_a.json"
    tests = {"test_b[\u202e]": {"f": SNAPSHOT, 'a"\n': SNAPSHOT}, "test_a": {"f": SNAPSHOT}}
    snapshots.write(file, tests)
    assert snapshots.read(file) == tests
    text = file.read_text("utf-8")
    assert [*json.loads(text)["tests"]] == ["test_a", "test_b[\u202e]"]
    assert '          ["lowered", {"nodes": 7, "flops": 12}],\n' in text
    assert '          "flops": 9,\n' in text
    assert text.isascii()
    snapshots.write(file, {})
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not a file of snapshots: Input data was truncated"),
        ("[]", "not a file of snapshots: Expected `object`, got `array`"),
        ('{"format": "x", "version": 1, "tests": {}}', "format 'x' 1 is not known here"),
        ('{"format": "scaly-viz figures", "version": 2, "tests": {}}', "2 is not known here"),
        ("[" * 100_000, "not a file of snapshots"),
        ("\udcff", "not a file of snapshots"),
    ],
)
def test_a_file_that_is_no_snapshots_is_told(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "test_a.json"
    file.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(SnapshotError) as raised:
        snapshots.read(file)
    assert str(raised.value).startswith(f"{file}: ")
    assert message in str(raised.value)


def test_a_file_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "__figures__").touch()
    file = tmp_path / "__figures__" / "test_a.json"
    with pytest.raises(SnapshotError, match=f"{file}: cannot be written: "):
        snapshots.write(file, {"test": {"f": SNAPSHOT}})
