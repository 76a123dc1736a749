"""Owns following a name from one text to another: through renumbering, moves and new names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from scaly_viz.analysis.scanners import ScannedText, Scope
from scaly_viz.analysis.text_model import Occurrence, Role

type Aligned = Callable[[Sequence[str], Sequence[str]], Sequence[int]]
"""Returns for each line of one text its line in another, from 0, or -1."""

_DEFINITION_VOTES = 3
_PARAMETERS: tuple[Role, ...] = ("input", "output")
# What scaly calls the C functions of a procedure: itself, its raw form, its loops over lanes.
RAW = "_raw"
_LANES = "_lanes_"


@dataclass(frozen=True, slots=True)
class Name:
    """A name in the procedure ``scope``; that of a procedure itself is in the whole text, scope ``""``."""

    name: str
    scope: str
    is_procedure: bool = False

    def uses(self, text: ScannedText) -> Iterator[tuple[int, Occurrence]]:
        """The places in ``text`` that have it."""
        for scope in text.named(self.scope):
            yield from text.uses(self.name, scope, is_procedure=self.is_procedure)


def follow(
    name: Name, one: ScannedText, other: ScannedText, lines: Sequence[int], *, within: bool = False
) -> Name | None:
    """Return what ``name`` of one text is called in the other, None where it is not there.

    ``lines`` says which line of the other text each line of the one is, counted from 0. Where lines
    that have the name correspond, what stands in its place there is its name; else it keeps its name
    if the procedure still has it. ``within`` the same function only: where texts show functions
    besides each other, and none is ever inlined, and where a mere number is no name to keep.
    """
    votes: Counter[Name] = Counter()
    for line in dict.fromkeys(line for line, _ in name.uses(one)):
        partner = lines[line - 1]
        if partner < 0:
            continue
        names, theirs = one.names(line), other.names(partner + 1)
        if len(names) != len(theirs):
            continue
        scope = "" if name.is_procedure else other.scope_at(partner + 1).name
        if within and scope != name.scope:
            continue
        for use, found in zip(names, theirs, strict=True):
            if use.name == name.name and use.is_procedure == name.is_procedure:
                weight = 1 if use.access == "read" else _DEFINITION_VOTES
                votes[Name(found.name, scope, name.is_procedure)] += weight
    if votes:
        return votes.most_common(1)[0][0]
    is_number = within and name.name.isdigit()
    return name if not is_number and any(True for _ in name.uses(other)) else None


def parameters(text: ScannedText, scope: Scope) -> dict[Role, list[str]]:
    """Return the inputs and outputs of a procedure, in order."""
    found: dict[Role, dict[str, None]] = {role: {} for role in _PARAMETERS}
    head = text.lines[scope.line - 1]
    for each in text.names(scope.line):
        if each.is_procedure:
            continue
        declared = text.scanner.declared(head, each.name)
        if declared is not None and declared[0] in found:
            found[declared[0]][each.name] = None
    return {role: list(names) for role, names in found.items()}


def follow_parameter(name: Name, one: ScannedText, other: ScannedText) -> Name | None:
    """Return the input or output of the other text's procedure that has the place of ``name``.

    Languages name them their own way: the second input is the second input.
    """
    if name.is_procedure:
        return name if any(True for _ in name.uses(other)) else None
    for scope, there in zip(one.named(name.scope), other.named(name.scope), strict=False):
        ours, theirs = parameters(one, scope), parameters(other, there)
        for role in _PARAMETERS:
            if name.name in ours[role] and len(ours[role]) == len(theirs[role]):
                return Name(theirs[role][ours[role].index(name.name)], name.scope)
    return None


def is_function_of(procedure: str, function: str) -> bool:
    """Tell whether a C function is made of the program's ``procedure``."""
    return function in (procedure, procedure + RAW) or function.startswith(procedure + _LANES)


def names_in_entry(program: ScannedText, scope: Scope) -> dict[str, str]:
    """Return what the inputs and outputs of a procedure are called in its C function, if that is the entry."""
    found = parameters(program, scope)
    arrays: tuple[tuple[Role, str], ...] = (("input", "arg"), ("output", "res"))
    return {name: f"{array}[{at}]" for role, array in arrays for at, name in enumerate(found[role])}


def parameter_of(called: str, program: ScannedText, scope: Scope) -> str | None:
    """Return which input or output of a procedure is ``called`` so in the C, None where it is none."""
    names = {there: name for name, there in names_in_entry(program, scope).items()}
    return names.get(called)


def names_in_code(name: Name, program: ScannedText, code: ScannedText) -> list[tuple[str, Scope]]:
    """Return what ``name`` of the last program is called in the C functions made of its procedure."""
    if name.is_procedure:
        return [(each, code.scope_at(0)) for each in (name.name, name.name + RAW)]
    found: list[tuple[str, Scope]] = []
    in_entry: str | None = None
    for scope in program.named(name.scope)[-1:]:
        in_entry = names_in_entry(program, scope).get(name.name)
    for scope in code.scopes:
        if not is_function_of(name.scope, scope.name):
            continue
        found.append((name.name, scope))
        if scope.name == name.scope and in_entry is not None:
            found.append((in_entry, scope))
    return found
