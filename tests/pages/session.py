"""Owns running a page: one shell on a terminal and one Python, in the home folder of a user who has nothing yet."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import select
import signal
import socket
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from .page import ROOT
from .stand_ins import FUNCTIONS
from .terminal import left_over

HOME = "/home/me"  # what a page calls the folder that it is run in
_TIMEOUT_S = 120.0
_COLUMNS, _ROWS = 160, 1000
# Printed after each command; a terminal keeps the order, which two channels would not.
_END = re.compile(rb"\x1e(\d+)\x1e")

_PYTHON = """
import contextlib, io, json, linecache, os, sys, traceback
answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)
names = {"__name__": "__main__"}
for line in sys.stdin:
    asked = json.loads(line)
    name, code = asked["name"], asked["code"]
    linecache.cache[name] = (len(code), None, code.splitlines(True), name)
    printed, error = io.StringIO(), None
    with contextlib.redirect_stdout(printed):
        try:
            exec(compile(code, name, "exec"), names)
            if "scaly_viz" in sys.modules:
                sys.modules["scaly_viz"].flush()
        except BaseException:
            error = traceback.format_exc()
    answers.write(json.dumps({"printed": printed.getvalue(), "error": error}) + "\\n")
    answers.flush()
"""


@dataclass(frozen=True, slots=True)
class Done:
    """How a command or a block ended."""

    code: int
    printed: str


@dataclass
class Session:
    """A user's shell and Python, while a page is gone through."""

    home: Path
    cache: Path
    addresses: Mapping[str, str] = field(default_factory=dict)
    _shell: Shell | None = None
    _python: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._shell is not None:
            self._shell.close()
        if self._python is not None:
            assert self._python.stdin is not None
            self._python.stdin.close()
            self._python.wait(30)
            assert self._python.stdout is not None
            self._python.stdout.close()

    def command(self, text: str, *, serves: bool = False) -> Done:
        """Run ``text`` as if it were typed, with the pages' example addresses replaced by real ones."""
        if self._shell is None:
            self._shell = Shell(self.home, self._environment())
        for example, real in self.addresses.items():
            text = text.replace(example, real)
        done = self._shell.serve(text) if serves else self._shell.run(text)
        return Done(done.code, self._as_on_the_page(done.printed))

    def python(self, code: str, name: str) -> Done:
        """Run ``code`` in the page's Python."""
        if self._python is None:
            self._python = subprocess.Popen(
                [sys.executable, "-c", _PYTHON],
                cwd=self.home,
                env=self._environment(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
        assert self._python.stdin is not None
        assert self._python.stdout is not None
        for example, real in self.addresses.items():
            code = code.replace(example, real)
        self._python.stdin.write(json.dumps({"name": name, "code": code}) + "\n")
        self._python.stdin.flush()
        answer = json.loads(self._python.stdout.readline())
        printed = f"{answer['printed']}{answer['error'] or ''}"
        return Done(1 if answer["error"] else 0, self._as_on_the_page(printed))

    def _as_on_the_page(self, printed: str) -> str:
        printed = printed.replace(str(self.home), HOME).replace(str(ROOT), f"{HOME}/scaly-viz")
        return re.sub(rf"\bon {re.escape(socket.gethostname())}\b", "on laptop", printed)

    def _environment(self) -> dict[str, str]:
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("OTEL_", "SCALY_", "XDG_", "PYTEST_"))
        }
        commands = f"{Path(sys.executable).parent}{os.pathsep}{kept['PATH']}"
        return kept | {
            "HOME": str(self.home),
            "CHECKOUT": str(ROOT),
            "DEMO": str(self.cache / "demo"),
            "PATH": commands,
            "SCALY_CACHE_DIR": str(self.cache / "jit"),
            "UV_CACHE_DIR": kept.get("UV_CACHE_DIR", str(Path("~/.cache/uv").expanduser())),
            "TERM": "xterm",
            "COLUMNS": str(_COLUMNS),
            "NO_COLOR": "1",
            "LC_ALL": "C.UTF-8",
        }


class Shell:
    """A bash whose output is a terminal."""

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        self._terminal, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", _ROWS, _COLUMNS, 0, 0))
        self._process = subprocess.Popen(
            ["bash", "--noprofile", "--norc"],
            cwd=folder,
            env=dict(environment),
            stdin=subprocess.PIPE,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
        )
        os.close(theirs)
        self._script = folder / ".command"
        self.run(FUNCTIONS)

    def run(self, command: str) -> Done:
        """Run ``command`` to its end."""
        self._begin(command)
        return self._until(_END)

    def serve(self, command: str) -> Done:
        """Run ``command`` in the background, until it says where it serves; end the one before it."""
        printed = self.run(f"kill $(jobs -p) 2>/dev/null; wait\n{command} &").printed
        deadline = time.monotonic() + _TIMEOUT_S
        while "http://" not in printed:
            assert time.monotonic() < deadline, f"{command} does not say where it serves: {printed}"
            printed += self.run("sleep 0.1").printed
        return Done(0, printed)

    def close(self) -> None:
        """End the shell and all that it runs."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGTERM)
        self._process.wait(30)
        os.close(self._terminal)

    def _begin(self, command: str) -> None:
        self._script.write_text(command, encoding="utf-8")
        line = f"eval \"$(<'{self._script}')\" </dev/null; printf '\\x1e%s\\x1e' $?\n"
        assert self._process.stdin is not None
        self._process.stdin.write(line.encode())
        self._process.stdin.flush()

    def _until(self, end: re.Pattern[bytes]) -> Done:
        seen = b""
        deadline = time.monotonic() + _TIMEOUT_S
        while (found := end.search(seen)) is None:
            left = deadline - time.monotonic()
            assert left > 0, f"no end within {_TIMEOUT_S:.0f} s; printed: {seen.decode()}"
            if select.select([self._terminal], [], [], left)[0]:
                seen += os.read(self._terminal, 65536)
        return Done(int(found[1]), left_over(seen[: found.start()].decode(errors="replace")))
