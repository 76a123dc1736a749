"""Owns the search for Python interpreters: on the PATH, in pyenv and its like, and uv's own."""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Iterator

from shell import ROOT, output

SUPPORTED = ("3.12", "3.13", "3.14")  # the first is the one that scaly-viz is developed with

_PROBE = """
import json, platform, sys, sysconfig
usable = platform.python_implementation() == "CPython" and not sysconfig.get_config_var("Py_GIL_DISABLED")
base = getattr(sys, "_base_executable", None) or sys.executable
print(json.dumps([base, list(sys.version_info[:3]), usable]))
"""


@dataclass(frozen=True)
class Interpreter:
    """A Python that was run and answered."""

    path: str
    version: tuple[int, int, int]

    @property
    def minor(self) -> str:
        """Such as ``3.12``."""
        return "{}.{}".format(*self.version)

    def __str__(self) -> str:
        return "Python {}.{}.{} ({})".format(*self.version, self.path)


def find(minor: str) -> Interpreter | None:
    """Return an interpreter of version ``minor`` that works, without asking uv."""
    for path in _candidates(minor):
        interpreter = probe(path)
        if interpreter is not None and interpreter.minor == minor:
            return interpreter
    return None


def find_any_for_uv() -> Interpreter | None:
    """Return any interpreter from which a virtual environment with pip can be made."""
    for minor in (*SUPPORTED, "3.11", "3.10", "3.9", "3.8"):
        interpreter = find(minor)
        if interpreter and output([interpreter.path, "-c", "import venv, ensurepip"]) is not None:
            return interpreter
    return None


@lru_cache(maxsize=None)
def probe(path: str) -> Interpreter | None:
    """Run the Python at ``path`` and say what it is; None for one that does not work or is unusable."""
    # A pyenv shim exists and yet fails where no version is chosen; a link may lead nowhere.
    printed = output([path, "-EsSc", _PROBE])
    if not printed:
        return None
    base, version, usable = json.loads(printed)
    return Interpreter(base, tuple(version)) if usable else None


def _candidates(minor: str) -> Iterator[str]:
    for name in ("PYTHON", "UV_PYTHON"):
        chosen = os.environ.get(name, "")
        if os.sep in chosen:
            yield str(Path(chosen).expanduser())
    own = str(ROOT / ".venv")
    names = ("python" + minor, "python3", "python")
    for folder in (*os.environ.get("PATH", "").split(os.pathsep), *_usual_folders()):
        if folder and not folder.startswith(own):
            yield from (str(Path(folder, name)) for name in names if Path(folder, name).exists())
    for versions in _version_folders():
        installed = [path for path in versions.glob("*/bin/python" + minor) if path.exists()]
        yield from map(str, sorted(installed, key=_numbers, reverse=True))


def _usual_folders() -> tuple[str, ...]:
    return ("/usr/local/bin", "/usr/bin", "/opt/homebrew/bin", str(Path.home() / ".local/bin"))


@lru_cache(maxsize=None)
def _version_folders() -> tuple[Path, ...]:
    """Folders that hold one folder per installed Python."""
    home = Path.home()
    roots = [os.environ.get("PYENV_ROOT"), output(["pyenv", "root"]), str(home / ".pyenv")]
    return (
        *(Path(root, "versions") for root in dict.fromkeys(filter(None, roots))),
        home / ".local/share/uv/python",
        home / ".local/share/mise/installs/python",
        home / ".asdf/installs/python",
        Path("/Library/Frameworks/Python.framework/Versions"),
        Path("/opt"),
    )


def _numbers(path: Path) -> list[int]:
    return [int(digits) for digits in re.findall(r"\d+", str(path))]
