"""Owns the tracing backends that tests run against: Jaeger and a Collector, built once from the Go module proxy."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Sequence

from environments import digest
from shell import IN_CI, ROOT, Failure, environment, output, say

JAEGER = "1.76.0"
COLLECTOR = "0.161.0"
OLDEST_GO = (1, 26)

BUILDER = ROOT / "tests" / "backends" / "builder.yaml"

_GO_SETTINGS = {"CGO_ENABLED": "0", "GOFLAGS": "-buildvcs=false", "GOWORK": "off"}
_SHOWN_LINES = 15
_ABANDONED_S = 86_400


@dataclass(frozen=True)
class Program:
    """One backend: the commands that build it in an empty folder, and where they leave it."""

    variable: str
    version: str
    commands: Sequence[Sequence[str]]
    result: str
    files: dict[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Its name on disk."""
        return self.variable.lower()

    @property
    def path(self) -> Path:
        """Where it is once it has been built, outside of the checkout, which may come and go."""
        key = digest(self.commands, sorted(self.files.items()), sorted(_GO_SETTINGS.items()))[:12]
        return _cache() / f"{self.name}-{self.version}-{key}" / self.name

    def build(self) -> None:
        """Build it; it appears whole or not at all."""
        folder = self.path.parent
        folder.parent.mkdir(parents=True, exist_ok=True)
        for left in folder.parent.glob(f".{self.name}-*"):  # by a run that was killed
            if time.time() - left.stat().st_mtime > _ABANDONED_S:
                shutil.rmtree(str(left), ignore_errors=True)
        work = Path(tempfile.mkdtemp(prefix=f".{self.name}-", dir=str(folder.parent)))
        try:
            for name, text in self.files.items():
                (work / name).write_text(text)
            for command in self.commands:
                _run(self.name, command, work)
            (work / "done").mkdir()
            (work / self.result).rename(work / "done" / self.name)
            try:
                (work / "done").rename(folder)
            except OSError:
                if not self.path.is_file():  # else another run was faster
                    raise
        finally:
            shutil.rmtree(str(work), ignore_errors=True)


def _cache() -> Path:
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "scaly-viz-tests"


def programs() -> list[Program]:
    """Return what is built, and how."""
    module = "github.com/jaegertracing/jaeger/cmd/jaeger"
    builder = "go.opentelemetry.io/collector/cmd/builder@v" + COLLECTOR
    return [
        Program(
            "COLLECTOR",
            COLLECTOR,
            [("go", "run", builder, "--config", "builder.yaml")],
            "dist/collector",
            {"builder.yaml": BUILDER.read_text().replace("VERSION", COLLECTOR)},
        ),
        Program(
            "JAEGER",
            JAEGER,
            [
                ("go", "mod", "init", "jaeger.test"),
                ("go", "get", "-tool", f"{module}@v{JAEGER}"),
                ("go", "build", "-o", "jaeger", module),
            ],
            "jaeger",
        ),
    ]


class _Build:
    """Builds what is missing, once a run; it may begin on a thread while other checks run."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._problem = ""
        self._is_done = False

    def run(self) -> str:
        """Return why there are no backends, empty where there are."""
        with self._lock:
            if not self._is_done:
                self._problem = self._try()
                self._is_done = True
            return self._problem

    def _try(self) -> str:
        missing = [program for program in programs() if _found(program) is None]
        problem = _no_go() if missing else ""
        try:
            for program in () if problem else missing:
                say(f"building {program.name} {program.version} (once)")
                program.build()
        except (Failure, OSError) as error:
            return str(error)
        return problem


_BUILD = _Build()


def are_built() -> bool:
    """Tell whether nothing needs to be built."""
    return all(_found(program) for program in programs())


def begin() -> None:
    """Build what is missing, beside whatever follows."""
    if not are_built():
        threading.Thread(target=_BUILD.run, daemon=True).start()


def ensure() -> dict[str, str] | str:
    """Return the paths of the backends by the variables that tests know them by, or why there are none."""
    problem = _BUILD.run()
    if problem:
        full = f"The backend tests need Jaeger and a Collector: {problem}."
        if IN_CI:
            raise Failure(full)
        say(full + " They are left out.")
        return problem
    return {program.variable: str(_found(program)) for program in programs()}


def _found(program: Program) -> Path | None:
    named = os.environ.get(program.variable)
    paths = (Path(named), program.path) if named else (program.path,)
    return next((path for path in paths if path.is_file()), None)


def _no_go() -> str:
    version = re.match(r"go version go(\d+)\.(\d+)", output(["go", "version"]) or "")
    if version is None:
        return "no Go"
    if (int(version[1]), int(version[2])) < OLDEST_GO:
        return "Go {}.{}, but {}.{} is needed".format(version[1], version[2], *OLDEST_GO)
    return ""


def _run(name: str, command: Sequence[str], folder: Path) -> None:
    done = subprocess.run(
        command,
        cwd=str(folder),
        env=environment(_GO_SETTINGS),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    if done.returncode:
        lines = done.stdout.decode(errors="replace").splitlines()[-_SHOWN_LINES:]
        print("\n".join(lines), flush=True)
        raise Failure("{} could not be built: {} failed".format(name, " ".join(command)))
