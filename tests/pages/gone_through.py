"""Owns going through a page: each block in its turn, and what came of it."""

from __future__ import annotations

import ast
import json
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass

from ruamel.yaml import YAML

from .outputs import agree
from .page import Block, Page
from .session import Session


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a command or block printed; ``shown`` is what the page has for it, from line ``line`` on."""

    what: str
    line: int
    shown: str
    printed: str
    ended_well: bool = True

    @property
    def is_as_shown(self) -> bool:
        """Whether it printed what the page shows, if it shows anything."""
        return not self.shown or agree(self.shown, self.printed)

    def __str__(self) -> str:
        """Return it as a message."""
        end = "prints" if self.ended_well else "fails and prints"
        return f"{self.what} {end}\n{self.printed}"


def outcomes(page: Page, session: Session, port: int) -> Iterator[Outcome]:
    """Run ``page`` from its first block to its last; a viewer listens on ``port``."""
    last = Outcome("nothing", 0, "", "")
    for block in page.blocks:
        what = f"{page.name}:{block.line}"
        if "not run" in block.orders or block.made_by_a_tool or block.language.startswith("{"):
            continue
        if "prints" in block.orders:
            last = Outcome(what, block.line, block.code.rstrip("\n"), last.printed)
        elif "file" in block.orders:
            check_form(block)
            file = session.home / block.orders["file"]
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(block.code, encoding="utf-8")
            continue
        elif block.language == "console":
            for last in _typed(block, page, session, port):
                yield last
            continue
        elif block.language in ("python", "hidden python"):
            done = session.python("\n" * (block.line - 1) + block.code, page.name)
            last = Outcome(what, block.line, "", done.printed, done.code == 0)
        elif block.language == "hidden shell":
            done = session.command(block.code)
            last = Outcome(what, block.line, "", done.printed, done.code == 0)
        else:
            check_form(block)
            assert block.language != "text", f"{what}: who says that it is so?"
            continue
        yield last


def _typed(block: Block, page: Page, session: Session, port: int) -> Iterator[Outcome]:
    commands = block.commands()
    for command in commands:
        is_last = command is commands[-1]
        serves = "serves" in block.orders
        text = command.text
        if serves:
            text = re.sub(r"\s*&?\s*(#.*)?$", "", text)
            text = text if "--port" in text else f"{text} --port {port}"
        done = session.command(text, serves=serves)
        expected = int(block.orders.get("exits", 0)) if is_last else 0
        line = command.line + 1 + command.text.count("\n")
        what = f"{page.name}:{command.line}: {command.text}"
        yield Outcome(what, line, command.shown, done.printed, done.code == expected)


def check_form(block: Block) -> None:
    """Fail where a block that is no program is not what it says it is."""
    match block.language:
        case "python":
            ast.parse(block.code)
        case "yaml":
            YAML(typ="safe").load(block.code)
        case "toml":
            tomllib.loads(block.code)
        case "json":
            json.loads(block.code)
        case "text" | "diff":
            pass
        case language:
            raise AssertionError(f"line {block.line}: nothing is known about {language!r}")
