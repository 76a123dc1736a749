"""Owns the tests of what every command says of itself."""

from __future__ import annotations

import click
import pytest

from scaly_viz.cli import main

from .running import output_of

COMMANDS = main.list_commands(click.Context(main))


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_explains_itself_by_examples_exit_codes_and_every_option(name: str) -> None:
    text = output_of(name, "--help")
    assert f"scaly-viz {name}" in text.split("Examples:\n")[1].split("Options:")[0]
    assert "Exit codes:\n    0 " in text
    command = main.get_command(click.Context(main), name)
    assert command is not None
    options = [each for each in command.params if isinstance(each, click.Option)]
    assert [option.name for option in options if not option.help] == []


@pytest.mark.parametrize("name", COMMANDS)
def test_help_fits_a_terminal_of_100_columns(name: str) -> None:
    assert max(map(len, output_of(name, "--help").splitlines())) <= 100


def test_what_prints_figures_prints_json_too() -> None:
    without = {"serve", "completion"}
    for name in set(COMMANDS) - without:
        assert "--json" in output_of(name, "--help"), name
