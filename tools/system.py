"""Owns what has to come from the operating system: a C compiler and Chromium."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from shell import IN_CI, Failure, run, say

_BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
_MAC_BROWSERS = (
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)


def ensure_c_compiler() -> None:
    """Make sure of a C compiler: scaly's JIT, which some tests call, needs one."""
    if shutil.which(os.environ.get("CC") or "cc"):
        return
    if not _apt("gcc", "libc6-dev"):
        raise Failure(
            "The tests need a C compiler named cc (on Debian: apt install gcc libc6-dev)."
        )


def ensure_chromium() -> str | None:
    """Return the path of a Chromium, installed with apt if need be; None where there is none."""
    found = _chromium()
    if found is None and _apt("chromium", "chromium-driver", "fonts-dejavu-core"):
        found = _chromium()
    if found is None:
        problem = (
            "The browser tests need Chromium or Chrome (on Debian: apt install chromium),"
            " or its path in CHROMIUM."
        )
        if IN_CI:
            raise Failure(problem)
        say(f"{problem} They are left out.")
    return found


def _chromium() -> str | None:
    named = os.environ.get("CHROMIUM")
    names = (named,) if named else (*_BROWSERS, *_MAC_BROWSERS)
    for name in names:
        path = shutil.which(name)
        if path:
            return path
    return None


def _apt(*packages: str) -> bool:
    """Install Debian packages where we may; return whether that was tried."""
    if not (Path("/usr/bin/apt-get").exists() and os.geteuid() == 0):
        return False
    say(f"installing {', '.join(packages)} with apt-get")
    quiet = {"DEBIAN_FRONTEND": "noninteractive"}
    apt = ("apt-get", "-qq", "-o", "DPkg::Lock::Timeout=300", "-o", "Acquire::Retries=3")
    run([*apt, "update"], extra=quiet)
    run([*apt, "install", "--yes", "--no-install-recommends", *packages], extra=quiet)
    return True
