"""Owns ``scaly-viz import``: recordings from files among one's own."""

from __future__ import annotations

import click

from scaly_viz.cli import completing, exit_codes
from scaly_viz.cli.options import json_option

_HELP = """\
Put the recordings in FILES among this user's own, or into the file that --recording-path names.

FILES are what "scaly-viz export" writes as .otlp.jsonl, .json and .html, any other OTLP JSON lines,
scaly.viz's recordings.json, plain, .gz or .zst; or folders of them. What they are is told by their
content. A recording that is there already is left as it is; one of which spans are missing gets them.

Perfetto's and Chrome's traces have times and figures only, and cannot come back.

\b
Examples:
  scaly-viz import bug.otlp.jsonl.zst
  scaly-viz import bug.html && scaly-viz show
  scaly-viz import ~/.cache/scaly/viz/recordings.json
  scaly-viz import runs/*.jsonl --recording-path all.jsonl
"""


@click.command(
    "import",
    help=_HELP,
    short_help="Put recordings from files of other formats among one's own.",
    epilog=exit_codes.epilog(),
)
@click.argument(
    "files", nargs=-1, required=True, metavar="FILE...", shell_complete=completing.files
)
@click.option(
    "--recording-path",
    "path",
    metavar="PATH",
    help="The file, or the folder, to put them into.  [default: this user's recordings]",
)
@click.option("--strict", is_flag=True, help="Fail at the first thing that cannot be read.")
@json_option
def command(files: tuple[str, ...], path: str | None, strict: bool, as_json: bool) -> None:
    """Put recordings from files among one's own."""
    from scaly_viz import sources
    from scaly_viz.cli import importing, output

    report = sources.fail if strict else output.warn
    imported = importing.run(importing.place(path), files, report)
    if as_json:
        output.write_json([each.as_json() for each in imported.arrived])
    else:
        output.write("".join(f"{each.in_words()}\n" for each in imported.arrived))
    imported.fail_if_unreadable()
