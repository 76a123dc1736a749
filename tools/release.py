"""Owns a release: the packages, checked as their users meet them, with checksums and bills of materials."""

from __future__ import annotations

import hashlib
import json
import re
import tempfile
from pathlib import Path

import checks
import environments
from checks import DIST
from environments import PYPROJECT, WEB
from shell import ROOT, Failure, output, run, say
from uv import uv

SUMS = "SHA256SUMS"
CITATION = ROOT / "CITATION.cff"
CHANGELOG = ROOT / "CHANGELOG.md"


def release() -> None:
    """Build, check, and describe what a release publishes, into dist/."""
    wheel = checks.build()
    (sdist,) = DIST.glob("*.tar.gz")
    version = wheel.name.split("-")[1]
    for left in (DIST / SUMS, *DIST.glob("*.cdx.json")):
        left.unlink() if left.exists() else None

    say("papers, and types as on other systems")
    _papers_name(version)
    _types_elsewhere()
    say("twine check, check-wheel-contents")
    tools = environments.release()
    run([tools.command("twine"), "check", "--strict", wheel, sdist])
    run([tools.command("check-wheel-contents"), wheel])
    say("built a second time: the same bytes")
    _builds_again(wheel, sdist)
    say("installed as users do")
    checks.MAIN.run(("tests/test_packaging.py", "--numprocesses", checks.WORKERS))
    say("bills of materials")
    bills = [_python_bill(tools, wheel, version), _page_bill(version)]
    published = (wheel, sdist, *bills)
    sums = [f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}" for file in published]
    (DIST / SUMS).write_text("\n".join(sums) + "\n")
    say(f"{DIST.relative_to(ROOT)} holds release {version}")
    print("\n".join(sums), flush=True)


def _papers_name(version: str) -> None:
    """The papers that name a version name this one."""
    if not re.search(rf"^version: {re.escape(version)}$", CITATION.read_text(), re.MULTILINE):
        raise Failure(f"{CITATION.name} does not have the version {version}")
    if f"## [{version}]" not in CHANGELOG.read_text():
        say(f"note: {CHANGELOG.name} has no section [{version}] yet; what is new is Unreleased")


def _types_elsewhere() -> None:
    """What is only for macOS or Windows is right as far as types tell; see docs/platforms.md."""
    # Silent where imports lead out of the product: IPython's of __main__ is taken for that of tools/.
    mypy = [environments.dev().command("mypy"), "--follow-imports", "silent"]
    for platform in ("darwin", "win32"):
        cache = ROOT / ".mypy_cache" / platform
        run([*mypy, "--platform", platform, "--cache-dir", cache, "src", "exporters", "viewer"])


def _builds_again(wheel: Path, sdist: Path) -> None:
    """Another build gives the same files, byte for byte."""
    with tempfile.TemporaryDirectory() as folder:
        run([uv(), "build", "--quiet", *checks.build_options(), "--out-dir", folder])
        for first in (wheel, sdist):
            if (Path(folder) / first.name).read_bytes() != first.read_bytes():
                raise Failure(f"a second build gives another {first.name}")


def _python_bill(tools: environments.Environment, wheel: Path, version: str) -> Path:
    """Describe what is installed with the wheel, in the versions of requirements.lock."""
    user = environments.user(wheel)
    bill = DIST / f"scaly_viz-{version}.cdx.json"
    form = ("--output-reproducible", "--output-format", "JSON", "--output-file", bill)
    about = ("--pyproject", PYPROJECT, "--mc-type", "library")
    run([tools.command("cyclonedx-py"), "environment", *about, *form, user.python])
    _complete(bill, "scaly-viz", version)
    return bill


def _page_bill(version: str) -> Path:
    """Describe the packages of npm that are bundled into the page."""
    bill = DIST / f"scaly_viz-{version}-page.cdx.json"
    node, npm = checks.node()
    form = ("--sbom-format", "cyclonedx", "--sbom-type", "library")
    text = output([node, npm, "sbom", "--omit", "dev", "--package-lock-only", *form], cwd=WEB)
    if text is None:
        raise Failure("npm sbom fails")
    bill.write_text(text, encoding="utf-8")
    _complete(bill, "scaly-viz-web", version)
    return bill


def _complete(bill: Path, name: str, version: str) -> None:
    """Say in the bill what it describes, and take away what differs from run to run."""
    document = json.loads(bill.read_text(encoding="utf-8"))
    document["metadata"].pop("timestamp", None)
    document.pop("serialNumber", None)
    document["metadata"]["component"].update(name=name, version=version)
    if not document.get("components"):
        raise Failure(f"{bill.name} lists nothing")
    bill.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
