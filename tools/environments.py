"""Owns the virtual environments under ``.venv/``: each is made once and redone where its inputs changed."""

from __future__ import annotations

import hashlib
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Iterable, Sequence

from interpreters import Interpreter
from shell import ROOT, output, run, say
from uv import main_python, uv

VENVS = ROOT / ".venv"
LOCK = ROOT / "requirements.lock"
RELEASE_LOCK = ROOT / "tools" / "release.lock"
PYPROJECT = ROOT / "pyproject.toml"
WEB = ROOT / "viewer" / "web"


@dataclass(frozen=True)
class Layer:
    """One ``uv pip`` call, and the files whose content decides whether it has to be repeated."""

    arguments: tuple[str, ...]
    inputs: tuple[Path, ...]


@dataclass(frozen=True)
class Environment:
    """A virtual environment that is ready."""

    path: Path

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self.path / "bin" / "python"

    def command(self, name: str) -> Path:
        """Return the path of one of its commands."""
        return self.path / "bin" / name


LOCKED = Layer(("sync", "--require-hashes", str(LOCK)), (LOCK,))
RELEASE = Layer(("sync", "--require-hashes", str(RELEASE_LOCK)), (RELEASE_LOCK,))


def dev() -> Environment:
    """Everything, with the project installed editable: for the checks of the source, and for you."""
    return _ensure("dev", main_python(), [LOCKED, _editable("--no-deps", ".")])


def demo() -> Environment:
    """What a user has: scaly-viz and scaly, no solvers, no development tools."""
    locked_versions = ("--constraints", str(LOCK))
    return _ensure("demo", main_python(), [_editable(*locked_versions, ".[scaly]")])


def release() -> Environment:
    """The tools that check and describe a release."""
    return _ensure("release", main_python(), [RELEASE])


def user(wheel: Path) -> Environment:
    """What a user has who installs the wheel, in the versions of the lock file."""
    install = Layer(("install", "--constraints", str(LOCK), str(wheel)), (LOCK, wheel))
    return _ensure("user", main_python(), [install])


def suite(name: str, python: Interpreter, layers: Sequence[Layer], wheel: Path) -> Environment:
    """An environment of the test suite: ``layers``, and then the wheel under test."""
    install = Layer(("install", "--no-deps", "--force-reinstall", str(wheel)), (wheel,))
    environment = _ensure(name, python, [*layers, install])
    run([uv(), "pip", "check", "--quiet", "--python", environment.python])
    return environment


def digest(*parts: object) -> str:
    """Return a digest of ``parts``: of a path, its content (of a folder's files, names and contents)."""
    sha = hashlib.sha256()
    for part in parts:
        for file in sorted(_files(part)) if isinstance(part, Path) else ():
            sha.update(str(file).encode() + b"\0" + file.read_bytes() + b"\0")
        sha.update(repr(part).encode() + b"\0")
    return sha.hexdigest()


def _files(path: Path) -> Iterable[Path]:
    if path.is_file():
        return [path]
    skipped = {"node_modules", "__pycache__", "static", "bundled.sha256", "out"}
    return (
        file
        for file in path.rglob("*")
        if file.is_file() and not skipped.intersection(file.relative_to(path).parts)
    )


def _editable(*arguments: str) -> Layer:
    inputs = (LOCK, PYPROJECT, ROOT / "hatch_build.py", WEB / "src", WEB / "package-lock.json")
    return Layer(("install", *arguments[:-1], "--editable", arguments[-1]), inputs)


def _ensure(name: str, python: Interpreter, layers: Sequence[Layer]) -> Environment:
    environment = Environment(VENVS / name)
    stamp = environment.path / "layers.sha256"
    done = stamp.read_text().split() if stamp.is_file() else []
    wanted = [digest(str(python), layer.arguments, *layer.inputs) for layer in layers]
    works = output([environment.python, "-c", ""]) is not None
    kept = _common(done, wanted) if works else 0
    if kept == len(layers):
        return environment
    shown = environment.path.relative_to(ROOT)
    if kept == 0:
        say(f"setting up {shown} with {python} (the first time, packages are downloaded)")
        shutil.rmtree(str(environment.path), ignore_errors=True)
        run([uv(), "venv", "--quiet", "--python", python.path, environment.path])
    else:
        say(f"updating {shown}")
    stamp.unlink() if stamp.is_file() else None
    for layer in layers[kept:]:
        verb, *rest = layer.arguments
        quiet = () if sys.stderr.isatty() else ("--quiet",)
        run([uv(), "pip", verb, *quiet, "--python", environment.python, *rest])
    stamp.write_text("\n".join(wanted))
    return environment


def _common(done: Sequence[str], wanted: Sequence[str]) -> int:
    """Return how many leading layers need not be repeated."""
    for count, (old, new) in enumerate(zip(done, wanted)):
        if old != new:
            return count
    return min(len(done), len(wanted))
