"""Owns checking the compiler: which scaly there is, whether its hook can be armed, and a render as a trial."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, entry_points, version
from importlib.util import find_spec

from packaging.specifiers import SpecifierSet

from scaly_viz import settings
from scaly_viz.cli.checks import Finding, Verdict

_AREA = "scaly"
_SUPPORTED = SpecifierSet(">=0.1.0a1,<0.2", prereleases=True)
_DISABLED = "OTEL_PYTHON_DISABLED_INSTRUMENTATIONS"
_TRIAL_S = 120.0
_TRIAL = """
import json
import scaly
from scaly.codegen.aot import render_c_source
import scaly_viz

def body(x):
    return x.sin() * x

if hasattr(scaly, "arg"):
    trial = scaly.function(scaly.arg("x", 3), name="trial")(body)
else:
    trial = scaly.function(scaly.L("x", 3), scaly.L("y", ...), name="trial")(body)
scaly_viz.visualize(trial)
render_c_source(trial)
print(json.dumps([len(recording["steps"]) for recording in scaly_viz.load_recordings()]))
"""


def check(*, trial: bool) -> Iterator[Finding]:
    """Look at scaly; with ``trial`` render a function with it, in a process and a folder for that alone."""
    spec = find_spec("scaly")
    if spec is None:
        text = (
            f"scaly is not installed for {sys.executable}: recordings can be read, but none be made"
        )
        advice = "to record, install both in one environment: pip install scaly scaly-viz"
        yield Finding(_AREA, Verdict.NOTE, text, advice)
        return
    yield _version(spec.origin or "")
    yield from _instrumentor()
    if trial:
        yield _render()


def _version(where: str) -> Finding:
    try:
        found = version("scaly")
    except PackageNotFoundError:
        return Finding(_AREA, Verdict.NOTE, f"scaly of no known version: {where}")
    if found not in _SUPPORTED:
        text = f"scaly {found} is not one that scaly-viz knows ({_SUPPORTED}): {where}"
        return Finding(_AREA, Verdict.WARNING, text, "pip install 'scaly>=0.1.0a1,<0.2'")
    return Finding(_AREA, Verdict.OK, f"scaly {found}: {where}")


def _instrumentor() -> Iterator[Finding]:
    names = {entry.name for entry in entry_points(group="opentelemetry_instrumentor")}
    disabled = settings.items(os.environ.get(_DISABLED, ""))
    if "scaly" not in names:
        text = "opentelemetry-instrument does not find our instrumentor"
        advice = "reinstall scaly-viz; scaly-viz run and visualize() work without"
        yield Finding(_AREA, Verdict.WARNING, text, advice)
    elif "scaly" in disabled or "*" in disabled:
        text = f"{_DISABLED} keeps opentelemetry-instrument from recording"
        yield Finding(
            _AREA, Verdict.NOTE, text, f"take scaly out of {_DISABLED}, if that is not meant"
        )


def _render() -> Finding:
    environ = {k: v for k, v in os.environ.items() if not k.startswith(("OTEL_", "SCALY_VIZ_"))}
    with tempfile.TemporaryDirectory(prefix="scaly-viz-doctor-") as folder:
        environ["SCALY_VIZ_DIR"] = folder
        began = time.monotonic()
        try:
            done = subprocess.run(
                [sys.executable, "-P", "-c", _TRIAL],
                env=environ,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_TRIAL_S,
                check=False,
                cwd=folder,
            )
        except subprocess.TimeoutExpired:
            return _not_armed(f"a trial render did not end within {_TRIAL_S:g} s")
    lines = done.stdout.decode("utf-8", "replace").splitlines()
    try:
        made: list[int] = json.loads(lines[-1]) if done.returncode == 0 and lines else []
        (steps,) = made
    except ValueError:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        return _not_armed(f"a trial render was not recorded: {said[-1] if said else 'no word why'}")
    text = (
        f"the hook can be armed: a trial render left a recording of {steps} steps"
        f" ({time.monotonic() - began:.1f} s). In a program it is armed by the first visualize(), by"
        " opentelemetry-instrument, or by scaly-viz run"
    )
    return Finding(_AREA, Verdict.OK, text)


def _not_armed(text: str) -> Finding:
    advice = "try it with SCALY_VIZ_STRICT=1 in a program of your own, and report what it says"
    return Finding(_AREA, Verdict.PROBLEM, text, advice)
