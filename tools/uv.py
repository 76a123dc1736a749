"""Owns uv: the one on the PATH if it will do, else the one of requirements.lock in ``.venv/tools``."""

from __future__ import annotations

import os
import re
import shutil
from functools import lru_cache
from pathlib import Path
from typing import Iterator

import interpreters
from interpreters import Interpreter
from shell import ROOT, Failure, output, run, say

OLDEST = (0, 8)
TOOLS = ROOT / ".venv" / "tools"


@lru_cache(maxsize=None)
def uv() -> str:
    """Return the path of a uv that works."""
    for path in _candidates():
        found = re.match(r"uv (\d+)\.(\d+)", output([path, "--version"]) or "")
        if found and (int(found[1]), int(found[2])) >= OLDEST:
            return path
    return _install()


@lru_cache(maxsize=None)
def python(minor: str, *, fetch: bool = True) -> Interpreter | None:
    """Return an interpreter of version ``minor``; with ``fetch``, uv may download one."""
    found = interpreters.find(minor) or _known_to_uv(minor)
    if found is None and fetch:
        say(f"no Python {minor} found on this machine: asking uv to fetch one")
        try:
            run([uv(), "python", "install", "--no-bin", minor])
        except Failure:
            return None
        found = _known_to_uv(minor)
    return found


def main_python() -> Interpreter:
    """Return the interpreter that most things run with: 3.12, or else the nearest newer one."""
    preferred, *newer = interpreters.SUPPORTED
    for minor, fetch in (
        (preferred, False),
        *((minor, False) for minor in newer),
        (preferred, True),
    ):
        found = python(minor, fetch=fetch)
        if found is not None:
            return found
    raise Failure(
        "scaly-viz needs Python 3.12 or newer. None was found on the PATH, in pyenv, mise or asdf,"
        " and uv could not fetch one.\n"
        "Install one (`uv python install 3.12`, `pyenv install 3.12`, your system's packages), or"
        " name one: make demo PYTHON=/path/to/python3.12"
    )


def _candidates() -> Iterator[str]:
    folders = os.environ.get("PATH", "").split(os.pathsep)
    folders += [
        str(Path.home() / ".local/bin"),
        str(Path.home() / ".cargo/bin"),
        str(TOOLS / "bin"),
    ]
    for folder in folders:
        if folder and Path(folder, "uv").is_file():
            yield str(Path(folder, "uv"))


def _known_to_uv(minor: str) -> Interpreter | None:
    path = output([uv(), "python", "find", "--system", "--no-python-downloads", minor])
    return interpreters.probe(path) if path else None


def _install() -> str:
    interpreter = interpreters.find_any_for_uv()
    if interpreter is None:
        raise Failure(
            "No uv, and no Python that could install it (with its venv and ensurepip modules) found.\n"
            "Install uv, or Python 3.12 or newer (on Debian with its python3-venv package)."
        )
    say(f"no uv on the PATH: installing one into .venv/tools with {interpreter}")
    shutil.rmtree(str(TOOLS), ignore_errors=True)
    run([interpreter.path, "-m", "venv", TOOLS])
    pinned = TOOLS / "uv.txt"
    pinned.write_text(_locked("uv"))
    pip = [TOOLS / "bin" / "python", "-m", "pip", "--disable-pip-version-check"]
    run([*pip, "install", "--quiet", "--require-hashes", "--requirement", pinned])
    return str(TOOLS / "bin" / "uv")


def _locked(package: str) -> str:
    """Return the lines of requirements.lock that pin ``package`` and its hashes."""
    lock = (ROOT / "requirements.lock").read_text()
    found = re.search(rf"^{package}==(?:.*\\\n)*.*", lock, re.MULTILINE)
    if found is None:
        raise Failure(f"requirements.lock does not pin {package}")
    return found[0] + "\n"
