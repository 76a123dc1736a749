"""Owns running the command: in this process, as a process with pipes, and on a terminal."""

from __future__ import annotations

import fcntl
import inspect
import os
import pty
import struct
import subprocess
import sys
import termios
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from click.testing import CliRunner, Result

from scaly_viz.cli import main

COMMAND = (sys.executable, "-m", "scaly_viz")
# Click below 8.2 mixes the two streams if it is not asked to keep them apart.
_SEPARATE: dict[str, Any] = (
    {"mix_stderr": False} if "mix_stderr" in inspect.signature(CliRunner).parameters else {}
)


def run(*arguments: str | Path) -> Result:
    """Run the command in this process; an error that it does not expect is raised."""
    result = CliRunner(**_SEPARATE).invoke(main, [str(argument) for argument in arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def output_of(*arguments: str | Path) -> str:
    """Return what a command prints that must succeed without a word on standard error."""
    result = run(*arguments)
    assert (result.exit_code, result.stderr) == (0, "")
    return result.stdout


def error_of(*arguments: str | Path) -> str:
    """Return the one line of a command that must fail, without its beginning."""
    result = run(*arguments)
    lines = result.stderr.splitlines()
    assert (result.exit_code, result.stdout, len(lines)) == (1, "", 1)
    start = "scaly-viz: error: "
    assert lines[0].startswith(start)
    return lines[0].removeprefix(start)


def run_process(*arguments: str | Path, **environ: str) -> subprocess.CompletedProcess[bytes]:
    """Run the command as a process with pipes."""
    return subprocess.run(
        [*COMMAND, *map(str, arguments)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        env=os.environ | environ,
        timeout=60,
        check=False,
    )


def run_on_terminal(
    *arguments: str | Path,
    columns: int = 80,
    rows: int = 24,
    environ: Mapping[str, str] = MappingProxyType({}),
) -> tuple[int, str]:
    """Run the command on a terminal; return its exit code and all that reached the screen."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    plain = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "LINES", "NO_COLOR")}
    process = subprocess.Popen(
        [*COMMAND, *map(str, arguments)],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=plain | {"TERM": "xterm-256color", "PAGER": "cat"} | dict(environ),
        start_new_session=True,
    )
    os.close(theirs)
    screen = b""
    with os.fdopen(ours, "rb", buffering=0) as terminal:
        while True:
            try:
                piece = terminal.read(65536)
            except OSError:  # Linux' way to say that nobody writes any more
                break
            if not piece:
                break
            screen += piece
    return process.wait(60), screen.decode().replace("\r\n", "\n")
