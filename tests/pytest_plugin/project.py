"""Owns a project of tests that scaly renders in, and running pytest on it as its users do."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

MODEL = """
from programs.compat import arg, function
from scaly.codegen.aot import render_c_source

@function(arg("x", 3), outputs=arg("y"))
def spring(x):
    return (x * 2.0 + 1.0).sin()

@function(arg("x", 2), outputs=arg("y"))
def damper(x):
    return x.exp() - 1.0
"""

# Where scaly-viz is not installed but only on the path, nothing tells pytest of the plugin.
_IS_INSTALLED = any(point.name == "scaly_viz" for point in entry_points(group="pytest11"))
PLUGIN = () if _IS_INSTALLED else ("-p", "scaly_viz.pytest_plugin")


class Project:
    """A folder with a model, tests, and nothing else of pytest's."""

    def __init__(self, folder: Path, **files: str) -> None:
        self.folder = folder
        self.write("pytest.ini", "[pytest]\npythonpath = .\naddopts = -p no:cacheprovider\n")
        self.write("model.py", MODEL)
        for name, text in files.items():
            self.write(f"{name}.py", text)

    def write(self, name: str, text: str) -> None:
        """Write a file."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")

    def run(
        self, *arguments: str, python: tuple[str, ...] = (), plugin: tuple[str, ...] = PLUGIN
    ) -> tuple[int, str, str]:
        """Run pytest; return its exit code, what it prints, and what it says on standard error."""
        environ = {k: v for k, v in os.environ.items() if not k.startswith(("PYTEST_", "OTEL_"))}
        paths = [str(Path(__file__).parents[1]), environ.get("PYTHONPATH", "")]
        environ["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
        environ["PYTHONDONTWRITEBYTECODE"] = "1"
        done = subprocess.run(
            [sys.executable, *python, "-m", "pytest", *plugin, *arguments],
            cwd=self.folder,
            env=environ,
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )
        return done.returncode, done.stdout, done.stderr
