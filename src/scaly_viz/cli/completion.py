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

# As click's, but for three things: a colon, which ends a word for bash, is part of ours; what is
# completed is quoted; and where files are meant, too, what else there is is not thrown away.
_BASH = r"""%(complete_func)s() {
    local IFS=$'\n' begun=${COMP_WORDS[COMP_CWORD]} before completion i last response type value word
    local -a words=()

    for ((i = 0; i <= COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        last=$((${#words[@]} - 1))
        if ((i > 1)) && [[ $word == :* || ${words[last]} == *: ]]; then
            words[last]+=$word
        else
            words+=("$word")
        fi
    done
    last=$((${#words[@]} - 1))
    before=${words[last]%%"$begun"}
    [[ $begun == *: ]] && before=${words[last]}

    response=$(env COMP_WORDS="${words[*]}" COMP_CWORD=$last %(complete_var)s=bash_complete $1)

    for completion in $response; do
        IFS=',' read -r type value <<< "$completion"
        if [[ $type == 'dir' ]]; then
            compopt -o dirnames
        elif [[ $type == 'file' ]]; then
            compopt -o default
        elif [[ $type == 'plain' ]]; then
            value=${value#"$before"}
            [[ $begun == [\'\"]* ]] || printf -v value %%q "$value"
            COMPREPLY+=("$value")
        fi
    done

    return 0
}

complete -o nosort -F %(complete_func)s %(prog_name)s
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
    from click.shell_completion import get_completion_class

    from scaly_viz.cli import output

    kind = get_completion_class(shell)
    assert kind is not None, shell
    complete = kind(ctx.find_root().command, {}, PROGRAM, "_SCALY_VIZ_COMPLETE")
    template = _BASH if shell == "bash" else complete.source_template
    output.write(template % complete.source_vars())
