"""Owns ``scaly-viz completion``: the script that lets a shell complete commands, recordings and steps."""

from __future__ import annotations

import click

from scaly_viz.cli import exit_codes
from scaly_viz.cli.group import PROGRAM

_HELP = """\
Print what lets a shell complete commands, options, and the ids, steps and functions of recordings.

\b
Examples:
  scaly-viz completion bash > ~/.local/share/bash-completion/completions/scaly-viz
  eval "$(scaly-viz completion zsh)"       # in ~/.zshrc, behind compinit
  scaly-viz completion fish > ~/.config/fish/completions/scaly-viz.fish
"""


@click.command(
    "completion",
    help=_HELP,
    short_help="Print the completion script of a shell.",
    epilog=exit_codes.epilog(),
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def command(ctx: click.Context, shell: str) -> None:
    """Print the script."""
    from click.shell_completion import ShellComplete, get_completion_class

    from scaly_viz.cli import output

    kind = get_completion_class(shell)
    assert kind is not None, shell
    complete = kind(ctx.find_root().command, {}, PROGRAM, "_SCALY_VIZ_COMPLETE")
    # Not by its own source(): that of bash starts a bash, to see how old it is.
    output.write(ShellComplete.source(complete))
