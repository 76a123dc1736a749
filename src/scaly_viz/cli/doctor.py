"""Owns ``scaly-viz doctor``: looks at everything that recordings depend on, and says what to do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from scaly_viz.cli import exit_codes
from scaly_viz.cli.options import json_option

if TYPE_CHECKING:
    from scaly_viz.cli.checks import Finding

_HELP = """\
Look at everything that recordings depend on, and say what to do about what is wrong.

What is installed, scaly and its hook (by a render as a trial, in a folder for that alone), the folder
of recordings, its content, permissions and disk, exporters and the backend behind them, what waits to be
sent, environment variables, the viewer's page.

\b
Examples:
  scaly-viz doctor
  scaly-viz doctor --no-trial --timeout 1
  scaly-viz doctor --json | jq -r '.findings[] | select(.verdict == "problem") | .text'
"""

_STYLES = {"ok": "green", "note": "blue", "warning": "yellow", "problem": "bold red"}


@click.command(
    "doctor",
    help=_HELP,
    short_help="Check everything that recordings depend on.",
    epilog=exit_codes.epilog(
        {
            exit_codes.DONE: "nothing is wrong; there may be warnings",
            exit_codes.FAILED: "there is a problem; the output says which, and what to do",
        }
    ),
)
@click.option("--no-trial", is_flag=True, help="Render nothing, which saves some seconds.")
@click.option(
    "--timeout",
    type=click.FloatRange(min=0.1, max=600),
    default=5.0,
    show_default=True,
    metavar="SECONDS",
    help="How long a backend may take to answer.",
)
@json_option
@click.pass_context
def command(ctx: click.Context, no_trial: bool, timeout: float, as_json: bool) -> None:
    """Look at everything."""
    from scaly_viz.cli import output
    from scaly_viz.cli.checks import Verdict

    findings = []
    for finding in _findings(trial=not no_trial, timeout_s=timeout):
        findings.append(finding)
        if not as_json:
            _show(finding)
    count = sum(finding.verdict is Verdict.PROBLEM for finding in findings)
    if as_json:
        output.write_json({"problems": count, "findings": findings})
    if count:
        ctx.exit(exit_codes.FAILED)


def _findings(*, trial: bool, timeout_s: float) -> Iterator[Finding]:
    from scaly_viz.cli.checks import compiler, exporting, installation, storage, variables

    with variables.collected():  # what is said of values, once: each check reads them
        yield from installation.check()
        yield from variables.check()
        yield from storage.check()
        yield from exporting.check(timeout_s=timeout_s)
        yield from compiler.check(trial=trial)


def _show(finding: Finding) -> None:
    from rich.text import Text

    from scaly_viz.cli import output
    from scaly_viz.cli.characters import visible

    verdict = finding.verdict.value
    line = Text(f"{verdict:<8}", _STYLES[verdict])
    line.append(f" {finding.area}: {visible(finding.text)}", "default")
    lines = [line]
    if finding.advice:
        lines.append(Text(f"{'':<8} -> {visible(finding.advice)}"))
    output.show(output.console(), lines)
