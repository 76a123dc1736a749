"""Owns reading scaly's listing: the lines of the assembly in short, which lacks the types and closing brackets."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from scaly_viz.analysis.scanners import STRING, Scope, scopes_between
from scaly_viz.analysis.text_model import Access, Loop, Occurrence, Procedure, Role, TextModel

_WORD = re.compile(r"(?<![\w.])[^\W\d][\w.]*")
_CALLEE = re.compile(r"(?:\bcall|^ *proc) ([^\s(]+)\(")


def listing_lines(assembly: Sequence[str], listing: Sequence[str]) -> list[int] | None:
    """Return for each line of the listing the line of its step's assembly, both from 1.

    None where they do not fit: the listing has a line for each line of the assembly that isn't a
    closing bracket.
    """
    numbers = [number for number, line in enumerate(assembly, 1) if line.strip() != "}"]
    return numbers if len(numbers) == len(listing) else None


def listing_model(listing: Sequence[str], assembly: TextModel) -> TextModel | None:
    """Return what is known of a listing from the ``assembly`` of its step, None where they do not fit."""
    numbers = listing_lines(assembly.lines, listing)
    if numbers is None:
        return None
    at = {number: line for line, number in enumerate(numbers, 1)}

    def last(number: int) -> int:
        return bisect_right(numbers, number)

    procedures = [_procedure(each, at, last) for each in assembly.procedures]
    return TextModel(listing, procedures, assembly.roots, assembly.uncounted)


def _procedure(
    procedure: Procedure, at: Mapping[int, int], last: Callable[[int], int]
) -> Procedure:
    loops: dict[int, Loop] = {}
    for loop in procedure.loops:
        parent = loops[loop.parent.line] if loop.parent else None
        loops[loop.line] = replace(loop, line=at[loop.line], end=last(loop.end), parent=parent)
    return Procedure(
        procedure.name,
        at[procedure.line],
        last(procedure.end),
        {
            name: replace(declared, line=at[declared.line])
            for name, declared in procedure.names.items()
        },
        list(loops.values()),
        {at[line]: cost for line, cost in procedure.costs.items()},
        {at[line]: callees for line, callees in procedure.calls.items()},
    )


def _access(bare: str, match: re.Match[str], start: int, written_until: int) -> Access:
    """What the line does with a name: the first before an arrow or a sign is written."""
    column = match.start()
    if bare.startswith("proc ", start):
        return "declare" if bare.startswith(":", match.end()) else "read"
    if bare.startswith("for ", start):
        return "declare" if column == start + 4 else "read"
    if column >= written_until:
        return "read"
    return "write" if "[" not in bare[:column] else "read"


_HEAD = re.compile(r" *proc ([^\s(]+)\((.*)\)")
_PARAMETER = re.compile(r"\b(\w+):(\w+)(\([\d, ]*\))")
_WORDS = frozenset(
    (
        *("buffer", "call", "for", "global", "in", "int64", "kind", "pair", "print"),
        *("proc", "program", "reduce", "serial", "step", "vector"),
    )
)


@lru_cache(maxsize=8)
def _parameters(line: str) -> Mapping[str, str]:
    """The type of each parameter of the procedure whose head ``line`` is."""
    head = _HEAD.match(line)
    found = _PARAMETER.findall(head[2]) if head else []
    return {name: f"{dtype} {shape}" for name, dtype, shape in found}


class ListingScanner:
    """Finds names in listings, by what their words look like."""

    def scopes(self, lines: Sequence[str]) -> list[Scope]:
        """Return the procedures."""
        heads = [
            (found[1], number)
            for number, line in enumerate(lines, 1)
            if "proc " in line[:40] and (found := _HEAD.match(line[:4_000]))
        ]
        return scopes_between(heads, len(lines))

    def names(self, line: str) -> list[Occurrence]:
        """Return the names of a line."""
        bare = STRING.sub(lambda match: " " * len(match[0]), line)
        callee = _CALLEE.search(bare)
        start = len(bare) - len(bare.lstrip())
        head = bare.startswith("proc ", start)
        written_until = bare.find(" <- ") if " <- " in bare else bare.find(" = ")
        found = []
        for match in _WORD.finditer(bare):
            column, end = match.span()
            if callee is not None and column == callee.start(1):
                access: Access = "declare" if head else "read"
                found.append(
                    Occurrence(callee[1], column, callee.end(1), access, is_procedure=True)
                )
            elif (
                match[0] not in _WORDS and not bare.startswith(("(", " "), end)
            ) or bare.startswith((" <- ", " = ", " in ", " +", " -", " *", " /", " %"), end):
                found.append(
                    Occurrence(match[0], column, end, _access(bare, match, start, written_until))
                )
        return found

    def declared(self, line: str, name: str) -> tuple[Role, str] | None:
        """Return what a procedure's head or a loop says of ``name``."""
        if head := _HEAD.match(line):
            if head[1] == name:
                return "procedure", ""
            shown = _parameters(line).get(name)
            return ("input", shown) if shown is not None else None
        bare = line.strip()
        if bare.startswith(f"for {name} in"):
            return "loop", "int64"
        type_, _, rest = bare[: len(name) + 100].partition(" ")
        return ("variable", type_) if rest.startswith(f"{name} = ") else None
