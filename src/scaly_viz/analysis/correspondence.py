"""Owns which lines of one text correspond to a line of another: in other steps, listings and the source."""

from __future__ import annotations

import itertools
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import msgspec

from scaly_viz.analysis.expression_lines import expression_lines, inverse
from scaly_viz.analysis.following import (
    RAW,
    Name,
    follow,
    is_function_of,
    names_in_code,
    parameter_of,
)
from scaly_viz.analysis.lowering import Lowering
from scaly_viz.analysis.scanned_texts import Texts
from scaly_viz.analysis.scanners import ScannedText, Scope
from scaly_viz.analysis.text_listing import listing_lines
from scaly_viz.recording import Step

# More lines than this are not followed from text to text.
_MOST = 1_000


class Lines(msgspec.Struct, frozen=True):
    """The lines that correspond, from 1; none where there is nothing that does."""

    lines: list[int]


def corresponding(
    texts: Texts, step: Step, kind: str, line: int, to_step: Step, to_kind: str
) -> Lines:
    """Return the lines of a text of ``to_step`` that correspond to ``line`` of a text of ``step``."""
    text = texts.scanned(step, kind)
    if text is None or not 1 <= line <= len(text.lines):
        return Lines([])
    lines = [line]
    # From a listing by way of its assembly, from which the other texts are made.
    if kind == "listing" and "assembly" in step.payloads and (step, kind) != (to_step, to_kind):
        lines, kind = _beside(texts, step, "listing", "assembly", lines), "assembly"
    target = "assembly" if to_kind == "listing" and "assembly" in to_step.payloads else to_kind
    if "expr" in (step.dialect, to_step.dialect) and step.dialect != to_step.dialect:
        lines = _through_lowering(texts, step, kind, lines, to_step, target)
    elif kind == target and kind in to_step.payloads and kind in step.payloads:
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
    current = list(lines)[:_MOST]
    for one, other in itertools.pairwise(chain):
        if one.payloads[kind].digest == other.payloads[kind].digest:
            continue
        followed: Followed = {}
        current = [
            there
            for line in current
            if (there := partner_of(texts, one, other, kind, line, followed)) is not None
        ]
    return current


type Followed = dict[tuple[str, int], tuple[list[int], list[int]]]
"""Where each name of a procedure gets its content, and where it does in the next text."""


def partner_of(
    texts: Texts, one: Step, other: Step, kind: str, line: int, known: Followed
) -> int | None:
    """Return the line of the next text: the one aligned with it, else that which gives the same name its content.

    None where there is no such line. ``known`` is filled with what was found out on the way.
    """
    partners = texts.alignment(one, other, kind)
    if not 1 <= line <= len(partners):
        return None
    if partners[line - 1] >= 0:
        return partners[line - 1] + 1
    ours, theirs = texts.scanned(one, kind), texts.scanned(other, kind)
    written = [use for use in ours.names(line) if use.access != "read"] if ours else []
    if ours is None or theirs is None or len(written) != 1:
        return None
    name, scope = written[0].name, ours.scope_at(line)
    key = (name, scope.line)
    if key not in known:
        followed = follow(Name(name, scope.name), ours, theirs, partners)
        there: list[int] = []
        if followed is not None:
            for to in theirs.named(followed.scope):
                there += _writes(theirs, followed.name, to)
        known[key] = _writes(ours, name, scope), there
    places, there = known[key]
    at = bisect_left(places, line)
    found = len(places) == len(there) and places[at : at + 1] == [line]
    return there[at] if found else None


def _through_lowering(
    texts: Texts, step: Step, kind: str, lines: Sequence[int], to_step: Step, to_kind: str
) -> list[int]:
    """Follow lines between an expression and a later text, by way of the first program."""
    first = texts.first_program()
    expression = step if step.dialect == "expr" else to_step
    if first is None or "assembly" not in expression.payloads:
        return []
    lowering = texts.lowering(expression, first)
    if lowering is None:
        return []
    if step is expression:
        normalized = _normalized(texts, step, lines)
        if normalized is not None:
            lines = _between(texts, step, normalized, "assembly", lines)
            lowering = texts.lowering(normalized, first) or lowering
        known = lowered_lines(lowering)
        found = sorted({there for line in lines for there in known.get(line, ())})
        if to_kind == "code":
            return _to_code(texts, first, found, to_step)
        return _between(texts, first, to_step, "assembly", found)
    back = inverse(lowered_lines(lowering))
    if kind == "code":
        lines = _from_code(texts, step, lines, first)
    elif step is not first:
        lines = _between(texts, step, first, "assembly", lines)
    return sorted({there for line in lines for there in back.get(line, ())})


def _normalized(texts: Texts, expression: Step, lines: Sequence[int]) -> Step | None:
    """The step whose text shows the function of ``lines`` as it was lowered, if that is another one."""
    written = texts.scanned(expression, "assembly")
    scopes = {written.scope_at(line).name for line in lines} if written is not None else set()
    names = {f"normalized:{scope}" for scope in scopes}
    if len(names) != 1 or expression.name in names:
        return None
    return next((s for s in texts.recording.steps if s.name in names), None)


def lowered_lines(lowering: Lowering) -> dict[int, list[int]]:
    """Return what names alone tell of the lines, and which lines write the storage of a value."""
    known = expression_lines(lowering.expression, lowering.program)
    for line, there in lowering.lines().items():
        known[line] = sorted({*known.get(line, ()), *there})
    return known


def last_program(texts: Texts, code: Step) -> Step | None:
    """Return the step whose assembly the source was printed from."""
    before = [each for each in texts.recording.steps if each.index < code.index]
    return next((each for each in reversed(before) if "assembly" in each.payloads), None)


def code_lines(texts: Texts, code_step: Step) -> dict[int, list[int]]:
    """Return for lines of the last program those of the source that is made of it."""
    last = last_program(texts, code_step)
    program = texts.scanned(last, "assembly") if last is not None else None
    code = texts.scanned(code_step, "code")
    if program is None or code is None:
        return {}
    source = _Source(program, code)
    found = {line: source.lines(line) for line in range(1, len(program.lines) + 1)}
    return {line: there for line, there in found.items() if there}


def program_lines(texts: Texts, code_step: Step) -> dict[int, list[int]]:
    """Return for lines of the source those of the last program that it is made of."""
    last = last_program(texts, code_step)
    code = texts.scanned(code_step, "code")
    if last is None or code is None:
        return {}
    found = {
        line: _from_code(texts, code_step, [line], last) for line in range(1, len(code.lines) + 1)
    }
    return {line: there for line, there in found.items() if there}


def _to_code(texts: Texts, step: Step, lines: Sequence[int], code_step: Step) -> list[int]:
    last = last_program(texts, code_step)
    if last is None:
        return []
    lines = _between(texts, step, last, "assembly", lines)
    program, code = texts.scanned(last, "assembly"), texts.scanned(code_step, "code")
    if program is None or code is None:
        return []
    source = _Source(program, code)
    return [there for line in lines for there in source.lines(line)]


def _from_code(texts: Texts, code_step: Step, lines: Sequence[int], step: Step) -> list[int]:
    last = last_program(texts, code_step)
    if last is None:
        return []
    program, code = texts.scanned(last, "assembly"), texts.scanned(code_step, "code")
    if program is None or code is None:
        return []
    wanted = set(lines)
    source = _Source(program, code)
    found: set[int] = set()
    for scope in program.scopes:
        there = [line for line in lines if is_function_of(scope.name, code.scope_at(line).name)]
        if not there:
            continue
        # Only lines with a name that the source's have can correspond to them.
        names = {use for line in there for use in source.names_of_program(scope, line)}
        numbers = {scope.line}
        for name, is_procedure in names:
            uses = program.uses(name, scope, is_procedure=is_procedure)
            numbers.update(number for number, use in uses if is_procedure or use.access != "read")
        found.update(number for number in numbers if wanted.intersection(source.lines(number)))
    return _between(texts, last, step, "assembly", sorted(found))


@dataclass(slots=True)
class _Source:
    """The last program and the source made of it; what corresponds is looked up once per name."""

    program: ScannedText
    code: ScannedText
    _known: dict[tuple[int, str, bool], tuple[list[int], list[int]]] = field(default_factory=dict)

    def names_of_program(self, scope: Scope, line: int) -> Iterator[tuple[str, bool]]:
        """What the names in a line of the source may be called in the procedure ``scope``."""
        for use in self.code.names(line):
            yield use.name, use.is_procedure
            if use.is_procedure:
                yield use.name.removesuffix(RAW), True
            elif parameter := parameter_of(use.name, self.program, scope):
                yield parameter, False

    def lines(self, line: int) -> list[int]:
        """The lines of the source that give the same name its content as ``line`` does.

        Where a name gets its content in several places, the first corresponds to the first.
        """
        scope = self.program.scope_at(line)
        if scope.line == line:
            return [each.line for each in self.code.scopes if is_function_of(scope.name, each.name)]
        names = self.program.names(line)
        written = next((use for use in names if use.is_procedure), None)
        if written is None:
            written = next((use for use in names if use.access != "read"), None)
        if written is None:
            return []
        ours, theirs = self._places(scope, written.name, is_procedure=written.is_procedure)
        at = bisect_left(ours, line)
        if len(ours) == len(theirs) and ours[at : at + 1] == [line]:
            return [theirs[at]]
        return theirs

    def _places(
        self, scope: Scope, name: str, *, is_procedure: bool
    ) -> tuple[list[int], list[int]]:
        """Where the program and the source call a procedure, or give a name its content."""
        key = (scope.line, name, is_procedure)
        if key not in self._known:
            if is_procedure:
                found = self._calls(scope, name)
            else:
                ours = [each for each in _writes(self.program, name, scope) if each != scope.line]
                theirs: list[int] = []
                for called, function in names_in_code(
                    Name(name, scope.name), self.program, self.code
                ):
                    writes = _writes(self.code, called, function)
                    theirs += [each for each in writes if each != function.line]
                found = ours, theirs
            self._known[key] = found[0], sorted(set(found[1]))
        return self._known[key]

    def _calls(self, scope: Scope, name: str) -> tuple[list[int], list[int]]:
        calls = self.program.uses(name, scope, is_procedure=True)
        theirs = [
            number
            for function in self.code.scopes
            if is_function_of(scope.name, function.name)
            for called in (name, name + RAW)
            for number, _ in self.code.uses(called, function, is_procedure=True)
            if number != function.line
        ]
        return list(dict.fromkeys(number for number, _ in calls)), theirs


def _writes(text: ScannedText, name: str, scope: Scope) -> list[int]:
    uses = text.uses(name, scope)
    return list(dict.fromkeys(line for line, use in uses if use.access != "read"))
