"""Owns standard output: what a terminal gets, and what a pipe or a file gets, unwrapped and exact."""

from __future__ import annotations

import io
import itertools
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import click

from scaly_viz.cli.characters import visible, visible_json

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

# Wider than any table: a reader of a pipe wants one line a row.
_UNLIMITED = 1_000_000


def is_terminal() -> bool:
    """Tell whether standard output is a terminal."""
    return sys.stdout.isatty()


def console() -> Console:
    """Return rich's view of standard output, in which every text is taken as it is."""
    from rich.console import Console

    width = None if is_terminal() else _UNLIMITED
    return Console(width=width, markup=False, highlight=False, emoji=False)


def show(to: Console, renderables: Iterable[RenderableType]) -> None:
    """Print tables and texts; in a pipe no line ends in blanks."""
    with to.capture() as capture:
        for renderable in renderables:
            to.print(renderable, soft_wrap=isinstance(renderable, str))
    text = capture.get()
    if not is_terminal():
        text = "\n".join(line.rstrip(" ") for line in text.split("\n"))
    write(text)


def write(text: str) -> None:
    """Print ``text``; what the output's encoding lacks is escaped."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    sys.stdout.write(text)
    sys.stdout.flush()


def write_bytes(data: bytes) -> None:
    """Print ``data`` unchanged."""
    stream = click.get_binary_stream("stdout")
    stream.write(data)
    stream.flush()


def write_json(value: object) -> None:
    """Print ``value`` as JSON: one line, on a terminal indented."""
    import msgspec

    text = to_json(value)
    if is_terminal():
        text = msgspec.json.format(text, indent=2)
    write(text + "\n")


def to_json(value: object) -> str:
    """Return ``value`` as JSON text in which every character is printable."""
    import msgspec

    try:
        return visible_json(msgspec.json.encode(value).decode())
    except UnicodeEncodeError:  # a lone surrogate, which UTF-8 cannot carry and JSON can escape
        import json

        return json.dumps(msgspec.to_builtins(value))


def page(text: str, chunks: Iterable[str]) -> None:
    """Print ``chunks``, which make up the lines of ``text``, in colors; by a pager if they fill the screen."""
    import shutil

    columns, rows = shutil.get_terminal_size()
    if sys.stdin.isatty() and _height(text, columns, rows) >= rows:
        click.echo_via_pager(_writable(chunks))
    else:
        for chunk in chunks:
            write(chunk)
        write("\n")


def _height(text: str, columns: int, enough: int) -> int:
    lines = itertools.islice(text.split("\n"), enough)
    return sum(1 + max(0, len(line) - 1) // columns for line in lines)


def _writable(chunks: Iterable[str]) -> Iterator[str]:
    """Escape what the encoding of the output, which the pager's input shares, lacks."""
    encoding = sys.stdout.encoding or "utf-8"
    for chunk in chunks:
        yield chunk.encode(encoding, "backslashreplace").decode(encoding)


def warn(message: str) -> None:
    """Print a warning, as one line on standard error."""
    click.echo(f"scaly-viz: warning: {visible(message)}", err=True)


def listed(items: Sequence[str], most: int = 10) -> str:
    """Return ``items`` in one line, the first ``most`` of them."""
    more = f" and {len(items) - most:,} more" if len(items) > most else ""
    return ", ".join(items[:most]) + more
