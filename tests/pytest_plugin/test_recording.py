"""Owns the tests of recording with pytest: what is kept of each test, and what a failure tells."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from scaly_viz import sources
from scaly_viz.recording import Recording

from .project import PLUGIN, Project

TESTS = """
import pytest
import scaly_viz as package
from model import damper, spring
from scaly.codegen.aot import render_c_source
from scaly_viz.analysis.condition_text import ConditionError
from scaly_viz.analysis.figures import FigureError
from scaly_viz.testing import deterministic

render_c_source(spring)  # while tests are collected: in no test

@pytest.fixture(scope="module")
def rendered():
    render_c_source(damper)

def test_nothing():
    pass

def test_first_uses_the_fixture(rendered):
    render_c_source(spring)

@pytest.mark.parametrize("n", [1, 2])
def test_each(n, rendered):
    for _ in range(n):
        render_c_source(spring)

def test_fails():
    package.visualize(damper, label="mine")
    render_c_source(damper)
    package.unvisualize_function(damper)
    assert package.recordings()[-1]["name"] == "mine"
    package.clear_recordings()
    package.configure(exporters=["none"])
    render_c_source(spring)
    assert 1 == 2

def test_figures_of_what_is_recorded(scaly_viz):
    assert scaly_viz.recordings == []
    with pytest.raises(AssertionError, match="scaly rendered nothing in test_model.py::test_fig"):
        scaly_viz.recording
    spring_again = scaly_viz.render(spring)
    scaly_viz.render(damper)
    assert [each.function for each in scaly_viz.recordings] == ["spring", "damper"]
    assert scaly_viz.recording.function == "damper"
    assert scaly_viz["spring"].id == spring_again.id
    with pytest.raises(AssertionError, match="nothing called other in .*, but spring, damper; "):
        scaly_viz["other"]
    recording = scaly_viz["spring"]
    size = recording.figures["code_bytes"]
    assert recording.figure("code_bytes@'generated C'") == size
    recording.assert_figures(
        "code_bytes <= 10_000", "loops >= 0 and flops > 1", code_bytes=size, flops=pytest.approx(9)
    )
    recording.assert_figures(flops="== 9", **{"nodes@expression": recording.figure("nodes@expression")})
    for wrong in ("flop > 1", "spring: flops > 1", "flops"):
        with pytest.raises(package.ScalyVizError) as raised:
            recording.assert_figures(wrong)
        assert len(raised.traceback) == 2
    for nothing in ((), (17,), (["flops <= 9"],)):
        with pytest.raises(TypeError, match="assert_figures\\(\\) asserts nothing|type str, got"):
            recording.assert_figures(*nothing)
    with pytest.raises(ConditionError, match="'flop': there is no figure 'flop'; did you mean flops"):
        recording.assert_figures(flop=8)
    with pytest.raises(FigureError, match="has no step lowred; did you mean lowered?"):
        recording.figure("nodes@lowred")
    with pytest.raises(TypeError, match="a name of type str, or None, got int"):
        recording.assert_snapshot(3)
    with pytest.raises(ValueError, match="is a condition: assert_figures"):
        recording.assert_snapshot("flops <= +5%")
    with pytest.raises(TypeError, match="expected a scaly Function"):
        scaly_viz.render(42)

def test_inside_of_deterministic_nothing_is_recorded(scaly_viz):
    with deterministic():
        render_c_source(spring)
    assert scaly_viz.recordings == []

def test_figures_fail(scaly_viz):
    scaly_viz.render(spring).assert_figures("code_bytes <= 1 kB", flops=8, loads="> 1M")
"""


def functions(recordings: list[Recording], test: str) -> list[str]:
    return [each.function for each in recordings if each.label == f"test_model.py::{test}"]


def test_the_renders_of_each_test_are_kept_under_its_id(tmp_path: Path) -> None:
    project = Project(tmp_path, test_model=TESTS)
    code, output, errors = project.run("--scaly-viz", "--scaly-viz-dir", "kept", "-v")
    assert (code, errors) == (1, "")
    assert "2 failed, 6 passed" in output

    recordings = sources.load(tmp_path / "kept")
    assert functions(recordings, "test_nothing") == []
    assert functions(recordings, "test_first_uses_the_fixture") == ["damper", "spring"]
    assert functions(recordings, "test_each[1]") == ["spring"]
    assert functions(recordings, "test_each[2]") == ["spring", "spring"]
    assert functions(recordings, "test_fails") == ["spring"]
    assert [r.label for r in recordings if r.label and r.label.endswith(" mine")] == [
        "test_model.py::test_fails mine"
    ]
    assert functions(recordings, "test_figures_of_what_is_recorded") == ["spring", "damper"]
    assert functions(recordings, "test_inside_of_deterministic_nothing_is_recorded") == []
    assert len(recordings) == 2 + 1 + 2 + 2 + 2 + 1
    assert {each.status for each in recordings} == {"ok"}
    file = tmp_path / "kept" / "recordings.jsonl"
    assert f"10 recordings of 6 tests in {tmp_path}/kept: scaly-viz serve {tmp_path}/kept" in output

    # A failure tells which recordings there are, and how the newest is opened.
    failed = next(r for r in recordings if r.label == "test_model.py::test_fails")
    section = re.findall(r"-+ scaly-viz -+\n((?:.+\n)+?)(?=_|=|-)", output)
    assert len(section) == 3
    assert f"{failed.id[:16]}  spring  ok, {len(failed.steps)} steps, " in section[0]
    assert f"scaly-viz show {failed.id[:16]} --recording-path {file}\n" in section[0]

    # A figure that is otherwise: which, what was wanted, what was found, and which step made it so.
    message = output.partition("E       AssertionError: figures of spring")[2].partition("\n\n")[0]
    lowered = next(s.index for s in failed.steps if s.name == "lowered")
    size = failed.steps[-1].figure("scaly.code.bytes")
    index = failed.steps[-1].index
    assert f"E         wanted code_bytes <= 1 kB: it is {size:,} B\n" in message
    assert f"code_bytes: {size:,} since step {index} (generated C)\n" in message
    assert "E         flops: wanted 8, found 9 (+12.5 %)\n" in message
    assert f"flops: 9 since step {lowered} (lowered)\n" in message
    assert "wanted loads > 1M: it is 3\n" in message

    # The next run begins anew; what others put into a folder stays.
    code, output, _ = project.run("--scaly-viz", "--scaly-viz-dir", "kept", "-k", "test_each")
    assert code == 0
    assert len(sources.load(tmp_path / "kept")) == 4
    assert "4 recordings of 2 tests" in output


PLAIN = """
import sys

def test_nothing_of_it_is_imported():
    assert "scaly_viz.pytest_plugin" in sys.modules
    assert not {"scaly", "opentelemetry", "msgspec", "wrapt"} & set(sys.modules)
"""


@pytest.mark.slow
def test_switched_off_it_imports_nothing(tmp_path: Path) -> None:
    project = Project(tmp_path, test_plain=PLAIN)
    code, output, errors = project.run(python=("-X", "importtime"))
    assert code == 0, output
    imported = {line.rpartition("|")[2].strip() for line in errors.splitlines()}
    assert "scaly_viz.errors" in imported
    assert {name for name in imported if name.partition(".")[0] in HEAVY} == set()
    ours = {name for name in imported if name.startswith("scaly_viz")}
    assert ours <= {"scaly_viz", "scaly_viz.pytest_plugin", *LIGHT}


HEAVY = (
    "scaly",
    "opentelemetry",
    "msgspec",
    "wrapt",
    "numpy",
    "click",
    "rich",
    "scaly_viz_exporters",
)
LIGHT = ("scaly_viz._version", "scaly_viz.errors", "scaly_viz.log", "scaly_viz.settings")

FIXTURE = """
from model import spring

def test_it(scaly_viz):
    scaly_viz.render(spring).assert_figures(flops=9)
"""


@pytest.mark.slow
def test_the_fixture_works_without_the_option_and_is_gone_without_the_plugin(
    tmp_path: Path,
) -> None:
    project = Project(tmp_path, test_it=FIXTURE)
    code, output, errors = project.run()
    assert (code, errors) == (0, "")
    assert "- scaly-viz -" not in output
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "model.py",
        "pytest.ini",
        "test_it.py",
    ]
    if not PLUGIN:
        code, output, _ = project.run("-p", "no:scaly_viz")
        assert code == 1
        assert "fixture 'scaly_viz' not found" in output


@pytest.mark.slow
def test_a_folder_that_cannot_be_used_is_told_in_one_line(tmp_path: Path) -> None:
    project = Project(tmp_path, test_plain="def test_it(): pass\n")
    (tmp_path / "file").touch()
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "recordings.jsonl").write_text("{}\n")
    for folder, message in (
        ("file", "file: File exists"),
        ("file/below", "file/below: File exists"),
        ("mine", "mine is not empty and not made by pytest: name another"),
    ):
        code, _, errors = project.run("--scaly-viz", "--scaly-viz-dir", folder)
        assert code == pytest.ExitCode.USAGE_ERROR
        assert errors.strip().splitlines() == [f"ERROR: --scaly-viz-dir: {tmp_path}/{message}"]
    assert (tmp_path / "mine" / "recordings.jsonl").read_text() == "{}\n"
    code, _, errors = project.run("--scaly-viz-dir")
    assert code == pytest.ExitCode.USAGE_ERROR
    assert "--scaly-viz-dir: expected one argument" in errors
