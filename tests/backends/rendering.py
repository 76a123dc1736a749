"""Owns a program that renders test programs, as a user's script does, and says so after each.

``python rendering.py [NAME ...]`` renders those named, or all; with ``--step`` it waits for a line on
standard input before each.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

_TESTS = Path(__file__).parents[1]


def start(
    folder: Path, endpoint: str, protocol: str, names: Sequence[str] = (), **environ: str
) -> subprocess.Popen[str]:
    """Start rendering: recordings go to a file in ``folder`` and to ``endpoint``."""
    variables = {
        "SCALY_VIZ_DIR": str(folder),
        "SCALY_VIZ_EXPORTERS": "json,otlp",
        "SCALY_CACHE_DIR": str(folder / "jit"),
        "OTEL_EXPORTER_OTLP_ENDPOINT": endpoint,
        "OTEL_EXPORTER_OTLP_PROTOCOL": protocol,
        "PYTHONPATH": os.pathsep.join([str(_TESTS), os.environ.get("PYTHONPATH", "")]),
    }
    return subprocess.Popen(
        [sys.executable, __file__, *names],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **variables, **environ},
    )


def main(arguments: Sequence[str]) -> None:
    """Render the programs."""
    import scaly_viz
    from programs import PROGRAMS

    names = [argument for argument in arguments if argument != "--step"]
    for program in PROGRAMS:
        if names and program.name not in names:
            continue
        if "--step" in arguments:
            sys.stdin.readline()
        function = program.build()
        scaly_viz.visualize(function, label=program.name)
        program.run(function)
        print(program.name, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
