"""The reference pages are made from the code, and what a command's help says of another is true."""

from __future__ import annotations

import importlib.util
import re
import shlex
from pathlib import Path
from types import ModuleType

import click
import pytest

from scaly_viz.cli import main

from .page import ROOT

# Versions of click word their help differently.
pytestmark = pytest.mark.slow


def _tool(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


write_commands = _tool("write_commands")
write_answers = _tool("write_answers")


@pytest.mark.parametrize("tool", [write_commands, write_answers], ids=lambda tool: tool.__name__)
def test_a_reference_page_is_made_from_the_code(tool: ModuleType) -> None:
    target: Path = tool.TARGET
    made = f"run tools/{tool.__name__}.py"
    assert target.read_text(encoding="utf-8") == tool.page(), made


def test_the_page_of_commands_has_every_command() -> None:
    text = write_commands.TARGET.read_text(encoding="utf-8")
    context = click.Context(main)
    names = main.list_commands(context)
    assert {"list", "show", "diff", "serve", "ship"} <= set(names)
    assert [name for name in names if f"## `scaly-viz {name}`\n" not in text] == []


@pytest.mark.parametrize("line", write_commands.examples())
def test_an_example_of_the_help_is_understood(line: str) -> None:
    words = shlex.split(re.sub(r"\s#\s.*", "", line))
    end = next((i for i, word in enumerate(words) if word in ("|", ">", "||", "&&", "&")), None)
    words = words[:end]
    while words and "=" in words[0]:
        del words[0]
    if words[0] != "scaly-viz":
        return  # a program that the example is about
    _parsed(main, words[1:])


def _parsed(
    command: click.Command, arguments: list[str], parent: click.Context | None = None
) -> None:
    """Have ``arguments`` taken apart as the command line does, without running anything."""
    name = command.name or "scaly-viz"
    with command.make_context(name, arguments, parent=parent) as context:
        rest = [*context._protected_args, *context.args]  # click has no public name for them
        if isinstance(command, click.Group) and rest:
            _, chosen, remaining = command.resolve_command(context, rest)
            assert chosen is not None, rest
            _parsed(chosen, remaining, context)
