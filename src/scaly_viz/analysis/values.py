"""Owns the life of a value: where each step has it, what it is made of, what is made of it, where it ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, groupby, islice
from operator import itemgetter

import msgspec

from scaly_viz.analysis.cost import TextCost
from scaly_viz.analysis.diff import aligned_lines, lines_of
from scaly_viz.analysis.following import (
    Aligned,
    Name,
    follow,
    follow_parameter,
    is_function_of,
    names_in_code,
    parameter_of,
)
from scaly_viz.analysis.models import scanner_of
from scaly_viz.analysis.place import Place
from scaly_viz.analysis.scanners import ScannedText, Scope
from scaly_viz.analysis.text_model import Occurrence, column_of_utf16, utf16_column
from scaly_viz.analysis.texts import text_kinds, text_of
from scaly_viz.errors import PayloadError
from scaly_viz.recording import Recording, Step

_MAX_RELATED = 200
_MAX_LINES = 1_000
_MAX_PLACES = 10_000
_EXCERPT = 300
_MAIN_KINDS = ("assembly", "code")


class Life(msgspec.Struct, frozen=True):
    """A value in one text of a step.

    ``state``: ``born`` in the first step that has it, then ``changed`` where the lines that have it are
    not those of before, else ``present``; ``gone`` in the step after the last that has it, else
    ``absent``. ``name`` is what it is called there, ``text`` the line that defines it.
    """

    step: int
    kind: str
    state: str
    name: str
    scope: str
    lines: list[int]
    definition: Place | None
    text: str


class Related(msgspec.Struct, frozen=True):
    """A value that another is made of, or that is made of it."""

    name: str
    scope: str
    place: Place


class ValueCost(msgspec.Struct, frozen=True):
    """What the lines cost that give the value its content, in one run of its procedure."""

    flops: int
    loads: int
    stores: int
    bytes: int


class Value(msgspec.Struct, frozen=True):
    """All that is known of a value, as the text that it was asked for in names it.

    ``role`` is buffer, loop, variable, input, output, procedure or ssa; word where nothing is known of the
    language. ``code`` are its places in the generated source, the first ten thousand of them.
    """

    name: str
    scope: str
    role: str
    type: str
    definition: Place | None
    life: list[Life]
    producers: list[Related]
    consumers: list[Related]
    code: list[Place]
    cost: ValueCost | None


@dataclass(slots=True)
class Texts:
    """The texts of a recording with their names, each read once."""

    recording: Recording
    aligned: Aligned = aligned_lines
    _scanned: dict[tuple[str, str, str], ScannedText | None] = field(default_factory=dict)
    _alignments: dict[tuple[str, str], Sequence[int]] = field(default_factory=dict)

    def scanned(self, step: Step, kind: str) -> ScannedText | None:
        """Return the text, None where it cannot be read."""
        payload = step.payloads.get(kind)
        key = (step.dialect, kind, payload.digest if payload else "")
        if key not in self._scanned:
            try:
                lines = lines_of(text_of(self.recording, step, kind))
            except PayloadError:
                self._scanned[key] = None
            else:
                self._scanned[key] = ScannedText.of(lines, scanner_of(step.dialect, kind))
        return self._scanned[key]

    def alignment(self, one: Step, other: Step, kind: str) -> Sequence[int]:
        """Return which line of the text of ``other`` each line of that of ``one`` is."""
        key = (one.payloads[kind].digest, other.payloads[kind].digest)
        if key not in self._alignments:
            ours, theirs = self.scanned(one, kind), self.scanned(other, kind)
            assert ours is not None, "both texts have been read"
            assert theirs is not None, "both texts have been read"
            self._alignments[key] = self.aligned(ours.lines, theirs.lines)
        return self._alignments[key]


def name_at(text: ScannedText, line: int, column: int) -> tuple[Occurrence, Scope] | None:
    """Return the name at a column, counted in UTF-16 code units, and the procedure it lies in."""
    if not 1 <= line <= len(text.lines):
        return None
    at = column_of_utf16(text.lines[line - 1], column)
    for each in text.names(line):
        if each.column <= at <= each.end_column:
            return each, text.scope_at(line)
    return None


def value_of(
    texts: Texts, step: Step, kind: str, name: Name, cost: Callable[[], TextCost | None]
) -> Value | None:
    """Return what is known of ``name`` in a text of ``step``, None where the text does not have it."""
    text = texts.scanned(step, kind)
    uses = list(name.uses(text)) if text is not None else []
    if text is None or not uses:
        return None
    role, type_, definition = _declared(text, step, kind, name, uses)
    names = _followed(texts, step, kind, name)
    found = list(_found(texts, names))
    producers, consumers = _related(text, step, kind, name, uses)
    return Value(
        name.name,
        name.scope,
        role,
        type_,
        definition,
        list(_life(found)),
        producers,
        consumers,
        list(islice(_places_in_code(found), _MAX_PLACES)),
        _cost(uses, cost()),
    )


def _declared(
    text: ScannedText, step: Step, kind: str, name: Name, uses: Sequence[tuple[int, Occurrence]]
) -> tuple[str, str, Place | None]:
    """Role, type and place of the definition: of the line that declares the name, else that writes it first."""
    defining = [use for use in uses if use[1].access != "read"] or uses[:1]
    for line, use in defining if not name.is_procedure else ():
        declared = text.scanner.declared(text.lines[line - 1], name.name)
        if declared is not None:
            return declared[0], declared[1], _place(text, step.index, kind, line, use)
    line, use = defining[0]
    role = "procedure" if name.is_procedure else "word"
    return role, "", _place(text, step.index, kind, line, use)


def _place(text: ScannedText, step: int, kind: str, line: int, use: Occurrence) -> Place:
    shown = text.lines[line - 1]
    begin, end = utf16_column(shown, use.column), utf16_column(shown, use.end_column)
    return Place(step, kind, line, begin, end)


def _followed(texts: Texts, step: Step, kind: str, name: Name) -> dict[int, tuple[Step, str, Name]]:
    """The names of a value by steps, followed to and fro from ``step``; in the main text of each step."""
    main = "assembly" if kind == "listing" and "assembly" in step.payloads else kind
    steps = [each for each in texts.recording.steps if not each.placeholder]
    at = steps.index(step)
    found = {step.index: (step, main, name)}
    for direction in (1, -1):
        known: tuple[Step, str, Name] = (step, main, name)
        others = steps[at + 1 :] if direction > 0 else steps[:at][::-1]
        for other in others:
            followed = _follow(texts, known, other)
            if followed is not None:
                known = found[other.index] = followed
    return found


def _follow(
    texts: Texts, known: tuple[Step, str, Name], other: Step
) -> tuple[Step, str, Name] | None:
    step, kind, name = known
    there = next((each for each in (kind, *_MAIN_KINDS) if each in other.payloads), None)
    if there is None:
        return None
    one, text = texts.scanned(step, kind), texts.scanned(other, there)
    if one is None or text is None:
        return None
    if other.dialect == step.dialect and there == kind:
        if other.payloads[kind].digest == step.payloads[kind].digest:
            return other, kind, name
        followed = follow(name, one, text, texts.alignment(step, other, kind))
    elif there == "code" or kind == "code":
        followed = name if there == "code" else _from_code(name, one, text)
    else:
        followed = follow_parameter(name, one, text)
    return None if followed is None else (other, there, followed)


def _from_code(name: Name, code: ScannedText, program: ScannedText) -> Name | None:
    """The name in the last program of a name in C: the same, in the procedure that the function is of."""
    for scope in program.scopes:
        if not is_function_of(scope.name, name.scope):
            continue
        if any(True for _ in program.uses(name.name, scope)):
            return Name(name.name, scope.name)
        parameter = parameter_of(name.name, program, scope) if name.scope == scope.name else None
        if parameter is not None:
            return Name(parameter, scope.name)
    return None


@dataclass(slots=True)
class _Found:
    """What of a value is in one text."""

    step: Step
    kind: str
    text: ScannedText
    uses: Sequence[tuple[int, Occurrence]]

    def places(self) -> Iterator[Place]:
        """All places in the text that have the value."""
        for line, use in self.uses:
            yield _place(self.text, self.step.index, self.kind, line, use)

    def shown(self) -> list[str]:
        """The lines that have the value, apart from its name and their indentation."""
        return [
            _without(self.text.lines[line - 1], [use for _, use in uses])
            for line, uses in groupby(self.uses, key=itemgetter(0))
        ]


def _without(line: str, uses: Sequence[Occurrence]) -> str:
    ends = [0, *(use.end_column for use in uses)]
    begins = [*(use.column for use in uses), len(line)]
    return "\0".join(line[i:j] for i, j in zip(ends, begins, strict=True)).strip()


def _found(texts: Texts, names: dict[int, tuple[Step, str, Name]]) -> Iterator[_Found]:
    program: tuple[ScannedText, Name] | None = None
    for step in texts.recording.steps:
        known = names.get(step.index)
        for kind in text_kinds(step) if not step.placeholder else ():
            text = texts.scanned(step, kind)
            if text is None:
                continue
            uses: list[tuple[int, Occurrence]] = []
            if known is not None and kind == "code" and program is not None:
                for called, scope in names_in_code(program[1], program[0], text):
                    procedure = program[1].is_procedure
                    uses += text.uses(called, scope, is_procedure=procedure)
                uses.sort(key=lambda use: (use[0], use[1].column))
            elif known is not None:
                uses = list(known[2].uses(text))
            if known is not None and kind == known[1] and kind != "code":
                program = text, known[2]
            yield _Found(step, kind, text, uses)


def _places_in_code(found: Sequence[_Found]) -> Iterator[Place]:
    return chain.from_iterable(each.places() for each in found if each.kind == "code")


def _life(found: Sequence[_Found]) -> Iterator[Life]:
    there = [each.step.index for each in found if each.uses]
    first, last = min(there, default=-1), max(there, default=-1)
    after = min((each.step.index for each in found if each.step.index > last), default=-1)
    before: dict[tuple[str, str], list[str]] = {}
    for each in found:
        index, key = each.step.index, (each.step.dialect, each.kind)
        if not each.uses:
            state = "gone" if there and index == after else "absent"
            yield Life(index, each.kind, state, "", "", [], None, "")
            continue
        shown = each.shown()
        state = "born" if index == first else "present"
        if before.setdefault(key, shown) != shown:
            state = "changed"
        before[key] = shown
        line, use = next((use for use in each.uses if use[1].access != "read"), each.uses[0])
        yield Life(
            index,
            each.kind,
            state,
            use.name,
            each.text.scope_at(line).name,
            list(dict.fromkeys(line for line, _ in each.uses))[:_MAX_LINES],
            _place(each.text, index, each.kind, line, use),
            each.text.lines[line - 1].strip()[:_EXCERPT],
        )


def _related(
    text: ScannedText, step: Step, kind: str, name: Name, uses: Sequence[tuple[int, Occurrence]]
) -> tuple[list[Related], list[Related]]:
    producers: dict[str, Related] = {}
    consumers: dict[str, Related] = {}
    loops: dict[int, dict[str, int]] = {}
    for line in dict.fromkeys(line for line, _ in uses):
        scope = text.scope_at(line)
        if scope.line == line:
            continue
        if scope.line not in loops:
            loops[scope.line] = _loops(text, scope)
        names = text.names(line)
        written = {each.name for each in names if each.access != "read"}
        is_written = name.name in written
        is_read = any(each.name == name.name and each.access == "read" for each in names)
        for each in names:
            # The variable of a loop leads the passes, and makes no value.
            if each.is_procedure or loops[scope.line].get(each.name, line + 1) <= line:
                continue
            related = producers if each.access == "read" else consumers
            wanted = is_written if related is producers else is_read
            is_new = each.name != name.name and each.name not in related
            if wanted and is_new and len(related) < _MAX_RELATED:
                place = _place(text, step.index, kind, line, each)
                related[each.name] = Related(each.name, name.scope, place)
    return list(producers.values()), list(consumers.values())


def _loops(text: ScannedText, scope: Scope) -> dict[str, int]:
    """The variables of the loops of a procedure, each with the first line that has such a loop."""
    found: dict[str, int] = {}
    for line in range(scope.line + 1, scope.end + 1):
        shown = text.lines[line - 1]
        if "for " not in shown:
            continue
        for use in text.names(line)[:1]:
            declared = text.scanner.declared(shown, use.name)
            if declared is not None and declared[0] == "loop":
                found.setdefault(use.name, line)
    return found


def _cost(uses: Sequence[tuple[int, Occurrence]], cost: TextCost | None) -> ValueCost | None:
    if cost is None or not cost.procedures:
        return None
    lines = {line for line, use in uses if use.access != "read"}
    totals = [each.total for each in cost.lines if each.line in lines and each.total is not None]
    return ValueCost(
        sum(each.flops for each in totals),
        sum(each.loads for each in totals),
        sum(each.stores for each in totals),
        sum(each.bytes for each in totals),
    )
