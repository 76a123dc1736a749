"""Owns which lines of one text correspond to a line of another: in other steps, listings and the source."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import msgspec

from scaly_viz.analysis.following import Name, follow, names_in_code
from scaly_viz.analysis.scanners import ScannedText, Scope
from scaly_viz.analysis.text_listing import listing_lines
from scaly_viz.analysis.values import Texts
from scaly_viz.recording import Step


class Lines(msgspec.Struct, frozen=True):
    """The lines that correspond, from 1; none where there is nothing that does."""

    lines: list[int]


def corresponding(
    texts: Texts, step: Step, kind: str, line: int, to_step: Step, to_kind: str
) -> Lines:
    """Return the lines of a text of ``to_step`` that correspond to ``line`` of a text of ``step``."""
    lines = [line]
    # From a listing by way of its assembly, from which the other texts are made.
    if kind == "listing" and "assembly" in step.payloads and (step, kind) != (to_step, to_kind):
        lines, kind = _beside(texts, step, "listing", "assembly", lines), "assembly"
    target = "assembly" if to_kind == "listing" and "assembly" in to_step.payloads else to_kind
    if kind == target and kind in to_step.payloads and kind in step.payloads:
        lines = _between(texts, step, to_step, kind, lines)
    elif target == "code" and kind == "assembly":
        lines = _to_code(texts, step, lines, to_step)
    elif kind == "code" and target == "assembly":
        lines = _from_code(texts, step, lines, to_step)
    else:
        lines = []
    if target != to_kind:
        lines = _beside(texts, to_step, "assembly", "listing", lines)
    return Lines(sorted(set(lines)))


def _beside(texts: Texts, step: Step, one: str, other: str, lines: Sequence[int]) -> list[int]:
    """The lines of the listing for those of the assembly of its step, or the other way round."""
    assembly, listing = texts.scanned(step, "assembly"), texts.scanned(step, "listing")
    if assembly is None or listing is None:
        return []
    numbers = listing_lines(assembly.lines, listing.lines)
    if numbers is None:
        return []
    if one == "listing":
        return [numbers[line - 1] for line in lines if 1 <= line <= len(numbers)]
    at = {number: line for line, number in enumerate(numbers, 1)}
    return [at[line] for line in lines if line in at]


def _between(texts: Texts, step: Step, to_step: Step, kind: str, lines: Sequence[int]) -> list[int]:
    """Follow lines from one text to the next other one, up to ``to_step``, or back."""
    forward = step.index <= to_step.index
    low, high = sorted((step.index, to_step.index))
    between = [
        each
        for each in texts.recording.steps
        if low <= each.index <= high
        and each.dialect == step.dialect
        and kind in each.payloads
        and texts.scanned(each, kind) is not None
    ]
    if step.dialect != to_step.dialect or step not in between or to_step not in between:
        return []
    chain = between if forward else between[::-1]
    current = list(lines)
    for one, other in itertools.pairwise(chain):
        if one.payloads[kind].digest == other.payloads[kind].digest:
            continue
        current = [
            there
            for line in current
            if (there := _partner(texts, one, other, kind, line)) is not None
        ]
    return current


def _partner(texts: Texts, one: Step, other: Step, kind: str, line: int) -> int | None:
    """The line of the next text: the one aligned with it, else that which gives the same name its content."""
    partners = texts.alignment(one, other, kind)
    if not 1 <= line <= len(partners):
        return None
    if partners[line - 1] >= 0:
        return partners[line - 1] + 1
    ours, theirs = texts.scanned(one, kind), texts.scanned(other, kind)
    written = [use for use in ours.names(line) if use.access != "read"] if ours else []
    if ours is None or theirs is None or len(written) != 1:
        return None
    scope = ours.scope_at(line)
    followed = follow(Name(written[0].name, scope.name), ours, theirs, partners)
    if followed is None:
        return None
    places = _writes(ours, written[0].name, scope)
    there = [
        each for to in theirs.named(followed.scope) for each in _writes(theirs, followed.name, to)
    ]
    return there[places.index(line)] if len(places) == len(there) else None


def _last_program(texts: Texts, code: Step) -> Step | None:
    """The step whose assembly the source was printed from."""
    before = [each for each in texts.recording.steps if each.index < code.index]
    return next((each for each in reversed(before) if "assembly" in each.payloads), None)


def _to_code(texts: Texts, step: Step, lines: Sequence[int], code_step: Step) -> list[int]:
    last = _last_program(texts, code_step)
    if last is None:
        return []
    lines = _between(texts, step, last, "assembly", lines)
    program, code = texts.scanned(last, "assembly"), texts.scanned(code_step, "code")
    if program is None or code is None:
        return []
    return [there for line in lines for there in _code_lines(program, code, line)]


def _from_code(texts: Texts, code_step: Step, lines: Sequence[int], step: Step) -> list[int]:
    last = _last_program(texts, code_step)
    if last is None:
        return []
    program, code = texts.scanned(last, "assembly"), texts.scanned(code_step, "code")
    if program is None or code is None:
        return []
    wanted = set(lines)
    found = [
        number
        for scope in program.scopes
        if any(_is_of(scope.name, code.scope_at(line).name) for line in lines)
        for number in range(scope.line, scope.end + 1)
        if wanted & set(_code_lines(program, code, number))
    ]
    return _between(texts, last, step, "assembly", found)


def _is_of(procedure: str, function: str) -> bool:
    return function == procedure or function.startswith((f"{procedure}_raw", f"{procedure}_lanes_"))


def _code_lines(program: ScannedText, code: ScannedText, line: int) -> list[int]:
    """The lines of the source that give the same name its content as ``line`` does.

    Where a name gets its content in several places, the first corresponds to the first.
    """
    scope = program.scope_at(line)
    if scope.line == line:
        return [each.line for each in code.scopes if _is_of(scope.name, each.name)]
    names = program.names(line)
    written = next((use for use in names if use.is_procedure), None)
    if written is None:
        written = next((use for use in names if use.access != "read"), None)
    if written is None:
        return []
    ours = [each for each in _writes(program, written.name, scope) if each != scope.line]
    theirs: list[int] = []
    for called, function in names_in_code(Name(written.name, scope.name), program, code):
        theirs += [each for each in _writes(code, called, function) if each != function.line]
    if written.is_procedure:
        calls = program.uses(written.name, scope, is_procedure=True)
        ours = list(dict.fromkeys(number for number, _ in calls))
        theirs = [
            number
            for function in code.scopes
            if _is_of(scope.name, function.name)
            for name in (written.name, f"{written.name}_raw")
            for number, _ in code.uses(name, function, is_procedure=True)
            if number != function.line
        ]
    theirs = sorted(set(theirs))
    if len(ours) == len(theirs) and line in ours:
        return [theirs[ours.index(line)]]
    return theirs


def _writes(text: ScannedText, name: str, scope: Scope) -> list[int]:
    uses = text.uses(name, scope)
    return list(dict.fromkeys(line for line, use in uses if use.access != "read"))
