"""Owns ``scaly-viz show``: one recording with its steps, or one step's text."""

from __future__ import annotations

from typing import Protocol

import click

from scaly_viz.cli import completing, exit_codes
from scaly_viz.cli.options import NumberedCommand, json_option, reading_options

_HELP = """\
Show the steps of a recording and what each changed, or the text of one step.

RECORDING is "last" (the default), a number as "scaly-viz list" has it (1 is the oldest, -1 the
newest), an id or its start, or a name or function: the newest that has it, else the newest that
matches it as a part or pattern.

STEP is an index, a name ("pass:fuse_ranges", or just "fuse_ranges"), or a part of one name.
Its text is the C, the listing or the assembly, whichever of them it has; --kind asks for another.
On a terminal it is colored, and paged where it is longer than the screen; in a pipe it is exactly
what was recorded.

\b
Examples:
  scaly-viz show
  scaly-viz show cartpole
  scaly-viz show last fuse_ranges
  scaly-viz show last lowered --kind assembly | grep prog.for
  scaly-viz show last --kind code > cartpole.c
  scaly-viz show jaeger:http://localhost:16686 cartpole fuse_ranges
"""


class View(Protocol):
    """What can be shown, to a person and to a program."""

    def as_json(self) -> dict[str, object]:
        """Return an object that can be written as JSON."""

    def show(self, *, pager: bool) -> None:
        """Print it, by a pager if that is allowed and it is long."""


@click.command(
    "show",
    cls=NumberedCommand,
    help=_HELP,
    short_help="Show the steps of a recording, or the text of one.",
    epilog=exit_codes.epilog(),
    context_settings={"ignore_unknown_options": True},
)
@click.argument("recording", default="last", shell_complete=completing.recordings)
@click.argument("step", required=False, shell_complete=completing.steps)
@click.option(
    "--kind",
    metavar="KIND",
    help="assembly, listing, code, graph (as JSON), or another that the step has. Without STEP: of"
    " the last step that has it.",
    shell_complete=completing.words("assembly", "listing", "code", "graph"),
)
@click.option("--no-pager", is_flag=True, help="Do not page a long text (by $PAGER, else less).")
@json_option
@reading_options
def command(
    recording: str,
    step: str | None,
    kind: str | None,
    no_pager: bool,
    as_json: bool,
    path: str | None,
    strict: bool,
) -> None:
    """Show a recording or a step."""
    from scaly_viz.cli import output, reading, recording_view, step_view
    from scaly_viz.cli.selection import select_step

    chosen = reading.choose(path, recording, strict=strict)
    if chosen is None:
        if as_json:
            output.write_json([])
        else:
            output.write(f"{reading.nothing_there(path)}\n")
        return
    view: View
    if step is not None:
        view = step_view.StepView(chosen, select_step(chosen, step), kind)
    elif kind is not None:
        view = step_view.StepView(chosen, step_view.last_with(chosen, kind), kind)
    else:
        view = recording_view.RecordingView(chosen)
    if as_json:
        output.write_json(view.as_json())
    else:
        view.show(pager=not no_pager)
