"""Owns checking what is installed: versions, dependencies, the command, the page's files."""

from __future__ import annotations

import platform
import shutil
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, requires, version
from importlib.util import find_spec
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement

from scaly_viz._version import __version__
from scaly_viz.cli.checks import Finding, Verdict

_AREA = "installation"
_ASSETS = ("index.html", "app.js", "graph.worker.js", "style.css", "boot.js")


def check() -> Iterator[Finding]:
    """Look at the installation."""
    where = f"{platform.python_implementation()} {platform.python_version()} ({sys.executable})"
    text = f"scaly-viz {__version__}, {where}, {platform.system()} {platform.machine()}"
    yield Finding(_AREA, Verdict.OK, text)
    yield from _dependencies()
    yield _command()
    yield _page()


def _dependencies() -> Iterator[Finding]:
    try:
        listed = requires("scaly-viz") or []
    except PackageNotFoundError:
        text = "scaly-viz runs from a source tree, so its requirements are not known"
        yield Finding(_AREA, Verdict.NOTE, text)
        return
    wrong = [problem for text in listed if (problem := _unmet(text))]
    advice = "reinstall scaly-viz: pip install --upgrade --force-reinstall scaly-viz"
    for problem in wrong:
        yield Finding(_AREA, Verdict.PROBLEM, problem, advice)
    if not wrong:
        names = ("opentelemetry-sdk", "flask", "click")
        some = ", ".join(f"{name} {version(name)}" for name in names)
        yield Finding(_AREA, Verdict.OK, f"every requirement is met ({some}, ...)")


def _unmet(text: str) -> str:
    """Return what is wrong with a requirement; extras are nobody's duty."""
    try:
        requirement = Requirement(text)
    except InvalidRequirement:
        return ""
    if requirement.marker is not None and not requirement.marker.evaluate({"extra": ""}):
        return ""
    try:
        found = version(requirement.name)
    except PackageNotFoundError:
        return f"{requirement.name} is not installed ({requirement.name}{requirement.specifier})"
    if requirement.specifier.contains(found, prereleases=True):
        return ""
    return f"{requirement.name} {found} is installed, {requirement.specifier} is needed"


def _command() -> Finding:
    found = shutil.which("scaly-viz")
    if found is None:
        text = "the command scaly-viz is not on the PATH"
        advice = f"call it as {sys.executable} -m scaly_viz, or add its folder to the PATH"
        return Finding(_AREA, Verdict.NOTE, text, advice)
    ours = Path(sys.executable).parent
    if Path(found).parent != ours and Path(found).resolve().parent != ours.resolve():
        text = f"the PATH leads to another scaly-viz: {found}"
        return Finding(_AREA, Verdict.NOTE, text, f"for this one: {sys.executable} -m scaly_viz")
    return Finding(_AREA, Verdict.OK, f"the command is {found}")


def _page() -> Finding:
    spec = find_spec("scaly_viz_viewer")
    folders = [] if spec is None else [*(spec.submodule_search_locations or ())]
    static = Path(folders[0]) / "static" if folders else Path()
    missing = [name for name in _ASSETS if not folders or not (static / name).is_file()]
    if missing:
        text = f"the viewer's page lacks {', '.join(missing)} in {static}"
        advice = "install a wheel of scaly-viz; in a source tree: make web, or make build"
        return Finding("viewer", Verdict.PROBLEM, text, advice)
    return Finding("viewer", Verdict.OK, f"the viewer's page is there: {static}")
