"""Owns the options that several commands share."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from difflib import get_close_matches
from typing import Any

import click

from scaly_viz.cli import completing

_NEGATIVE = re.compile(r"-[0-9]+")


class SourceCommand(click.Command):
    """A command that reads recordings; the address of a backend may stand among its arguments."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Take an address for what ``--recording-path`` names."""
        from scaly_viz.sources.address import is_address

        ends = args.index("--") if "--" in args else len(args)
        for i, argument in enumerate(args[:ends]):
            if is_address(argument) and (i == 0 or args[i - 1] != _PATH):
                args = [_PATH, argument, *args[:i], *args[i + 1 :]]
                break
        return super().parse_args(ctx, args)


class NumberedArguments(click.Command):
    """A command whose arguments may be negative numbers."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Refuse what looks like an option, is none and no number either."""
        # click takes the list apart while it reads it.
        given, behind = [*args], args[args.index("--") :] if "--" in args else []
        try:
            rest = super().parse_args(ctx, args)
        except click.UsageError as error:
            # What is too much may well be what stands behind an option that there is not.
            if type(error) is click.UsageError:
                self._refuse(ctx, [each for each in given if each not in behind])
            raise
        self._refuse(ctx, [value for value in self._words(ctx) if value not in behind])
        return rest

    def _refuse(self, ctx: click.Context, values: list[str]) -> None:
        options = [opt for each in self.get_params(ctx) for opt in each.opts]
        for value in values:
            known = value.partition("=")[0] in options or value[:2] in options
            is_option = value.startswith("-") and not known
            if is_option and len(value) > 1 and not _NEGATIVE.fullmatch(value):
                close = get_close_matches(value, options)
                raise click.NoSuchOption(value, possibilities=close, ctx=ctx)

    def _words(self, ctx: click.Context) -> Iterator[str]:
        for param in self.get_params(ctx):
            value = ctx.params.get(param.name or "")
            if isinstance(param, click.Argument) and value:
                yield from value if isinstance(value, tuple) else (value,)


class NumberedCommand(NumberedArguments, SourceCommand):
    """A command that reads recordings, and whose arguments may be negative numbers."""


_PATH = "--recording-path"


def reading_options[F: Callable[..., Any]](command: F) -> F:
    """Add ``--recording-path`` and ``--strict``."""
    path = click.option(
        _PATH,
        "path",
        metavar="PATH",
        shell_complete=completing.files,
        help="File or folder to read: scaly-viz's, any OTLP JSON lines, or scaly.viz's"
        " recordings.json; plain, .gz or .zst. Or jaeger:URL, tempo:URL, for which --recording-path"
        " itself may be left out.  [default: this user's recordings]",
    )
    strict = click.option(
        "--strict",
        is_flag=True,
        help="Fail at the first thing that cannot be read, instead of warning and going on.",
    )
    return path(strict(command))


def json_option[F: Callable[..., Any]](command: F) -> F:
    """Add ``--json``."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")(
        command
    )
