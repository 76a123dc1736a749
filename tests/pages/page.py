"""Owns a page as its test reads it: the blocks of code in their order, and what comments ask to be done with them.

Comments are seen by nobody who reads the page. Those in front of a block:

    <!-- file: NAME -->     the block is the content of this file
    <!-- prints -->         the block is what the block before it printed
    <!-- exits: N -->       its last command ends with this code
    <!-- serves -->         each of its commands serves, until the next such one or the page's end
    <!-- not run: WHY -->   the block is left out, see ``LEFT_OUT`` in ``test_blocks.py``

And anywhere, until the end of the comment:

    <!-- shell: ...         commands that are run, and not shown
    <!-- python: ...        Python that is run, and not shown

What stands between ``<!-- table: ... -->``, or the like, and ``<!-- end -->`` is made by a tool, which has a test.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from markdown_it import MarkdownIt

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"

_COMMENT = re.compile(
    r"<!--\s*(?:(?P<mark>prints|serves)|(?P<order>file|exits|not run|shell|python):(?P<what>.*?))\s*-->",
    re.DOTALL,
)
_MADE = re.compile(r"<!-- (table|trace|commands|answers): |<!-- (end) -->")
_PROMPT = "$ "
_CONTINUED = "> "


def pages() -> list[Path]:
    """Return every page that people read."""
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]


@dataclass(frozen=True, slots=True)
class Command:
    """What stands behind a prompt, and what the page shows below it."""

    line: int
    text: str
    shown: str


@dataclass(frozen=True, slots=True)
class Block:
    """A block of code, or what a comment wants to be run; its first line is ``line`` of the page."""

    line: int
    language: str
    code: str
    orders: dict[str, str] = field(default_factory=dict)
    made_by_a_tool: bool = False

    def commands(self) -> list[Command]:
        """Return what a ``console`` block runs; a line that is no command is what the one before prints."""
        found: list[tuple[int, list[str], list[str]]] = []
        for line, text in enumerate(self.code.splitlines(), start=self.line):
            if text.startswith(_PROMPT):
                found.append((line, [text.removeprefix(_PROMPT)], []))
                continue
            assert found, f"line {line}: a console block begins with a prompt"
            _, command, shown = found[-1]
            if not shown and (text.startswith(_CONTINUED) or command[-1].endswith("\\")):
                command.append(text.removeprefix(_CONTINUED))
            else:
                shown.append(text)
        return [
            Command(line, "\n".join(command), "\n".join(shown)) for line, command, shown in found
        ]


@dataclass(frozen=True)
class Page:
    """One page."""

    path: Path

    @property
    def name(self) -> str:
        """Its path in the repository."""
        return self.path.relative_to(ROOT).as_posix()

    @cached_property
    def text(self) -> str:
        """Its Markdown."""
        return self.path.read_text(encoding="utf-8")

    @cached_property
    def blocks(self) -> list[Block]:
        """All its blocks, in order."""
        blocks: list[Block] = []
        orders: dict[str, str] = {}
        made = False
        for token in MarkdownIt("commonmark").parse(self.text):
            line = token.map[0] + 1 if token.map else 0
            if token.type == "fence":
                blocks.append(Block(line + 1, token.info.strip(), token.content, orders, made))
                orders = {}
            elif token.type == "html_block":
                for mark in _MADE.finditer(token.content):
                    made = mark[2] is None
                for comment in _COMMENT.finditer(token.content):
                    order = comment["mark"] or comment["order"]
                    what = (comment["what"] or "").strip()
                    if order in ("shell", "python"):
                        blocks.append(Block(line + 1, f"hidden {order}", what))
                    else:
                        orders = {**orders, order: what}
        assert not orders, f"{self.name}: no block follows {orders}"
        return blocks
