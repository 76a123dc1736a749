"""Owns how the command line is taken apart and how it ends: default command, exit codes, one-line errors."""

from __future__ import annotations

import importlib
import keyword
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import IO, Any, NoReturn

import click

from scaly_viz.cli import exit_codes, standard_streams
from scaly_viz.cli.characters import visible
from scaly_viz.errors import ScalyVizError

PROGRAM = "scaly-viz"


class CommandError(click.ClickException):
    """What ends a command with exit code 1 and one line."""

    def show(self, file: IO[Any] | None = None) -> None:
        """Print the line, on standard error."""
        click.echo(f"{PROGRAM}: error: {visible(self.format_message())}", file, err=file is None)


class CommandLine(click.Group):
    """The commands, each in a module of its own that is imported on use.

    What begins with no command's name belongs to the default command.
    """

    def __init__(self, *, commands_of: Sequence[str], default: str, **attributes: Any) -> None:
        super().__init__(**attributes)
        self._modules = commands_of
        self._default = default

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of the help."""
        return [*self._modules]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command."""
        if cmd_name not in self._modules:
            return None
        name = f"{cmd_name}_" if keyword.iskeyword(cmd_name) else cmd_name
        module = importlib.import_module(f"scaly_viz.cli.{name}")
        command: click.Command = module.command
        return command

    def main(self, *args: Any, **extra: Any) -> Any:
        """Begin: with streams, and then as click does."""
        standard_streams.attend()
        return super().main(*args, **extra)

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,
    ) -> click.Context:
        """Understand the arguments, which may print a help or the version."""
        try:
            return super().make_context(info_name, args, parent, **extra)
        except BrokenPipeError:
            _give_up_output()
            raise click.exceptions.Exit(exit_codes.PIPE_CLOSED) from None
        except OSError as error:
            _give_up_output()
            raise CommandError(_in_words(error)) from error

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put the default command in front of what names none."""
        own = {*self._modules, *(name for param in self.get_params(ctx) for name in param.opts)}
        if not ctx.resilient_parsing and (not args or args[0] not in own):
            args = [self._default, *args]
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; whatever it raises becomes an exit code and at most one line."""
        try:
            result = super().invoke(ctx)
            # What cannot be written should be known while an exit code can still say so.
            sys.stdout.flush()
        except KeyboardInterrupt:
            ctx.exit(exit_codes.INTERRUPTED)
        except BrokenPipeError:
            _give_up_output()
            ctx.exit(exit_codes.PIPE_CLOSED)
        except ScalyVizError as error:
            raise CommandError(str(error)) from error
        except OSError as error:
            _give_up_output()
            raise CommandError(_in_words(error)) from error
        except (click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except Exception as error:
            _fail_unexpectedly(error)
        return result


def _in_words(error: OSError) -> str:
    where = "" if error.filename is None else f"{error.filename}: "
    return f"{where}{error.strerror or error}"


def _fail_unexpectedly(error: Exception) -> NoReturn:
    from pathlib import Path

    from scaly_viz import settings

    if settings.read().strict:
        raise error
    traceback = error.__traceback__
    while traceback and traceback.tb_next:
        traceback = traceback.tb_next
    where = ""
    if traceback:
        where = f" at {Path(traceback.tb_frame.f_code.co_filename).name}:{traceback.tb_lineno}"
    raise CommandError(
        f"unexpected {type(error).__name__}{where}: {error} (a bug of scaly-viz: please report it;"
        f" {settings.STRICT.name}=1 shows the traceback)"
    ) from error


def _give_up_output() -> None:
    """Keep Python from failing at exit to write what could not be written now."""
    try:
        sys.stdout.flush()
    except OSError:
        with suppress(OSError):  # not a file of the system: nothing is written at exit
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, sys.stdout.fileno())
            os.close(null)
