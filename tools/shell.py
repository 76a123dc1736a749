"""Owns how the tasks talk, run commands and fail."""

from __future__ import annotations

import os
import shlex
import ssl
import subprocess
import sys
from pathlib import Path
from typing import Mapping, Sequence

ROOT = Path(__file__).resolve().parent.parent
IN_CI = os.environ.get("CI", "").lower() not in ("", "0", "false")

# What a shell may carry that would change how our tools work (the last ones are whole names) ...
TOOL_SETTINGS = ("PYTHON", "PYTEST", "MYPY", "RUFF_", "MAKE", "MFLAGS", "CONDA_PREFIX")
TOOL_NAMES = ("VIRTUAL_ENV", "UV_PYTHON", "UV_SYSTEM_PYTHON", "NODE_OPTIONS")
# ... and what scaly-viz and its tests would obey.
SUBJECT_SETTINGS = ("OTEL_", "SCALY_")


class Failure(Exception):
    """A task cannot go on; its text is all that the reader sees."""


def say(text: str) -> None:
    """Print a line of progress."""
    bold, plain = ("\033[1m", "\033[0m") if sys.stdout.isatty() else ("", "")
    print(f"{bold}==> {text}{plain}", flush=True)


def environment(extra: Mapping[str, str] = {}, *, as_user: bool = False) -> dict[str, str]:
    """Return the caller's environment less what would sway a check; ``as_user`` keeps scaly's settings."""
    dropped = TOOL_SETTINGS if as_user else TOOL_SETTINGS + SUBJECT_SETTINGS
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(dropped) and name not in TOOL_NAMES
    }
    plain = {} if sys.stdout.isatty() else {"NO_COLOR": "1"}
    return {**_trust(), **kept, **plain, **extra}


def _trust() -> dict[str, str]:
    """Return what makes uv and npm believe the system's certificates, as behind a company's proxy."""
    paths = ssl.get_default_verify_paths()
    found = sys.platform in ("darwin", "win32") or paths.cafile is not None
    if not found and paths.capath is not None:
        found = any(Path(paths.capath).iterdir())
    # uv would trust nobody where a slim container has none; Node adds them to its own.
    return {"NODE_USE_SYSTEM_CA": "1", **({"UV_SYSTEM_CERTS": "1"} if found else {})}


def run(
    command: Sequence[object],
    cwd: Path = ROOT,
    extra: Mapping[str, str] = {},
    *,
    as_user: bool = False,
) -> None:
    """Run ``command``, its output going where ours goes; raise ``Failure`` if it fails."""
    words = [str(word) for word in command]
    env = environment(extra, as_user=as_user)
    code = subprocess.run(
        words, cwd=str(cwd), env=env, stdin=subprocess.DEVNULL, check=False
    ).returncode
    if code:
        shown = " ".join(shlex.quote(word) for word in words)
        raise Failure(f"exit code {code} from: {shown}")


def output(command: Sequence[object], timeout: float = 30, cwd: Path = ROOT) -> str | None:
    """Return what ``command`` prints, or None if it cannot be run or fails."""
    try:
        done = subprocess.run(
            [str(word) for word in command],
            cwd=str(cwd),
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=timeout,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.decode(errors="replace").strip() if done.returncode == 0 else None
