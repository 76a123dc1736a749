# /// script
# requires-python = ">=3.12"
# dependencies = ["scaly-viz[scaly]"]
# [tool.uv.sources]
# scaly-viz = { path = "../.." }
# ///
"""Record three versions of a model, and have scaly-viz say what the second and the third cost."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
OUT = HERE / "out"
GATE = ("--fail-if", "flops > +5%", "--fail-if", "code_bytes > +20%")


def record(version: str) -> None:
    """Run a version; the recording of its render goes to a folder of its own."""
    environment = {**os.environ, "SCALY_VIZ_DIR": str(OUT / version)}
    subprocess.run([sys.executable, HERE / f"{version}.py"], env=environment, check=True)


def compare(base: str, new: str) -> None:
    """Run the gate, as a build would, and show its exit code."""
    arguments = ("compare", base, new, *GATE)
    print(f"\n$ scaly-viz {shlex.join(arguments)}", flush=True)
    done = subprocess.run([sys.executable, "-m", "scaly_viz", *arguments], cwd=OUT, check=False)
    print(f"exit code {done.returncode}", flush=True)


def main() -> None:
    """The change costs more than it may; the repaired one does not."""
    shutil.rmtree(OUT, ignore_errors=True)
    for version in ("before", "after", "repaired"):
        record(version)
    compare("before", "after")
    compare("before", "repaired")


if __name__ == "__main__":
    main()
