"""Owns ``scaly-viz run``: Python runs a script, and what scaly renders in it is recorded."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import NoReturn

import click

from scaly_viz.cli import completing, exit_codes
from scaly_viz.cli.options import json_option
from scaly_viz.errors import ScalyVizError

_HELP = """\
Run a Python script, and record every function that scaly renders in it.

What follows SCRIPT, "-m MODULE" or "-c CODE" belongs to the script. It runs in this very process, as
"python SCRIPT ..." would run it: its output, exit code, signals, input, arguments and paths are its own.
Functions that the script marks itself are recorded whatever their names are, and keep their labels.

On a terminal, a line below the script's output says how far a compile is that takes longer than a
second. At the end standard error gets a summary: what was recorded, where, and how to look at it.

Processes that the script forks, or starts by multiprocessing, are recorded, too; other programs that
it starts with --subprocesses only.

\b
Examples:
  scaly-viz run mpc.py --horizon 20
  scaly-viz run --functions 'mpc_*,defect' --label 'new weights' mpc.py
  scaly-viz run --browser -m my_package.train
  scaly-viz run --quiet mpc.py > results.csv
  python -X dev -m scaly_viz run mpc.py      # Python's own options
"""

_EPILOG = exit_codes.epilog(
    {
        exit_codes.DONE: "the script's, as is every other code and every end by a signal",
        exit_codes.FAILED: "the script's; or no Python could be started, as standard error says",
        exit_codes.MISUSED: "the script's; or it could not be opened, or this command was called wrong",
        exit_codes.INTERRUPTED: "",
        exit_codes.PIPE_CLOSED: "",
    }
)
# Python's own words that stand in place of a script; each but "-" takes one more.
_IN_PLACE = ("-m", "-c", "-")
_WITH_VALUE = ("-X", "-W", "--check-hash-based-pycs")
# With these, Python reads neither PYTHONPATH nor sitecustomize, by which we get in.
_CLOSED = {"I", "E", "S"}


class ScriptCommand(click.Command):
    """A command whose own options end where the script begins."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Leave what begins with the script alone."""
        begin = self._begin_of_script(ctx, args)
        if begin < len(args) and args[begin] == "--":
            return super().parse_args(ctx, args)
        return super().parse_args(ctx, [*args[:begin], "--", *args[begin:]])

    def _begin_of_script(self, ctx: click.Context, args: Sequence[str]) -> int:
        options = {name: p for p in self.get_params(ctx) for name in p.opts}
        at = 0
        while at < len(args) and args[at].startswith("-") and args[at] not in (*_IN_PLACE, "--"):
            param = options.get(args[at])
            takes_value = isinstance(param, click.Option) and not param.is_flag
            at += 2 if takes_value else 1
        return min(at, len(args))


@click.command(
    "run",
    cls=ScriptCommand,
    help=_HELP,
    short_help="Run a script, and record what scaly renders in it.",
    epilog=_EPILOG,
    options_metavar="[OPTIONS]",
)
@click.argument(
    "words",
    nargs=-1,
    type=click.UNPROCESSED,
    metavar="SCRIPT|-m MODULE|-c CODE [ARGS]...",
    shell_complete=completing.files,
)
@click.option(
    "--functions",
    multiple=True,
    metavar="GLOB",
    help="Only functions with such a name, several separated by commas; may be given several times."
    "  [default: SCALY_VIZ_FUNCTIONS, else all]",
    shell_complete=completing.functions,
)
@click.option("--label", metavar="TEXT", help="Show the recordings by this name.")
@click.option(
    "--subprocesses",
    is_flag=True,
    help="Record in every Python that the script starts; its environment then shows it.",
)
@click.option("--browser", is_flag=True, help="Open the viewer at the new recording afterwards.")
@click.option("-q", "--quiet", is_flag=True, help="Show neither progress nor a summary.")
@json_option
def command(
    words: tuple[str, ...],
    functions: tuple[str, ...],
    label: str | None,
    subprocesses: bool,
    browser: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Run a script."""
    import secrets
    import tempfile

    from scaly_viz import settings, startup
    from scaly_viz.running import standard_error
    from scaly_viz.running.config import RunConfig

    if not words or (words[0] in ("-m", "-c") and len(words) == 1):
        raise click.UsageError("which script? Give SCRIPT, or -m MODULE, or -c CODE")
    options = python_options(sys.orig_argv)
    _warn_without_scaly(words)
    config = RunConfig(
        process=os.getpid(),
        journal=f"{tempfile.gettempdir()}/scaly-viz-run-{secrets.token_hex(8)}",
        stderr=standard_error.identity(),
        functions=settings.items(",".join(functions)),
        label=label,
        quiet=quiet,
        as_json=as_json,
        browser=browser,
    )
    environ = startup.environment(os.environ, config.encode(), stays=subprocesses)
    _become([sys.executable, *options, *words], environ)


def python_options(called: Sequence[str]) -> list[str]:
    """Return the options that Python itself was given in front of ``-m scaly_viz``.

    Raises:
        ScalyVizError: with one of them nothing could be recorded.
    """
    options: list[str] = []
    rest = iter(called[1:])
    for word in rest:
        if word == "-m":
            break
        if not word.startswith("-"):  # the installed command, whose first line is its installer's
            return []
        options.append(word)
        if word in _WITH_VALUE:
            options.append(next(rest, ""))
        elif not word.startswith(("-X", "-W", "--")) and _CLOSED & {*word}:
            raise ScalyVizError(f"python {word} keeps scaly-viz out of the script's process")
    return options


def _warn_without_scaly(words: Sequence[str]) -> None:
    """Say where scaly would have to be, unless it is found, or the script may have one beside it."""
    from importlib.util import find_spec
    from pathlib import Path

    from scaly_viz.cli import output

    beside = Path() if words[0] in _IN_PLACE else Path(words[0]).parent
    if find_spec("scaly") is not None or (beside / "scaly").is_dir():
        return
    active = os.environ.get("VIRTUAL_ENV", "")
    other = f"; the active environment is {active}" if active and active != sys.prefix else ""
    output.warn(
        f"scaly is not installed for {sys.executable}, which runs the script, so nothing can be"
        f" recorded{other}. Install scaly-viz where scaly is (pip install scaly-viz), or run both by"
        " uvx --with scaly scaly-viz run"
    )


def _become(words: list[str], environ: dict[str, str]) -> NoReturn:
    """Go on as Python running the script: signals and waiting parents then meet the script itself."""
    import signal
    import subprocess

    sys.stdout.flush()
    sys.stderr.flush()
    if sys.platform == "win32":  # whose exec is a new process that nobody waits for
        sys.exit(subprocess.call(words, env=environ))
    else:
        for number in (signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(
                number, signal.SIG_DFL
            )  # Python ignores it, which the script's would inherit
        try:
            os.execve(words[0], words, environ)
        except OSError as error:
            raise ScalyVizError(f"{words[0]}: cannot be started: {error.strerror}") from error
