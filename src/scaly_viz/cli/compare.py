"""Owns ``scaly-viz compare``: two sets of recordings side by side, and conditions that fail a build."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict, Unpack

import click

from scaly_viz.cli import completing, exit_codes
from scaly_viz.cli.options import NumberedArguments, json_option, reading_options

if TYPE_CHECKING:
    from collections.abc import Callable

    from scaly_viz.analysis.condition_text import Condition
    from scaly_viz.analysis.report import Report

_HELP = """\
Compare recordings: their figures, how long they took, and where they part.

BASE and NEW are each a file or folder of recordings, ours, any OTLP JSON lines or scaly.viz's
recordings.json; the address of a backend; or a recording, named as for "scaly-viz show". PATH#NAME
is a recording in another file, jaeger:URL#ID one of a backend. Recordings of one function and label
are compared; of several, the latest, while the others tell how much render times vary.

A condition fails the comparison where it is met: "flops > +5%". It has a figure, with @STEP that of a
step; an operator; a number with a unit, or with + or - a change, in percent too; and may join others
by "and" and "or". A change of the render time that is within the noise counts as none; with too few
recordings to tell, four on each side being enough, it cannot be judged. docs/compare.md has the
grammar and all figures.

\b
Examples:
  scaly-viz compare -2 -1
  scaly-viz compare main.jsonl branch.jsonl --format markdown > comment.md
  scaly-viz compare base/ new/ --fail-if 'flops > +5%' --fail-if 'workspace_bytes > 64 KiB'
  scaly-viz compare base/ new/ --fail-if 'mpc_*: nodes@fuse_ranges > +0 or render_time > 1.5x'
  scaly-viz compare jaeger:http://localhost:16686#7c0e9a50 last --json
"""

_UNKNOWN = 3
_EXIT_CODES = {"not met": exit_codes.DONE, "met": exit_codes.FAILED, "unknown": _UNKNOWN}
_MEANINGS = {
    exit_codes.DONE: "compared, and no condition is met",
    exit_codes.FAILED: "a condition is met, or something cannot be read; standard error says why",
    exit_codes.MISUSED: "the command was called in a wrong way, or a condition makes no sense",
    _UNKNOWN: "a condition cannot be judged, as figures or recordings are missing; or there is no pair",
}


class _Command(NumberedArguments, click.Command):
    """A command whose arguments may be negative numbers, and addresses are arguments like others."""


class _Options(TypedDict):
    """What the command line asks for."""

    form: str
    fail_if: tuple[Condition, ...]
    allow_unmatched: bool
    function: str | None
    as_json: bool
    path: str | None
    strict: bool


def _conditions(
    _: click.Context, __: click.Parameter, texts: tuple[str, ...]
) -> tuple[Condition, ...]:
    """Understand the conditions, before anything is read.

    Raises:
        BadParameter: one cannot be understood.
    """
    if not texts:
        return ()
    from scaly_viz.analysis.condition_text import ConditionError, parse_condition
    from scaly_viz.cli.characters import visible

    try:
        return tuple(map(parse_condition, texts))
    except ConditionError as error:
        raise click.BadParameter(visible(str(error))) from error


@click.command(
    "compare",
    cls=_Command,
    help=_HELP,
    epilog=exit_codes.epilog(_MEANINGS),
    short_help="Compare recordings, and fail on what got worse.",
    context_settings={"ignore_unknown_options": True},
)
@click.argument("base", shell_complete=completing.sides)
@click.argument("new", shell_complete=completing.sides)
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "markdown"]),
    default="text",
    show_default=True,
    help="markdown is made for a comment on a pull request.",
)
@click.option(
    "--fail-if",
    callback=_conditions,
    multiple=True,
    metavar="CONDITION",
    help="Exit with 1 where this is met, as 'flops > +5%'; may be given several times.",
)
@click.option(
    "--allow-unmatched",
    is_flag=True,
    help="Conditions do not ask for a counterpart in NEW of every recording in BASE.",
)
@click.option(
    "--function",
    metavar="GLOB",
    shell_complete=completing.functions,
    help="Only functions with such a name: 'cartpole_*'.",
)
@json_option
@reading_options
@click.pass_context
def command(ctx: click.Context, base: str, new: str, **options: Unpack[_Options]) -> None:
    """Compare recordings."""
    from scaly_viz.analysis.matching import match
    from scaly_viz.analysis.report import report
    from scaly_viz.cli import output
    from scaly_viz.cli.sides import Sides, facing, only
    from scaly_viz.errors import ScalyVizError

    sides = Sides(options["path"], strict=options["strict"])
    one, other = sides.find(base), sides.find(new)
    if options["function"] is not None:
        one, other = (only(side, options["function"]) for side in (one, other))
    one, other = facing(one, other), facing(other, one)
    matching = match(one.recordings, other.recordings)
    if not one.recordings and not other.recordings:
        raise ScalyVizError(f"no function in BASE or NEW is called {options['function']}")
    made = report(
        (one.asked, other.asked),
        matching,
        (one.open, other.open),
        options["fail_if"],
        allow_unmatched=options["allow_unmatched"],
    )
    _shown("json" if options["as_json"] else options["form"])(made)
    if made.outcome != "not met":
        if not output.is_terminal() or options["as_json"]:
            _tell(made)
        ctx.exit(_EXIT_CODES[made.outcome])


def _shown(form: str) -> Callable[[Report], None]:
    from scaly_viz.cli import compare_markdown, compare_text, output

    if form == "json":
        return output.write_json
    return compare_markdown.show if form == "markdown" else compare_text.show


def _tell(report: Report) -> None:
    """Give the reasons on standard error, where the report with them is not on the same screen."""
    from scaly_viz.cli.characters import visible
    from scaly_viz.cli.compare_words import nothing

    if not report.pairs:
        click.echo(visible(f"scaly-viz: {nothing(report)}"), err=True)
    for condition in report.conditions:
        if condition.outcome != "not met":
            word = "failed" if condition.outcome == "met" else "cannot be judged"
            for reason in condition.reasons:
                click.echo(visible(f"scaly-viz: {word}: {reason}"), err=True)
