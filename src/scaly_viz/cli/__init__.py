"""Owns the command ``scaly-viz``: what it is called, what it offers, and what its help says."""

from __future__ import annotations

import click

from scaly_viz._version import __version__
from scaly_viz.cli import exit_codes
from scaly_viz.cli.group import CommandLine

_HELP = """\
Show what the scaly compiler did to the functions that were marked with
scaly_viz.visualize().

Without a command it serves the viewer: "scaly-viz" the recordings of this user,
"scaly-viz SOURCE ..." those in files or folders, with the options of "scaly-viz serve". A source
that is called like a command is given as "scaly-viz serve list" or "scaly-viz ./list".

\b
Examples:
  scaly-viz                          open http://127.0.0.1:8000 for the viewer
  scaly-viz run-7/recordings.jsonl   the same for another file
  scaly-viz list                     which recordings there are
  scaly-viz show                     the steps of the newest, and what each changed
  scaly-viz show last fuse_ranges    the program as that pass left it
  scaly-viz diff last fuse_ranges    what that pass changed
  scaly-viz show -2 --kind code      the C of the last but one
  scaly-viz compare -2 -1            two recordings side by side
  scaly-viz run mpc.py               record what a script renders
  scaly-viz export --to bug.otlp.jsonl --redact   a file to show others
  scaly-viz import bug.otlp.jsonl    what others sent, among one's own
  scaly-viz ship --to URL            send what waits for a backend
  scaly-viz doctor                   what is wrong, and what to do about it
"""

_EPILOG = exit_codes.epilog(
    {exit_codes.INTERRUPTED: "interrupted (Ctrl-C); the viewer, which only ends so, ends with 0"}
)


@click.group(
    "scaly-viz",
    cls=CommandLine,
    commands_of=(
        "serve",
        "list",
        "show",
        "diff",
        "compare",
        "run",
        "export",
        "import",
        "ship",
        "prune",
        "doctor",
        "completion",
    ),
    default="serve",
    help=_HELP,
    epilog=_EPILOG,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, message="scaly-viz %(version)s")
def main() -> None:
    """Run the command that the command line names."""
