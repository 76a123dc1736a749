"""Owns standard output: what a terminal gets, and what a pipe or a file gets, unwrapped and exact."""

from __future__ import annotations

import codecs
import io
import itertools
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

import click

from scaly_viz.cli.characters import ascii_json, visible, visible_json

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

# Wider than any table: a reader of a pipe wants one line a row.
UNLIMITED = 1_000_000


def is_terminal() -> bool:
    """Tell whether standard output is a terminal."""
    return sys.stdout.isatty()


def console() -> Console:
    """Return rich's view of standard output, in which every text is taken as it is."""
    from rich.console import Console

    width = None if is_terminal() else UNLIMITED
    return Console(width=width, markup=False, highlight=False, emoji=False)


def show(to: Console, texts: Iterable[Text | str]) -> None:
    """Print texts without wrapping them."""
    with to.capture() as capture:
        for text in texts:
            to.print(text, soft_wrap=True)
    write(capture.get())


def write(text: str) -> None:
    """Print ``text``; what the output's encoding lacks is escaped."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    sys.stdout.write(text)
    sys.stdout.flush()


def write_bytes(data: bytes) -> None:
    """Print ``data`` unchanged."""
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def write_json(value: object) -> None:
    """Print ``value`` as JSON: one line, on a terminal indented."""
    import msgspec

    text = to_json(value)
    if is_terminal():
        text = msgspec.json.format(text, indent=2)
    # Others could be replaced by what JSON does not know as an escape.
    write(f"{text}\n" if _is_utf8() else f"{ascii_json(text)}\n")


def to_json(value: object) -> str:
    """Return ``value`` as JSON text in which every character is printable."""
    import msgspec

    try:
        return visible_json(msgspec.json.encode(value).decode())
    except UnicodeEncodeError:  # a lone surrogate, which UTF-8 cannot carry and JSON can escape
        import json

        return json.dumps(msgspec.to_builtins(value))


def _is_utf8() -> bool:
    return codecs.lookup(sys.stdout.encoding or "ascii").name == "utf-8"


def has_colors() -> bool:
    """Tell whether standard output is a terminal that shows colors, and its user wants them."""
    seen_by_rich = console()
    return is_terminal() and seen_by_rich.color_system is not None and not seen_by_rich.no_color


def must_have_colors() -> bool:
    """Tell whether colors are wanted in a pipe, too: ``FORCE_COLOR`` says so, unless ``NO_COLOR`` does not."""
    seen_by_rich = console()
    return seen_by_rich.is_terminal and not is_terminal() and not seen_by_rich.no_color


def page(text: str, chunks: Iterable[str], *, pager: bool) -> None:
    """Print ``chunks``, which make up ``text``, on the terminal; by a pager if they fill the screen."""
    import shutil

    columns, rows = shutil.get_terminal_size()
    if pager and _has_pager() and _height(text, columns, rows) >= rows:
        with suppress(BrokenPipeError):  # the pager was left before it had read all
            click.echo_via_pager(_writable(chunks))
    else:
        for chunk in chunks:
            write(chunk)
        write("\n")


def _has_pager() -> bool:
    """Tell whether there is a pager; click without one, and ``cat``, would only take the colors away."""
    import shlex
    import shutil

    if not sys.stdin.isatty():
        return False
    try:
        words = shlex.split(os.environ.get("PAGER", "less"))
    except ValueError:
        return False
    return bool(words) and words[0] != "cat" and shutil.which(words[0]) is not None


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
