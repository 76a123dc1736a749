"""Owns the tasks: ``tools/run TASK [ARGUMENT ...]``. The Makefile's targets are these."""

from __future__ import annotations

import shutil
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Callable, Sequence

import checks
import environments
import release
import tracing_backends
from shell import ROOT, Failure, run, say
from uv import main_python, uv

Task = Callable[[], object]


def demo() -> None:
    """Render an example with the real scaly and say how to look at it."""
    environment = environments.demo()
    command = environment.command("scaly-viz").relative_to(ROOT)
    say("rendering examples/demo.py with the real scaly")
    run([environment.python, "examples/demo.py"], as_user=True)
    say(f"{command} list")
    run([ROOT / command, "list"], as_user=True)
    print(f"\nOpen the viewer with:\n\n    {command} serve\n", flush=True)


def dev() -> None:
    """Set up .venv/dev, with the project installed editable."""
    say(f"ready: {environments.dev().path.relative_to(ROOT)}/bin holds python, pytest, ruff, mypy")


def test() -> None:
    """Run every check; say at the end what failed."""
    say(f"main Python: {main_python()}; uv: {uv()}")
    # The main suite needs what may take minutes to build, once: it then comes last.
    suites = checks.SUITES if tracing_backends.are_built() else (*checks.SUITES[1:], checks.MAIN)
    tracing_backends.begin()
    environments.dev()
    of_sources: list[tuple[str, Task]] = [
        ("lint", checks.lint),
        ("format", checks.formatting),
        ("lock", checks.lock_is_current),
        ("web", checks.web),
        ("build", checks.build),
    ]
    with ThreadPoolExecutor() as beside:
        # Keeps one core busy for about as long as the others take together.
        types = beside.submit(_timed, "types", checks.types)
        results = [_timed(name, check) for name, check in of_sources]
        results.append(types.result())
    results += [_timed(f"suite {suite.name}", suite.run) for suite in suites]
    print()
    for result in results:
        print(f"  {result.name:<16} {result.seconds:6.1f} s  {result.verdict}", flush=True)
    failed = [result.name for result in results if result.failed]
    if failed:
        raise Failure(f"failed: {', '.join(failed)}")
    print("\nall checks passed", flush=True)


def clean() -> None:
    """Remove what the tasks made: environments, caches, builds."""
    made = (".venv", ".cache", "dist", "viewer/web/node_modules", "viewer/scaly_viz_viewer/static")
    for name in made:
        shutil.rmtree(str(ROOT / name), ignore_errors=True)


@dataclass(frozen=True)
class Result:
    """How one step of the checks went."""

    name: str
    seconds: float
    verdict: str
    failed: bool


def _timed(name: str, step: Task) -> Result:
    """Run ``step``; a failure is told and kept, so that the steps after it still run."""
    say(name)
    start = time.monotonic()
    try:
        note = step()
    except Failure as failure:
        print(f"{name} FAILED: {failure}", file=sys.stderr, flush=True)
        return Result(name, time.monotonic() - start, "FAILED", failed=True)
    verdict = f"ok ({note})" if isinstance(note, str) and note else "ok"
    return Result(name, time.monotonic() - start, verdict, failed=False)


TASKS: dict[str, Task] = {
    "demo": demo,
    "dev": dev,
    "test": test,
    "lint": checks.lint,
    "format": checks.formatting,
    "types": checks.types,
    "test-web": checks.web,
    "web": checks.develop_page,
    "fix": checks.fix,
    "docs": checks.docs,
    "screenshots": checks.screenshots,
    "lock": checks.lock,
    "upgrade": checks.upgrade,
    "build": checks.build,
    "release": release.release,
    "clean": clean,
}


def main(arguments: Sequence[str]) -> int:
    """Run the task named first; a suite takes pytest's arguments after its name."""
    name, *rest = arguments or ("",)
    suites = {suite.name: suite for suite in checks.SUITES}
    try:
        if name in suites:
            suites[name].run(rest)
        elif name in TASKS and not rest:
            TASKS[name]()
        else:
            raise Failure(f"usage: tools/run {{{','.join([*TASKS, *suites])}}} [ARGUMENT ...]")
    except Failure as failure:
        print(f"\n{failure}", file=sys.stderr, flush=True)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
