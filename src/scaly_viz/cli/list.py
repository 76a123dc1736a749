"""Owns ``scaly-viz list``: the table of recordings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from scaly_viz.cli import completing, exit_codes
from scaly_viz.cli.options import SourceCommand, json_option, reading_options

if TYPE_CHECKING:
    from scaly_viz.analysis.summary import RecordingSummary

_HELP = """\
List recordings, the newest last.

The number, the id or its start, the name and the function name a recording for "scaly-viz show".

\b
Examples:
  scaly-viz list -n 10
  scaly-viz list --function 'cartpole_*' --status failed
  scaly-viz list --json | jq -r '.[].id'
  scaly-viz list jaeger:http://localhost:16686
"""


@click.command(
    "list",
    cls=SourceCommand,
    help=_HELP,
    short_help="List recordings, the newest last.",
    epilog=exit_codes.epilog(),
)
@click.option(
    "-n", "--limit", type=click.IntRange(min=1), metavar="N", help="Only the N newest of them."
)
@click.option(
    "--function",
    metavar="GLOB",
    help="Only functions with such a name: 'cartpole_*'.",
    shell_complete=completing.functions,
)
@click.option(
    "--status",
    type=click.Choice(["ok", "failed", "incomplete"]),
    multiple=True,
    help="Only recordings that ended so; may be given twice.",
)
@json_option
@reading_options
def command(
    limit: int | None,
    function: str | None,
    status: tuple[str, ...],
    as_json: bool,
    path: str | None,
    strict: bool,
) -> None:
    """List recordings."""
    from fnmatch import fnmatchcase

    from scaly_viz.cli import output, reading

    recordings = reading.summaries(path, strict=strict)
    numbered = [*enumerate(recordings, start=1)]
    chosen = [
        (number, summary)
        for number, summary in numbered
        if (function is None or fnmatchcase(summary.function, function))
        and (not status or summary.status in status)
    ][-(limit or 0) :]
    if as_json:
        output.write_json([summary for _, summary in chosen])
    elif chosen:
        _print(chosen)
    elif recordings:
        output.write(f"None of the {len(recordings):,} recordings is like that.\n")
    else:
        output.write(f"{reading.nothing_there(path)}\n")


def _print(numbered: list[tuple[int, RecordingSummary]]) -> None:
    from scaly_viz.cli import output
    from scaly_viz.cli.recording_table import recording_table

    console = output.console()
    output.show(console, [recording_table(numbered, console)])
