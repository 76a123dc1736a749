"""Owns finding names in texts without reading them whole: what a reader of a language gives, and for any text."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from scaly_viz.analysis.text_model import Occurrence, Role

# Longer lines are tables of constants, in which nothing is named.
LONG_LINE = 100_000
# Lines whose names are remembered: each question takes the lines of a few names apart, often.
_REMEMBERED = 2_000
# A string in any of scaly's texts; one that does not end goes to the end of the line.
STRING = re.compile(r'"(?:[^"\\]|\\.?)*+"?')


@dataclass(frozen=True, slots=True)
class Scope:
    """A procedure of a text, from its head to its last line; lines count from 1."""

    name: str
    line: int
    end: int


class Scanner(Protocol):
    """Finds names in the texts of one language."""

    def scopes(self, lines: Sequence[str]) -> list[Scope]:
        """Return the procedures in order; names mean something within one."""

    def names(self, line: str) -> list[Occurrence]:
        """Return the names in a line from left to right."""

    def declared(self, line: str, name: str) -> tuple[Role, str] | None:
        """Return role and type of ``name`` where ``line`` says them."""


def scopes_between(heads: Sequence[tuple[str, int]], last: int) -> list[Scope]:
    """Return scopes that each end where the next begins."""
    ends = [line - 1 for _, line in heads[1:]] + [last] * bool(heads)
    return [Scope(name, line, end) for (name, line), end in zip(heads, ends, strict=True)]


def scopes_headed(lines: Sequence[str], *heads: str) -> list[Scope]:
    """Return scopes of an assembly that each begin with one of ``heads``, behind which stands their name."""
    found = [
        (line.partition("@")[2].partition("(")[0], number)
        for number, line in enumerate(lines, 1)
        if any(head in line[:200] for head in heads)
    ]
    return scopes_between(found, len(lines))


def shown_type(type_: str) -> str:
    """Return a type of an assembly, ``3x4xfloat64`` and more behind it, as ``float64 (3, 4)``."""
    *shape, dtype = _TYPE_END.split(type_, maxsplit=1)[0].split("x")
    return f"{dtype} ({', '.join(shape)}{',' * (len(shape) == 1)})"


_TYPE_END = re.compile("[, ]")


@dataclass(frozen=True, slots=True)
class ScannedText:
    """A text with its scanner and its procedures."""

    lines: Sequence[str]
    scanner: Scanner
    scopes: Sequence[Scope]
    _names: dict[int, list[Occurrence]] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of(cls, lines: Sequence[str], scanner: Scanner) -> ScannedText:
        """Return the text of these lines."""
        return cls(lines, scanner, scanner.scopes(lines))

    def scope_at(self, line: int) -> Scope:
        """Return the procedure that ``line`` lies in; outside of all, the whole text, without a name."""
        at = bisect_right(self.scopes, line, key=lambda scope: scope.line) - 1
        if at >= 0 and line <= self.scopes[at].end:
            return self.scopes[at]
        return Scope("", 1, len(self.lines))

    def named(self, scope: str) -> list[Scope]:
        """Return the procedures of this name; the whole text where it is empty."""
        if not scope:
            return [Scope("", 1, len(self.lines))]
        return [each for each in self.scopes if each.name == scope]

    def names(self, line: int) -> list[Occurrence]:
        """Return the names in the line of this number."""
        found = self._names.get(line)
        if found is None:
            text = self.lines[line - 1]
            found = self.scanner.names(text) if len(text) <= LONG_LINE else []
            if len(self._names) >= _REMEMBERED or len(found) > _REMEMBERED:
                self._names.clear()
            self._names[line] = found
        return found

    def uses(
        self, name: str, scope: Scope, *, is_procedure: bool = False
    ) -> Iterator[tuple[int, Occurrence]]:
        """The places in ``scope`` that have ``name``, of a procedure or of something else."""
        # Not each line that has i_1 in i_10 need be taken apart.
        whole = re.compile(re.escape(name) + r"(?!\w)" * (name[-1:].isalnum() or name[-1:] == "_"))
        for line in range(scope.line, scope.end + 1):
            if whole.search(self.lines[line - 1]):
                for each in self.names(line):
                    if each.name == name and each.is_procedure == is_procedure:
                        yield line, each


class WordScanner:
    """Takes every word for a name: for languages that nobody has written a reader for."""

    _WORD = re.compile(r"[^\W\d]\w*|%\w+")

    def scopes(self, lines: Sequence[str]) -> list[Scope]:
        """Return no procedures."""
        return []

    def names(self, line: str) -> list[Occurrence]:
        """Return the words."""
        return [Occurrence(m[0], m.start(), m.end(), "read") for m in self._WORD.finditer(line)]

    def declared(self, line: str, name: str) -> tuple[Role, str] | None:
        """Return nothing: nothing is known of a word."""
        return None
