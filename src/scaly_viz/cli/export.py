"""Owns ``scaly-viz export``: recordings as files for other programs and other people."""

from __future__ import annotations

import click

from scaly_viz.cli import completing, exit_codes
from scaly_viz.cli.options import NumberedCommand, json_option, reading_options

_HELP = """\
Write recordings to a file: for other programs, for other people, or to keep.

RECORDING is what "scaly-viz show" takes: "last" (the default), a number, an id or its start, a name
or a function; or a file or folder, for all that is in it, with #RECORDING behind it for one of them.

The suffix of PATH says the format, and .gz or .zst behind it compresses:

\b
  x.otlp.jsonl        OTLP JSON lines, whole; comes back by "scaly-viz import"
  x.json              scaly.viz's recordings.json; comes back too
  x.html              the viewer as one page, without a server
  x.perfetto-trace    times and figures for ui.perfetto.dev
  x.trace.json        the same as Chrome's trace JSON
  x.c                 the generated C
  x.dot, x.svg        the graph of a step, folded as in the viewer
  x.asm, x.txt        the assembly or the listing of a step

A file of the first kinds holds any number of recordings, others hold one. Where PATH is a folder
(or ends with "/"), each recording gets a file of its own in there; --format says which.

--redact takes out whatever tells of people and machines: paths, hosts, users, processes, stack
traces, labels, and attributes that scaly-viz did not make, wherever in the recording they are.

\b
Examples:
  scaly-viz export last --to bug.otlp.jsonl.zst --redact
  scaly-viz export cartpole --to cartpole.html
  scaly-viz export cartpole --to cartpole.c
  scaly-viz export last --step fuse_ranges --to fused.svg
  scaly-viz export 3 4 --to runs.perfetto-trace
  scaly-viz export --all --to c/ --format c
"""


@click.command(
    "export",
    cls=NumberedCommand,
    help=_HELP,
    short_help="Write recordings to files of other formats.",
    epilog=exit_codes.epilog(),
    context_settings={"ignore_unknown_options": True},
)
@click.argument("recordings", nargs=-1, metavar="[RECORDING]...", shell_complete=completing.sides)
@click.option(
    "--to",
    metavar="PATH",
    required=True,
    help="The file or folder; - is standard output.",
    shell_complete=completing.files,
)
@click.option(
    "--format",
    "format_name",
    metavar="FORMAT",
    help="otlp, json, html, perfetto, chrome, c, dot, svg, asm or txt.  [default: by the suffix of PATH]",
    shell_complete=completing.formats,
)
@click.option("--all", "everything", is_flag=True, help="All recordings that there are.")
@click.option(
    "--step",
    metavar="STEP",
    help="Which step, for formats that hold one: as for show.",
    shell_complete=completing.steps,
)
@click.option(
    "--boxes",
    type=click.IntRange(1, 3000),
    metavar="N",
    help="How many boxes of a graph to open, level by level.  [default: 45]",
)
@click.option("--redact", is_flag=True, help="Take out what tells of people and machines.")
@click.option(
    "--keep",
    multiple=True,
    metavar="KIND",
    help="What --redact is to leave: paths, hosts, users, processes, stacktraces, labels, others;"
    " may be given several times.",
    shell_complete=completing.redacted_kinds,
)
@click.option("--force", is_flag=True, help="Replace files that exist.")
@json_option
@reading_options
def command(  # noqa: PLR0913, PLR0917 - click hands over each option
    recordings: tuple[str, ...],
    to: str,
    format_name: str | None,
    everything: bool,
    step: str | None,
    boxes: int | None,
    redact: bool,
    keep: tuple[str, ...],
    force: bool,
    as_json: bool,
    path: str | None,
    strict: bool,
) -> None:
    """Write recordings to files."""
    from scaly_viz.cli import export_progress, exporting, output
    from scaly_viz.exports import files, formats

    if everything and recordings:
        raise click.UsageError("either --all or names of recordings")
    if keep and not redact:
        raise click.UsageError("--keep says what --redact leaves: give --redact, too")
    target = exporting.target(to, format_name)
    if as_json and target.is_standard_output:
        raise click.UsageError("--json and --to - would both print")
    if step is not None and target.format.holds != "step":
        raise click.UsageError(f"--step: {target.format.name} holds whole recordings")
    if boxes is not None and target.format.name not in exporting.DRAWN:
        raise click.UsageError("--boxes is for graphs: dot and svg")
    if target.path and not target.is_folder:
        # Before anything is read, which may take long.
        files.check_free(target.path, force=force)
    words = recordings or ("last",)
    picked = exporting.pick(path, () if everything else words, strict=strict)
    options = formats.Options(exporting.stepper(step), boxes or formats.BOXES, output.warn)
    kept = exporting.kinds(keep) if redact else None
    with export_progress.shown(options) as shown:
        exported = exporting.export(picked, target, shown, keep=kept, force=force)
    if as_json:
        output.write_json([each.as_json() for each in exported.written])
    elif not target.is_standard_output:
        output.write("".join(f"{each.in_words()}\n" for each in exported.written))
    exported.fail_if_incomplete()
