"""Owns ``scaly-viz prune``: throws recordings away by age, number, size, function or outcome."""

from __future__ import annotations

from typing import TypedDict, Unpack

import click

from scaly_viz.cli import completing, exit_codes, parameters
from scaly_viz.cli.options import json_option

_HELP = """\
Throw recordings away, from the local file and its segments.

--function and --status say which recordings may go. Of these go: those older than --older-than,
those beyond the --keep newest, and the oldest until all that is left fits --max-bytes. Without any
of these three limits all that may go do.

Other processes may record meanwhile. What is being recorded stays; so do lines that cannot be read
(unless --damaged) and lines of other programs. scaly.viz's recordings.json is touched only where
--recording-path names it.

\b
Examples:
  scaly-viz prune --older-than 30d --dry-run
  scaly-viz prune --keep 100 --max-bytes 500MB
  scaly-viz prune --function 'test_*' --older-than 1d
  scaly-viz prune --failed
  scaly-viz prune --damaged --recording-path run-7/recordings.jsonl
"""


class _Options(TypedDict):
    """What the command line asks for."""

    older_than: float | None
    keep: int | None
    max_bytes: int | None
    functions: tuple[str, ...]
    status: tuple[str, ...]
    failed: bool
    incomplete: bool
    damaged: bool
    dry_run: bool
    as_json: bool
    path: str | None


@click.command(
    "prune",
    help=_HELP,
    short_help="Throw recordings away by age, number, size, function.",
    epilog=exit_codes.epilog({exit_codes.DONE: "done, also where there was nothing to go"}),
)
@click.option(
    "--older-than",
    callback=parameters.moment,
    metavar="AGE",
    help="As 30d, 12h, 2w, or 2026-01-31.",
)
@click.option("--keep", type=click.IntRange(min=0), metavar="N", help="How many of them may stay.")
@click.option(
    "--max-bytes", callback=parameters.size, metavar="SIZE", help="As 500MB, 2GiB, or a number."
)
@click.option(
    "--function",
    "functions",
    multiple=True,
    metavar="GLOB",
    help="Only functions with such a name: 'test_*'; may be given several times.",
    shell_complete=completing.functions,
)
@click.option(
    "--status",
    type=click.Choice(["ok", "failed", "incomplete"]),
    multiple=True,
    help="Only recordings that ended so; may be given several times.",
)
@click.option("--failed", is_flag=True, help="The same as --status failed.")
@click.option("--incomplete", is_flag=True, help="The same as --status incomplete.")
@click.option("--damaged", is_flag=True, help="Also lines that cannot be read.")
@click.option("--dry-run", is_flag=True, help="Only say what would go.")
@json_option
@click.option(
    "--recording-path",
    "path",
    metavar="PATH",
    help="File or folder to prune.  [default: this user's recordings]",
    shell_complete=completing.files,
)
def command(**options: Unpack[_Options]) -> None:
    """Throw recordings away."""
    from scaly_viz.cli import pruning
    from scaly_viz.retention.policy import Policy

    flags = {"failed": options["failed"], "incomplete": options["incomplete"]}
    policy = Policy(
        before=options["older_than"],
        keep=options["keep"],
        max_bytes=options["max_bytes"],
        functions=options["functions"],
        statuses=(*options["status"], *(name for name, given in flags.items() if given)),
    )
    if policy.is_empty and not options["damaged"]:
        raise click.UsageError(
            "what is to go? Give --older-than, --keep, --max-bytes, --function, --status or"
            " --damaged; --keep 0 throws everything away",
            click.get_current_context(),
        )
    pruned = pruning.prune(
        options["path"], policy, damaged=options["damaged"], dry_run=options["dry_run"]
    )
    if options["as_json"]:
        pruned.print_json()
    else:
        pruned.show()
