"""Owns docs/commands.md: writes the page of all commands anew from the command line's own help.

Run it with the development environment's Python, from anywhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import click

from scaly_viz.cli import main

TARGET = Path(__file__).parents[1] / "docs" / "commands.md"
_INTRODUCTION = """\
# Commands

What `scaly-viz --help` and the help of each command say, in one page. The command is `scaly-viz`, with
a hyphen, or `python -m scaly_viz`: `scaly_viz` is scaly's own script.

<!-- commands: made by tools/write_commands.py -->
"""
_VERBATIM = "\b\n"


def page() -> str:
    """Return the page."""
    context = click.Context(main, info_name="scaly-viz", **main.context_settings)
    sections = [_section(main, context, 2), *_sections(main, context)]
    return _INTRODUCTION + "\n".join(sections) + "<!-- end -->\n"


def examples() -> list[str]:
    """Return the command lines of all examples."""
    return re.findall(r"^\$ (.+)$", page(), re.MULTILINE)


def _sections(group: click.Group, context: click.Context) -> Iterator[str]:
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if command is None or command.hidden:
            continue
        below = click.Context(command, info_name=name, parent=context)
        yield _section(command, below, 2)
        if isinstance(command, click.Group):
            yield from _sections(command, below)


def _section(command: click.Command, context: click.Context, level: int) -> str:
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    parts = [f"{'#' * level} `{context.command_path}`\n", f"```text\n{usage}\n```\n"]
    parts += [_paragraph(each) for each in _paragraphs(command.help or "")]
    parts.append(_options(command, context))
    parts += [_paragraph(each) for each in _paragraphs(command.epilog or "")]
    return "\n".join(part for part in parts if part)


def _paragraphs(text: str) -> list[str]:
    return [each for each in re.split(r"\n{2,}", text.strip("\n")) if each.strip()]


def _paragraph(text: str) -> str:
    if not text.startswith(_VERBATIM):
        return f"{_escaped(' '.join(text.split()))}\n"
    title, _, rest = text[len(_VERBATIM) :].partition("\n")
    lines = [line.strip() for line in rest.splitlines() if line.strip()]
    if title.rstrip(":").startswith("Example"):
        commands = "\n".join(f"$ {_command(line)}" for line in lines)
        return f"{title}\n\n```console\n{commands}\n```\n"
    return f"{title}\n\n```text\n" + "\n".join(lines) + "\n```\n"


def _command(line: str) -> str:
    """Return an example, what is said of it behind two spaces as a comment."""
    command, meaning = _split(line)
    return f"{command:<36} # {meaning}" if meaning else command


def _split(line: str) -> tuple[str, str]:
    command, _, meaning = line.partition("  ")
    return command, meaning.strip()


def _options(command: click.Command, context: click.Context) -> str:
    records = [param.get_help_record(context) for param in command.get_params(context)]
    rows = "".join(
        f"| `{_cell(names)}` | {_cell(_escaped(meaning))} |\n"
        for names, meaning in filter(None, records)
    )
    return f"| option | meaning |\n| --- | --- |\n{rows}"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _escaped(text: str) -> str:
    return re.sub(r"([*_<\[\]])", r"\\\1", text)


if __name__ == "__main__":
    TARGET.write_text(page(), encoding="utf-8")
