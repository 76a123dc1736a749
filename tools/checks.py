"""Owns the checks of the sources, the build, and the suites with the environments they run in."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Sequence

import environments
import tracing_backends
from environments import LOCK, LOCKED, PYPROJECT, RELEASE_LOCK, VENVS, WEB, Layer, digest
from interpreters import Interpreter
from shell import IN_CI, ROOT, Failure, output, run, say
from system import ensure_c_compiler, ensure_chromium
from uv import main_python, python, uv

DIST = ROOT / "dist"
WORKERS = "2"
_PAPERS = ("CHANGELOG.md", "CITATION.cff", "CONTRIBUTING.md", "LICENSE", "README.md", "SECURITY.md")

# scaly and its solvers in the first version that scaly-viz supports.
OLDEST_SCALY = tuple(
    f"{name}==0.1.0a1" for name in ("scaly", "scaly-ipopt", "scaly-piqp", "scaly-sqp")
)


def lint() -> None:
    """Ruff's rules."""
    run([environments.dev().command("ruff"), "check"])


def formatting() -> None:
    """Ruff's format."""
    run([environments.dev().command("ruff"), "format", "--check"])


def types() -> None:
    """Mypy, strict, over everything that is Python."""
    run([environments.dev().command("mypy")])


def fix() -> None:
    """Format, and fix what can be fixed, Python and TypeScript."""
    ruff = environments.dev().command("ruff")
    run([ruff, "check", "--fix-only"])
    run([ruff, "format"])
    _npm("run", "--silent", "fix")


def web() -> None:
    """The front end: lint and format, types, unit tests."""
    for script in ("check", "types", "test"):
        _npm("run", "--silent", script)


def develop_page() -> None:
    """Serve this user's recordings, and bundle the page anew at every change, until Ctrl-C."""
    viewer = subprocess.Popen(
        [str(environments.dev().command("scaly-viz")), "serve"], cwd=str(ROOT)
    )
    try:
        _npm("run", "--silent", "watch")
    finally:
        viewer.terminate()
        viewer.wait()


def docs() -> None:
    """Build the site of docs/ into .cache/docs; a warning fails it."""
    target = ROOT / ".cache" / "docs"
    how = ("--fail-on-warning", "--keep-going", "--quiet", "-d", target / "doctrees")
    run([environments.dev().python, "-m", "sphinx", *how, ROOT / "docs", target / "html"])
    say(f"open {(target / 'html' / 'index.html').relative_to(ROOT)}")


def screenshots() -> None:
    """Take the pictures of docs/pictures anew, from real runs."""
    ensure_chromium()
    run([environments.dev().python, "-m", "pages.pictures"], ROOT / "tests")


def lock() -> None:
    """Write the lock files anew; versions that still fit are kept."""
    for locked, what in _LOCKS.items():
        _compile(locked, what)


def upgrade() -> None:
    """Write the lock files anew, with the newest versions."""
    for locked, what in _LOCKS.items():
        _compile(locked, what, "--upgrade")


def lock_is_current() -> None:
    """The lock files are what pyproject.toml asks for."""
    for locked, what in _LOCKS.items():
        fresh = VENVS / locked.name
        fresh.write_bytes(locked.read_bytes())
        _compile(fresh, what)
        if _pins(fresh) != _pins(locked):
            raise Failure(f"{locked.name} does not fit pyproject.toml: run `make lock`")


def build() -> Path:
    """Build the sdist, and the wheel from the sdist; return the wheel."""
    stamp = DIST / "inputs.sha256"
    sources = (PYPROJECT, LOCK, ROOT / "hatch_build.py", ROOT / "src", ROOT / "exporters")
    papers = [ROOT / name for name in _PAPERS]
    wanted = digest(
        *sources, *papers, *(ROOT / name for name in ("viewer", "compose", "docs", "examples"))
    )
    wheels = list(DIST.glob("*.whl"))
    if len(wheels) == 1 and stamp.is_file() and stamp.read_text() == wanted:
        return wheels[0]
    shutil.rmtree(str(DIST), ignore_errors=True)
    run([uv(), "build", *build_options(), "--out-dir", DIST])
    stamp.write_text(wanted)
    (wheel,) = DIST.glob("*.whl")
    return wheel


def build_options() -> Sequence[object]:
    """Return how uv is to build: with the locked versions of what builds."""
    return ("--python", main_python().path, "--build-constraints", LOCK, "--require-hashes")


@dataclass(frozen=True)
class Suite:
    """The test suite against the built wheel, in one environment."""

    name: str
    meaning: str
    minor: str | None = None  # None: the main Python
    layers: tuple[Layer, ...] = (LOCKED,)
    complete: bool = False  # with the tests that are slow or need a browser or a tracing backend
    scaly_only: bool = False  # without the test files to which scaly's version means nothing
    optional: bool = False  # left out where there is no such Python

    def run(self, arguments: Sequence[str] = ()) -> str:
        """Install the wheel beside this suite's dependencies, run pytest, say what was left out."""
        interpreter = self._python()
        if interpreter is None:
            return f"left out: no Python {self.minor}"
        ensure_c_compiler()
        extra = {"PACKAGES_UNDER_TEST": str(DIST)}
        notes = []
        left_out = ["browser", "backend"] if self.complete else ["browser", "backend", "slow"]
        if self.complete:
            chromium = ensure_chromium()
            if chromium:
                extra["CHROMIUM"] = chromium
                left_out.remove("browser")
            else:
                notes.append("without the browser tests: no Chromium")
            programs = tracing_backends.ensure()
            if isinstance(programs, dict):
                extra.update(programs)
                left_out.remove("backend")
            else:
                notes.append(f"without the backend tests: {programs}")
        wheel = build()
        if self.layers is LOWEST:
            _resolve_lowest()
        environment = environments.suite(self.name, interpreter, self.layers, wheel)
        _assert_installed(environment)
        marks = ("-m", " and ".join(f"not {mark}" for mark in left_out)) if left_out else ()
        which = ("--scaly-only",) if self.scaly_only else ()
        examples = () if self.complete else ("--hypothesis-profile", "few examples")
        workers = ["--numprocesses", WORKERS, "--dist", "loadfile", "--durations", "10"]
        if self.complete:
            workers.append("--no-loadscope-reorder")  # tests/conftest.py knows what takes long
        how = arguments or (*which, *workers)
        run([environment.command("pytest"), *marks, *examples, *how], extra=extra)
        return "; ".join(notes)

    def _python(self) -> Interpreter | None:
        if self.minor is None:
            return main_python()
        found = python(self.minor, fetch=not self.optional)
        if found is None and IN_CI and not self.optional:
            raise Failure(f"no Python {self.minor} found, and uv could not fetch one")
        return found


LOWEST_PINS = VENVS / "lowest.txt"
LOWEST = (Layer(("sync", str(LOWEST_PINS)), (LOWEST_PINS,)),)
OLDEST = (LOCKED, Layer(("install", "--no-deps", *OLDEST_SCALY), ()))

MAIN = Suite("main", "the whole suite against the built wheel", complete=True)
NEXT = Suite("py313", "the suite on Python 3.13", minor="3.13")
OLD_SCALY = Suite(
    "scaly-a1", "the suite with the oldest scaly, 0.1.0a1", layers=OLDEST, scaly_only=True
)
LOWEST_DEPENDENCIES = Suite(
    "lowest", "the suite with the lowest versions that pyproject.toml allows", layers=LOWEST
)
NEWEST = Suite("py314", "the suite on Python 3.14, where there is one", minor="3.14", optional=True)
SUITES = (MAIN, NEXT, OLD_SCALY, LOWEST_DEPENDENCIES, NEWEST)


# The tools of a release are many, and belong into no environment that tests run in.
_LOCKS: dict[Path, Sequence[object]] = {
    LOCK: (PYPROJECT, "--all-extras", "--group", "dev"),
    RELEASE_LOCK: ("--group", "release"),
}


def _compile(target: Path, what: Sequence[object], *flags: str) -> None:
    where = ("--python", main_python().path, "--quiet", "--output-file", target)
    how = ("--python-version", "3.12", "--universal", "--generate-hashes", *where, *flags)
    # The lock's first lines name the command that wrote it: this one, not uv's with its options.
    run([uv(), "pip", "compile", *what, *how], extra={"UV_CUSTOM_COMPILE_COMMAND": "make lock"})


def _pins(lock_file: Path) -> list[str]:
    # Hashes are not compared: a registry may gain wheels of a version that is already pinned.
    return re.findall(r"^[a-z0-9].*?(?= \\$|$)", lock_file.read_text(), re.MULTILINE)


def _resolve_lowest() -> None:
    """Pin the lowest versions once per pyproject.toml."""
    stamp = LOWEST_PINS.with_suffix(".sha256")
    wanted = digest(PYPROJECT)
    if LOWEST_PINS.is_file() and stamp.is_file() and stamp.read_text() == wanted:
        return
    say("resolving the lowest versions that pyproject.toml allows")
    what = (PYPROJECT, "--all-extras", "--group", "test", "--python-version", "3.12")
    where = ("--python", main_python().path, "--quiet", "--output-file", LOWEST_PINS)
    LOWEST_PINS.unlink() if LOWEST_PINS.is_file() else None
    run([uv(), "pip", "compile", *what, "--resolution", "lowest-direct", *where])
    _assert_bounds_are_reached()
    stamp.write_text(wanted)


def _assert_bounds_are_reached() -> None:
    """A lower bound that no resolution can reach would be promised and never tested."""
    bounds = re.findall(r'"([a-z0-9-]+)(?:\[[a-z,]+\])?>=([0-9a-z.]+)', PYPROJECT.read_text())
    pins = dict(re.findall(r"^([a-z0-9-]+)==([0-9a-z.]+)", LOWEST_PINS.read_text(), re.MULTILINE))
    del pins["scaly"]  # whose oldest version has a suite of its own
    unreached = [
        f"{name}>={bound} (lowest: {pins[name]})"
        for name, bound in bounds
        if name in pins and not f"{pins[name]}.".startswith(f"{bound}.")
    ]
    if unreached:
        raise Failure(f"lower bounds that cannot be reached: {', '.join(unreached)}")


def _assert_installed(environment: environments.Environment) -> None:
    """What the suite imports is the wheel, not the source tree."""
    packages = "scaly_viz, scaly_viz_exporters, scaly_viz_viewer"
    where = f"import {packages}; print({packages.replace(',', '.__file__,')}.__file__, sep='\\n')"
    printed = output([environment.python, "-c", where])
    if printed is None or not all("site-packages" in line for line in printed.splitlines()):
        raise Failure(f"the packages are not imported from the installed wheel:\n{printed}")


def node() -> tuple[str, str]:
    """Return the paths of node and npm in .venv/dev."""
    finder = "import hatch_build; print(*hatch_build.find_node(), sep='\\n')"
    found = output([environments.dev().python, "-c", finder])
    if found is None:
        raise Failure("no Node in .venv/dev")
    path, npm = found.splitlines()
    return path, npm


def _npm(*arguments: str) -> None:
    """Run npm in viewer/web with the Node of .venv/dev, after the packages are installed."""
    node_path, npm = node()
    extra = {"PATH": os.pathsep.join((str(Path(node_path).parent), os.environ.get("PATH", "")))}
    stamp = WEB / "node_modules" / ".dev.sha256"
    wanted = digest(WEB / "package-lock.json")
    if not (stamp.is_file() and stamp.read_text() == wanted):
        say("installing the front end's packages (npm ci)")
        run([node_path, npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"], WEB, extra)
        stamp.write_text(wanted)
    run([node_path, npm, *arguments], WEB, extra)
