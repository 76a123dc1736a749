"""What scaly-viz promises of systems that the tests do not run on, as far as Linux can tell."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import scaly as sc
from scaly.codegen.aot import render_c_source

import scaly_viz

AS_ON_WINDOWS = Path(__file__).parent / "platforms" / "as_on_windows.py"


@pytest.mark.slow
def test_without_what_python_lacks_on_windows_all_that_needs_no_compiler_works(
    recording_folder: Path,
) -> None:
    @sc.function(sc.arg("x", 3))
    def sine(x: sc.Expr) -> sc.Expr:
        return x.sin() * x

    for _ in range(3):
        render_c_source(scaly_viz.visualize(sine, label="größer ≥ 1"))
    scaly_viz.flush()

    done = subprocess.run(
        [sys.executable, "-X", "warn_default_encoding", str(AS_ON_WINDOWS), str(recording_folder)],
        env={**os.environ, "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )

    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["there"] == told["here"]
    commands, wrote = told["here"]
    assert [code for code, *_ in commands[:7]] == [0] * 7
    assert wrote == {
        "equal": True,
        "segments": True,
        "locks": [True, False, True, True, False],
        "delivered": True,
        "waiting": 0,
        "port": True,
        "kept": [0, 1],
        "imported": [0, 3],
        "deleted": True,
    }
