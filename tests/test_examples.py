"""The examples: each runs by its one command, and does what its README tells of it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import scaly_viz
from scaly_viz_viewer import create_app

EXAMPLES = Path(__file__).parents[1] / "examples"

pytestmark = pytest.mark.slow


def copied(name: str, folder: Path) -> Path:
    """Return a copy of an example, which may leave files beside itself."""
    copy = folder / "examples" / name
    shutil.copytree(EXAMPLES / name, copy, ignore=shutil.ignore_patterns("out"))
    return copy


def run(example: Path, *words: str, environ: Mapping[str, str] = {}) -> str:
    """Return what an example prints; fail the test with it where it fails."""
    done = subprocess.run(
        [*(words or (sys.executable,)), str(example / "run.py")],
        env={**os.environ, **environ},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def told(example: str, language: str = "text") -> list[str]:
    """Return the blocks of the README that show what is printed."""
    text = (EXAMPLES / example / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(rf"^( *)```{language}\n(.*?)^ *```$", text, re.MULTILINE | re.DOTALL)
    return [re.sub(rf"^{indent}", "", block, flags=re.MULTILINE) for indent, block in blocks]


class Page:
    """What the viewer's page is told of the last recording."""

    def __init__(self) -> None:
        self._client = create_app().test_client()
        newest = self._get("recordings", limit="1")["recordings"][0]
        self._id = newest["id"]
        steps = self._get(f"recordings/{self._id}")["steps"]
        self._steps = {step["name"]: step["index"] for step in steps}

    def listing(self, step: str) -> str:
        url = f"/api/v1/recordings/{self._id}/steps/{self._steps[step]}/payloads/listing"
        return self._client.get(url).get_data(as_text=True)

    def pinned(self, name: str, scope: str) -> dict[str, Any]:
        """Return the panel of a value that is clicked in the listing of the lowered program."""
        step = str(self._steps["lowered"])
        value = self._get(
            f"recordings/{self._id}/values", step=step, kind="listing", name=name, scope=scope
        )
        here = [
            life["lines"]
            for life in value["life"]
            if str(life["step"]) == step and life["kind"] == "listing"
        ]
        return {
            "lines here": len(here[0]),
            "used by": [each["name"] for each in value["consumers"]],
        }

    def _get(self, path: str, **parameters: str) -> Any:
        return self._client.get(f"/api/v1/{path}", query_string=parameters).get_json()


def test_the_viewer_shows_where_the_controller_of_the_drone_loses_the_wind(tmp_path: Path) -> None:
    example = copied("mpc", tmp_path)
    with_bug, call, own_speed, repaired = told("mpc")

    assert run(example).startswith(with_bug)
    page = Page()
    assert {call.strip(), own_speed.strip()} <= {
        line.strip() for line in page.listing("lowered").splitlines()
    }
    assert page.pinned("wind", "hold_base")["lines here"] == 2
    assert page.pinned("wind", "gap") == {"lines here": 1, "used by": []}
    (recording,) = scaly_viz.load_recordings(strict=True)
    (c,) = (step["code"] for step in recording["steps"] if "code" in step)
    assert not re.search(r"\bwind\[", c)

    (change,) = told("mpc", "diff")
    wrong, right = (line[1:] for line in change.splitlines())
    model = example / "run.py"
    text = model.read_text(encoding="utf-8")
    assert text.count(wrong) == 1
    model.write_text(text.replace(wrong, right), encoding="utf-8")

    assert run(example).startswith(repaired)
    assert Page().pinned("wind", "gap") == {"lines here": 3, "used by": ["t4", "t17"]}


def test_compare_finds_the_regression_and_passes_what_repairs_it(tmp_path: Path) -> None:
    example = copied("regression", tmp_path)

    printed = run(example, environ={"NO_COLOR": "1", "COLUMNS": "160"})

    lines = {line.strip() for line in printed.splitlines()}
    expected = [line.strip() for block in told("regression") for line in block.splitlines()]
    assert [line for line in expected if line not in lines] == []
    assert [line for line in printed.splitlines() if line.startswith("exit code")] == [
        "exit code 1",
        "exit code 0",
    ]


def test_the_requests_of_the_service_contain_their_renders(tmp_path: Path) -> None:
    # In an environment that uv makes of what the script asks for, and of the tree.
    uv_run = (sys.executable, "-m", "uv", "run", "--quiet", "--python", sys.executable)

    printed = run(EXAMPLES / "service", *uv_run)

    (expected,) = told("service")
    assert re.sub(r"\d+ ms", "N ms", printed).startswith(re.sub(r"\d+ ms", "N ms", expected))
    traces = EXAMPLES / "service" / "out" / "traces.jsonl"
    assert [each["function"] for each in scaly_viz.load_recordings(traces, strict=True)] == [
        "rollout_2",
        "rollout_30",
    ]


@pytest.mark.backend
def test_what_comes_back_through_a_collector_and_jaeger_is_the_same(tmp_path: Path) -> None:
    printed = run(EXAMPLES / "collector")

    def plain(text: str) -> str:
        return re.sub(r":\d+$", ":PORT", re.sub(r"[0-9a-f]{32}", "ID", text), flags=re.MULTILINE)

    (expected,) = told("collector")
    assert plain(printed).startswith(plain(expected))


def test_the_index_names_every_example() -> None:
    index = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    tracked = {path.name for path in EXAMPLES.iterdir()} - {"README.md", "__pycache__"}
    assert tracked <= set(re.findall(r"^\| \[[^\]]+\]\(([^)]+)\)", index, re.MULTILINE))
