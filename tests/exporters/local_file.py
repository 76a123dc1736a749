"""Owns looking at a local file of spans, and processes that write to it."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from pathlib import Path

from scaly_viz.sources.files import read_spans
from scaly_viz.span_record import SpanRecord

# Comes before the code of each process.
PRELUDE = """
import itertools, os, signal, sys
from pathlib import Path
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from exporters.made_spans import made
from scaly_viz_exporters.file_lock import writers_lock
from scaly_viz_exporters.json_file import JsonFileExporter
"""


def fail_on_report(text: str) -> None:
    raise AssertionError(text)


def read(path: Path) -> list[SpanRecord]:
    """Read a file in which nothing may be damaged."""
    return list(read_spans(path, fail_on_report))


def names(path: Path) -> list[str]:
    return [span.name for span in read(path)]


class Process:
    """Python code in a process of its own, which tells its progress by lines."""

    def __init__(self, code: str, *arguments: object) -> None:
        command = [sys.executable, "-c", PRELUDE + code, *map(str, arguments)]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        self.process = subprocess.Popen(
            command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def line(self) -> str:
        assert self.process.stdout
        return self.process.stdout.readline().strip()

    def rest(self) -> list[str]:
        """Wait for the good end, and return the words that were not read."""
        output, _ = self.process.communicate()
        assert self.process.returncode == 0
        return output.split()

    def kill(self) -> list[str]:
        """End the process at once, and return the words that were not read."""
        self.process.kill()
        output, _ = self.process.communicate()
        return output.split()


def fork() -> int:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forks beside threads
        return os.fork()
