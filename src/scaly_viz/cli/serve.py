"""Owns ``scaly-viz serve``: the viewer, for any number of sources."""

from __future__ import annotations

import re
from difflib import get_close_matches
from pathlib import Path

import click

from scaly_viz.cli import completing, exit_codes
from scaly_viz.errors import ScalyVizError

_HELP = """\
Serve the viewer until interrupted (Ctrl-C).

Each SOURCE is a file or folder of recordings: scaly-viz's own, any OTLP JSON lines, or scaly.viz's
recordings.json; or the address of a tracing backend, jaeger:URL or tempo:URL. Without one, the
recordings of this user are shown, those to come too.

\b
Examples:
  scaly-viz serve --browser
  scaly-viz serve --port 8080 run-7/recordings.jsonl
  scaly-viz serve jaeger:http://localhost:16686
"""

# Of an address, as jaeger:http://host:16686, the viewer will say whether it is one.
_ADDRESS = re.compile(r"(jaeger|tempo):.*|\w+://.+", re.IGNORECASE)


@click.command(
    "serve",
    help=_HELP,
    short_help="Serve the viewer (the default).",
    epilog=exit_codes.epilog(
        {
            exit_codes.DONE: "interrupted (Ctrl-C), which is how it ends",
            exit_codes.INTERRUPTED: "",
            exit_codes.PIPE_CLOSED: "",
        }
    ),
)
@click.argument("sources", nargs=-1, metavar="[SOURCE]...", shell_complete=completing.files)
@click.option(
    "--host", default="127.0.0.1", show_default=True, help="Address to listen on; 0.0.0.0 is all."
)
@click.option(
    "--port",
    default=8000,
    show_default=True,
    type=click.IntRange(0, 65535),
    help="0: any free one.",
)
@click.option(
    "--recording-path",
    "path",
    metavar="PATH",
    help="The same as SOURCE, but it may be a file that is yet to come.",
)
@click.option("--browser", is_flag=True, help="Open a browser.")
@click.option(
    "--recording", metavar="ID", help="Open a browser at the recording that has this whole id."
)
@click.pass_context
def command(
    ctx: click.Context,
    sources: tuple[str, ...],
    host: str,
    port: int,
    path: str | None,
    browser: bool,
    recording: str | None,
) -> None:
    """Serve the viewer."""
    from scaly_viz_viewer import serve

    paths = [_existing(source, ctx) for source in sources]
    if path is not None:
        paths.append(_expected(path))
    serve(
        host=host,
        port=port,
        path=paths or None,
        open_browser=browser or recording is not None,
        recording=recording,
    )


def _existing(source: str, ctx: click.Context) -> str:
    from scaly_viz.cli import reading

    if _ADDRESS.fullmatch(source):
        return source
    try:
        return str(reading.of_recordings(source))
    except ScalyVizError as error:
        group = ctx.find_root().command
        names = group.list_commands(ctx) if isinstance(group, click.Group) else []
        close = get_close_matches(source, names, 1)
        hint = f" (did you mean the command {close[0]!r}?)" if close else ""
        raise ScalyVizError(f"{error}{hint}") from error


def _expected(path: str) -> str:
    """Return ``path`` if recordings are there or can come there."""
    from scaly_viz.cli import output, reading

    place = Path(path).expanduser()
    if _ADDRESS.fullmatch(path):
        return path
    if place.exists() or not place.parent.is_dir():
        return str(reading.of_recordings(path))
    output.warn(f"{path}: no such file yet")
    return str(place)
