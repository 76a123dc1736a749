"""Owns ``scaly-viz diff``: what changed between two steps of a recording."""

from __future__ import annotations

from typing import TypedDict, Unpack

import click

from scaly_viz.cli import completing, exit_codes
from scaly_viz.cli.options import NumberedCommand, json_option, reading_options

_HELP = """\
Show what changed in the text of a step, as a unified diff.

RECORDING and STEP are named as for "scaly-viz show". With one STEP, its text is compared with
that of the step before; with two, the second is compared with the first.

The compiler makes up numbers and names (%12, t3, v0): lines that differ only in these count as
unchanged. With --exact every difference counts, and the output is a patch. Lines that only moved
are colored apart.

\b
Examples:
  scaly-viz diff last fuse_ranges
  scaly-viz diff cartpole lowered coalesce_stores --kind assembly
  scaly-viz diff last fuse_ranges --exact | diffstat
  scaly-viz diff last scalarize --exit-code > /dev/null || echo it changed something
"""


class _Options(TypedDict):
    """What the command line asks for."""

    kind: str | None
    exact: bool
    context: int
    exit_code: bool
    no_pager: bool
    as_json: bool
    path: str | None
    strict: bool


@click.command(
    "diff",
    cls=NumberedCommand,
    help=_HELP,
    short_help="Show what changed between two steps.",
    epilog=exit_codes.epilog(
        {exit_codes.FAILED: "something was wrong; with --exit-code also: the texts differ"}
    ),
    context_settings={"ignore_unknown_options": True},
)
@click.argument("recording", shell_complete=completing.recordings)
@click.argument("step", shell_complete=completing.steps)
@click.argument("other", required=False, metavar="[STEP]", shell_complete=completing.steps)
@click.option(
    "--kind",
    metavar="KIND",
    help="assembly, listing, code, or another text that both have.",
    shell_complete=completing.words("assembly", "listing", "code"),
)
@click.option(
    "--exact", is_flag=True, help="Numbers and names that the compiler made up count too."
)
@click.option(
    "-U",
    "--unified",
    "context",
    type=click.IntRange(min=0),
    default=3,
    show_default=True,
    metavar="N",
    help="Unchanged lines around a change.",
)
@click.option("--exit-code", is_flag=True, help="Exit with 1 where the texts differ.")
@click.option("--no-pager", is_flag=True, help="Do not page a long diff (by $PAGER, else less).")
@json_option
@reading_options
@click.pass_context
def command(
    ctx: click.Context, recording: str, step: str, other: str | None, **options: Unpack[_Options]
) -> None:
    """Show a difference."""
    from scaly_viz.cli import output, reading
    from scaly_viz.cli.diff_view import DiffView, compared, gap
    from scaly_viz.cli.selection import select_step
    from scaly_viz.errors import ScalyVizError

    chosen = reading.choose(options["path"], recording, strict=options["strict"])
    if chosen is None:
        raise ScalyVizError(reading.nothing_there(options["path"]).splitlines()[0])
    first = select_step(chosen, step)
    second = None if other is None else select_step(chosen, other)
    pair = compared(chosen, first, second, options["kind"])
    if second is None and (missing := gap(chosen, pair[0], pair[1])):
        output.warn(missing)
    view = DiffView(chosen, *pair, exact=options["exact"], context=options["context"])
    if options["as_json"]:
        output.write_json(view.as_json())
    else:
        view.show(pager=not options["no_pager"])
    if options["exit_code"] and not view.is_unchanged:
        ctx.exit(exit_codes.FAILED)
