"""The example of a gate: its tests, and its workflow, run step by step on a pull request that makes the C worse."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from ruamel.yaml import YAML

EXAMPLE = Path(__file__).parents[2] / "examples" / "gate"

GH = """#!/bin/sh
echo "$@" > gh.txt
"""


def blocks(language: str) -> list[str]:
    readme = (EXAMPLE / "README.md").read_text("utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", readme, re.MULTILINE | re.DOTALL)


@pytest.mark.slow
def test_the_workflow_tells_of_a_change_that_makes_the_c_worse(tmp_path: Path) -> None:
    repository = tmp_path / "repository"
    ignored = shutil.ignore_patterns("__pycache__", ".scaly-viz", ".pytest_cache")
    for place in (repository, repository / "base"):
        shutil.copytree(EXAMPLE, place, ignore=ignored)
    (change,) = blocks("diff")
    before, after = (line[1:] for line in change.splitlines())
    model = repository / "model.py"
    assert model.read_text("utf-8").count(before) == 1
    model.write_text(model.read_text("utf-8").replace(before, after), "utf-8")

    commands = tmp_path / "bin"
    commands.mkdir()
    (commands / "gh").write_text(GH)
    (commands / "gh").chmod(0o755)
    path = os.pathsep.join((str(commands), str(Path(sys.executable).parent), os.environ["PATH"]))
    summary = tmp_path / "summary.md"
    kept = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")}
    environ = kept | {"PATH": path, "GITHUB_STEP_SUMMARY": str(summary)}
    workflow = YAML(typ="safe").load((EXAMPLE / ".github/workflows/figures.yml").read_text("utf-8"))
    outcomes: dict[str, tuple[int, str]] = {}
    for step in workflow["jobs"]["compare"]["steps"]:
        if "name" not in step:
            continue  # checks out, installs
        done = subprocess.run(
            ["bash", "-e", "-c", step["run"].replace("${{ github.event.number }}", "7")],
            cwd=repository / step.get("working-directory", "."),
            env=environ,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=240,
            check=False,
        )
        outcomes[step["name"]] = done.returncode, done.stdout

    # The snapshot that is under version control is that of the base.
    assert "2 passed" in outcomes["Record the base"][1]
    code, output = outcomes["Record the pull request"]
    assert (code, "1 failed, 1 passed" in output) == (1, True)
    told, failed = blocks("text")
    for line in told.splitlines():
        assert f"E         {line}\n" in output
    code, output = outcomes["Compare"]
    assert code == 1
    assert [line.partition(": ")[0] for line in output.splitlines()] == ["scaly-viz"] * 3
    comment = (repository / "comment.md").read_text("utf-8")
    assert comment.startswith("### scaly-viz: 2 of 2 functions changed\n")
    assert failed in comment
    assert "| 8,448 → 18,882 (**+123.5 %**) |" in comment
    assert outcomes["Comment"][0] == 0
    assert summary.read_text("utf-8") == comment
    assert (repository / "gh.txt").read_text().startswith("pr comment 7 --body-file comment.md ")
