"""Owns texts whose names are all known at once: for whoever asks about every name, not about one."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from scaly_viz.analysis.scanners import LONG_LINE, ScannedText, Scanner, Scope
from scaly_viz.analysis.text_model import Occurrence

type _Uses = tuple[list[int], list[Occurrence]]


@dataclass(frozen=True, slots=True)
class IndexedText(ScannedText):
    """A text with the places of all names: each question costs no more than its answer."""

    _by_line: Sequence[list[Occurrence]] = field(default=(), repr=False, compare=False)
    _by_name: dict[tuple[str, bool], _Uses] = field(default_factory=dict, repr=False, compare=False)

    def names(self, line: int) -> list[Occurrence]:
        """Return the names in the line of this number."""
        return self._by_line[line - 1]

    def uses(
        self, name: str, scope: Scope, *, is_procedure: bool = False
    ) -> Iterator[tuple[int, Occurrence]]:
        """The places in ``scope`` that have ``name``, of a procedure or of something else."""
        lines, found = self._by_name.get((name, is_procedure), ((), ()))
        for at in range(bisect_left(lines, scope.line), len(lines)):
            if lines[at] > scope.end:
                break
            yield lines[at], found[at]


class Indexer:
    """Makes indexed texts, and reads each distinct line once."""

    def __init__(self) -> None:
        self._known: dict[Scanner, dict[str, list[Occurrence]]] = {}

    def index(self, lines: Sequence[str], scanner: Scanner) -> IndexedText:
        """Return the text of these lines."""
        known = self._known.setdefault(scanner, {})
        by_line = []
        by_name: dict[tuple[str, bool], _Uses] = {}
        for number, line in enumerate(lines, 1):
            names = known.get(line)
            if names is None:
                names = scanner.names(line) if len(line) <= LONG_LINE else []
                known[line] = names
            by_line.append(names)
            for each in names:
                at, uses = by_name.setdefault((each.name, each.is_procedure), ([], []))
                at.append(number)
                uses.append(each)
        return IndexedText(lines, scanner, scanner.scopes(lines), {}, by_line, by_name)
