"""Owns the recordings that the command line is tested with: real renders, and a file for each oddity."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import scaly_viz
from scaly_viz import attributes as a

from .files import Line, attribute_of, lines_of, write_lines

RENDER = """
import scaly_viz
from programs.compat import arg, function
from scaly.codegen.aot import render_c_source

@function(arg("x", 3), outputs=arg("y"))
def spring(x):
    return (x * 2.0 + 1.0).sin() @ [[1.0, 0.0, 2.0], [0.0, 1.0, 0.0], [0.5, 0.0, 1.0]]

@function(arg("x", 2), outputs=arg("y"))
def damper(x):
    return x.exp() - 1.0

@function(arg("x", 2), outputs=arg("y"))
def high_rank(x):
    return x.reshape((1, 2, 1, 1, 1)).transpose() * 3.0

scaly_viz.visualize(spring, label="Spring, tuned")
scaly_viz.visualize(damper)
scaly_viz.visualize(high_rank)
render_c_source(spring)
try:
    render_c_source(high_rank)
except Exception:
    pass
render_c_source(damper)
scaly_viz.unvisualize_function(damper)
scaly_viz.visualize(damper, label={label!r})
render_c_source(damper)
"""

HOSTILE = "\x1b[31mred\x1b[0m [red]markup[/red] \u202eleft\u202c\nnext\x07"
HOSTILE_SHOWN = r"\x1b[31mred\x1b[0m [red]markup[/red] \u202eleft\u202c\nnext\x07"


@pytest.fixture(scope="session")
def rendered(tmp_path_factory: pytest.TempPathFactory) -> list[Line]:
    """Lines of four renders: spring, high_rank (fails), damper, damper with a hostile label."""
    folder = tmp_path_factory.mktemp("rendered")
    script = RENDER.replace("{label!r}", repr(HOSTILE))
    (folder / "model.py").write_text(script, encoding="utf-8")
    environ = {k: v for k, v in os.environ.items() if not k.startswith(("OTEL_", "SCALY_VIZ_"))}
    paths = [str(Path(__file__).parents[1]), environ.get("PYTHONPATH", "")]
    environ["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    subprocess.run(
        [sys.executable, folder / "model.py"],
        env=environ | {"SCALY_VIZ_DIR": str(folder), "SCALY_VIZ_STRICT": "1"},
        check=True,
        timeout=120,
    )
    return lines_of(folder / "recordings.jsonl")


@pytest.fixture
def local(rendered: list[Line], recording_folder: Path) -> Path:
    """This user's file with the renders of spring and high_rank, and of a damper without an end."""
    functions = [attribute_of(line, a.FUNCTION_NAME) for line in rendered]
    labels = [attribute_of(line, a.LABEL) for line in rendered]
    path = recording_folder / "recordings.jsonl"
    kept = [
        line
        for line, function, label in zip(rendered, functions, labels, strict=True)
        if label != HOSTILE
        and not (function == "damper" and attribute_of(line, a.RECORDING_STEPS) is not None)
    ]
    write_lines(path, kept)
    return path


@pytest.fixture
def hostile(rendered: list[Line], tmp_path: Path) -> Path:
    """A file with one recording whose label wants to steer the terminal."""
    path = tmp_path / "hostile.jsonl"
    write_lines(path, [line for line in rendered if attribute_of(line, a.LABEL) == HOSTILE])
    return path


@pytest.fixture
def odd(rendered: list[Line], tmp_path: Path) -> Callable[[str, Callable[[Line], None]], Path]:
    """Return a function that writes the spring's recording with one step changed."""

    def write(step: str, change: Callable[[Line], None]) -> Path:
        path = tmp_path / "odd.jsonl"
        spring = [line for line in rendered if attribute_of(line, a.FUNCTION_NAME) == "spring"]
        lines: list[Line] = json.loads(json.dumps(spring))
        change(next(line for line in lines if attribute_of(line, a.STEP_NAME) == step))
        write_lines(path, lines)
        return path

    return write


@pytest.fixture
def as_recorded(local: Path) -> list[dict[str, Any]]:
    """The local file's recordings as the library gives them."""
    with pytest.warns(scaly_viz.RecordingWarning):
        return scaly_viz.load_recordings(local)


VERSIONS = """
import sys
import scaly_viz
from programs.compat import arg, function
from scaly.codegen.aot import render_c_source

def spring(gain):
    @function(arg("x", 3), outputs=arg("y"))
    def spring(x):
        y = (x * 2.0 + 1.0).sin()
        return y @ [[1.0, 0.0, 2.0], [0.0, 1.0, 0.0], [0.5, 0.0, 1.0]] * (x if gain else 1.0)
    return spring

@function(arg("x", 2), outputs=arg("y"))
def damper(x):
    return x.exp() - 1.0

@function(arg("x", 2), outputs=arg("y"))
def high_rank(x):
    return x.reshape((1, 2, 1, 1, 1)).transpose() * 3.0

for folder, gain, times in (("base", False, 4), ("new", True, 2)):
    scaly_viz.configure(directory=f"{sys.argv[1]}/{folder}")
    for _ in range(times):
        render_c_source(scaly_viz.visualize(spring(gain), label={label!r}))
    render_c_source(scaly_viz.visualize(damper))
    if gain:
        try:
            render_c_source(scaly_viz.visualize(high_rank))
        except Exception:
            pass
    else:
        render_c_source(scaly_viz.visualize(damper, label="only here"))
scaly_viz.flush()
"""


@pytest.fixture(scope="session")
def versions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two folders, ``base`` and ``new``, with the renders of two versions of a model.

    The spring is another, and has a hostile label; the damper is the same; one function each has no
    counterpart, and that of ``new`` cannot be rendered.
    """
    folder = tmp_path_factory.mktemp("versions")
    (folder / "model.py").write_text(VERSIONS.replace("{label!r}", repr(HOSTILE)), encoding="utf-8")
    environ = {k: v for k, v in os.environ.items() if not k.startswith(("OTEL_", "SCALY_VIZ_"))}
    paths = [str(Path(__file__).parents[1]), environ.get("PYTHONPATH", "")]
    environ["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    subprocess.run(
        [sys.executable, folder / "model.py", folder],
        env=environ | {"SCALY_VIZ_STRICT": "1"},
        check=True,
        timeout=120,
    )
    return folder
