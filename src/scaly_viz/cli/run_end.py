"""Owns the end of a script under ``scaly-viz run``: the summary on standard error, and the viewer."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from contextlib import suppress
from importlib.machinery import BuiltinImporter
from pathlib import Path
from typing import TYPE_CHECKING

from scaly_viz.running import standard_error
from scaly_viz.running.config import RunConfig, decode

if TYPE_CHECKING:
    from scaly_viz.running.journal import Recorded
    from scaly_viz.running.run import Run

_SHORT_ID = 8
_LISTED = 10


def end(text: str) -> None:
    """Say what was recorded, and open the viewer where that was asked for. The script has ended."""
    config = decode(text)
    run = _run()
    if run is not None:
        run.progress.erase()
    recorded = _recorded(config, run)
    # The script's last words come first; what cannot be written, Python will say when it tries again.
    with suppress(Exception):
        sys.stdout.flush()
    path = _path() if recorded is not None and "json" in _exporters(run) else None
    if config.as_json:
        _say(config, _as_json(recorded, run, path))
    elif not config.quiet:
        _say(config, "\n".join(_lines(config, recorded, run, path)))
    if config.browser and path is not None and recorded is not None:
        _view(path, recorded.listed[-1].id)


def _run() -> Run | None:
    module = sys.modules.get("scaly_viz.running.run")
    return None if module is None else module.current()


def _recorded(config: RunConfig, run: Run | None) -> Recorded | None:
    """Return what was recorded, None where nothing was."""
    if run is None and not Path(config.journal).exists():
        return None
    from scaly_viz.running.journal import Journal

    recorded = (Journal(config) if run is None else run.journal).recorded()
    return recorded if recorded.count else None


def _exporters(run: Run | None) -> list[str]:
    from scaly_viz import settings

    if run is None:  # only children have recorded, by the same environment
        return [*settings.read().exporters]
    from scaly_viz.frontend.session import SESSION

    return SESSION.destinations()


def _path() -> Path:
    from scaly_viz import settings

    return settings.recording_path().absolute()


def _say(config: RunConfig, text: str) -> None:
    if text:
        standard_error.write(f"{text}\n", config.stderr)


def _as_json(recorded: Recorded | None, run: Run | None, path: Path | None) -> str:
    from scaly_viz.cli.output import to_json

    return to_json(
        {
            "count": 0 if recorded is None else recorded.count,
            "failed": 0 if recorded is None else recorded.failed,
            "recordings": [] if recorded is None else recorded.listed,
            "exporters": [] if recorded is None else _exporters(run),
            "path": None if path is None else str(path),
            "passed_over": _passed_over(run),
        }
    )


def _passed_over(run: Run | None) -> list[str]:
    return [] if run is None or run.instrumented is None else [*run.instrumented.passed_over]


def _lines(
    config: RunConfig, recorded: Recorded | None, run: Run | None, path: Path | None
) -> Iterator[str]:
    from scaly_viz.cli.characters import visible
    from scaly_viz.cli.quantities import plural

    if recorded is None:
        if run is None and not _has_begun():
            return  # as Python has said
        yield f"scaly-viz: nothing was recorded: {_why_nothing(run)}"
        return
    failed = f", {recorded.failed:,} of them failed" if recorded.failed else ""
    yield f"scaly-viz: {plural(recorded.count, 'recording')}{failed}"
    yield _table(config, recorded)
    if recorded.count > _LISTED:
        yield f"These are the newest {min(_LISTED, len(recorded.listed))}."
    if path is None:
        yield f"Sent to: {', '.join(_exporters(run)) or 'nobody, they were kept in memory only'}"
        return
    if not any(path.parent.glob(f"{path.stem}*")):
        place = visible(str(path))
        yield f"They are not in {place}, which could not be written; scaly-viz doctor says what to do"
        return
    at = _recording_path_option(path)
    newest = recorded.listed[-1].id[:_SHORT_ID]
    yield f"In {visible(str(path))}; to look at them:"
    yield f"  scaly-viz show {newest}{at}"
    yield f"  scaly-viz serve --browser{at}"


def _has_begun() -> bool:
    """Tell whether there was a script: until there is, ``__main__`` has the loader of what is built in."""
    loader = getattr(sys.modules["__main__"], "__loader__", None)
    return loader is not BuiltinImporter or sys.argv[:1] in (["-c"], ["-"], [""])


def _why_nothing(run: Run | None) -> str:
    from scaly_viz.cli.characters import visible
    from scaly_viz.cli.output import listed

    if run is None and "scaly" in sys.modules:
        return "scaly could not be watched, as was said; scaly-viz doctor looks for the cause"
    if run is None:
        return "the script did not import scaly"
    names = _passed_over(run)
    if names:
        return f"--functions leaves out what was rendered: {visible(listed(names))}"
    if run.renders:
        return "what was rendered did not reach us; scaly-viz doctor looks for the cause"
    return "scaly was imported, and rendered nothing"


def _table(config: RunConfig, recorded: Recorded) -> str:
    import shutil

    from rich.console import Console

    from scaly_viz.cli.output import UNLIMITED
    from scaly_viz.cli.recording_table import new_recordings_table

    on_terminal = standard_error.is_terminal(config.stderr)
    out = io.StringIO()
    console = Console(
        file=out,
        force_terminal=True if on_terminal else None,
        width=shutil.get_terminal_size().columns if on_terminal else UNLIMITED,
        markup=False,
        highlight=False,
        emoji=False,
    )
    console.print(new_recordings_table(recorded.listed[-_LISTED:], console), soft_wrap=True)
    return out.getvalue().rstrip("\n")


def _recording_path_option(path: Path) -> str:
    """Return the option that other commands need to find ``path``; none where they look there anyway."""
    import shlex

    from scaly_viz import settings
    from scaly_viz.errors import RecordingFolderError

    with suppress(RecordingFolderError):
        settings.configure_directory(
            None
        )  # what the script has configured, the next command will not know
        if _path() == path:
            return ""
    return f" --recording-path {shlex.quote(str(path))}"


def _view(path: Path, recording: str) -> None:
    """Serve the viewer until it is interrupted; the script's exit code is its own all the same."""
    import signal
    import subprocess

    command = [sys.executable, "-P", "-m", "scaly_viz", "serve", "--port", "0"]
    viewer = subprocess.Popen([*command, "--recording", recording, str(path)], stdout=2)
    with suppress(ValueError):  # an exit handler that runs in another thread
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the viewer, which ends by it
    viewer.wait()
