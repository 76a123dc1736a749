"""Owns the life of a value: where each step has it, what it is made of, what is made of it, where it ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, groupby, islice
from operator import itemgetter

import msgspec

from scaly_viz.analysis.cost import TextCost
from scaly_viz.analysis.following import Name, names_in_code
from scaly_viz.analysis.lowering import Lowering
from scaly_viz.analysis.place import Place, place_of
from scaly_viz.analysis.scanned_texts import ASSEMBLY, Texts
from scaly_viz.analysis.scanners import ScannedText, Scope
from scaly_viz.analysis.text_model import Occurrence, column_of_utf16
from scaly_viz.analysis.texts import text_kinds
from scaly_viz.analysis.value_relations import Related, related
from scaly_viz.analysis.value_steps import EXPRESSION, NORMALIZED, Followed, followed
from scaly_viz.recording import Step

_MAX_LINES = 1_000
_MAX_PLACES = 10_000
_EXCERPT = 300
_LISTING = "listing"
_MOST_NAMED = 6
_CLOSING = ("", "}")


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


class ValueCost(msgspec.Struct, frozen=True):
    """What the lines cost that give the value its content, in one run of its procedure.

    Of a procedure it is what one run of it costs, callees included.
    """

    flops: int
    loads: int
    stores: int
    bytes: int


class Value(msgspec.Struct, frozen=True):
    """All that is known of a value, as the text that it was asked for in names it.

    ``role`` is buffer, loop, variable, input, output, procedure or ssa; word where nothing is known of the
    language. ``code`` are its places in the generated source, the first ten thousand of them. ``note`` says
    of a value of an expression why it is not known in the program, and which outputs it goes into.
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
    note: str = ""


def name_at(text: ScannedText, line: int, column: int | None) -> tuple[Occurrence, Scope] | None:
    """Return the name at a column, counted in UTF-16 code units, and the procedure it lies in.

    Without a column it is the name that the line declares or gives its content.
    """
    if not 1 <= line <= len(text.lines):
        return None
    if column is None:
        made = [use for use in text.names(line) if use.access != "read"] or text.names(line)
        return (made[0], text.scope_at(line)) if made else None
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
    if not type_ and role == "word":
        role, type_ = _declared_in_assembly(texts, step, kind, name)
    names = followed(texts, step, kind, name)
    found = list(_found(texts, names))
    producers, consumers = related(text, step, kind, name, uses)
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
        _cost(name, uses, cost()),
        _note(texts, step, names, name),
    )


def _note(texts: Texts, step: Step, names: Mapping[int, Followed], name: Name) -> str:
    program = texts.first_program()
    if step.dialect != EXPRESSION or program is None or program.index in names:
        return ""
    lowering = texts.lowering(step, program) if ASSEMBLY in step.payloads else None
    if lowering is None:
        return ""
    normalized = f"{NORMALIZED}:{name.name if name.is_procedure else name.scope}"
    steps = texts.recording.steps
    is_lost = any(each.name == normalized and each.index not in names for each in steps)
    return unknown_note(lowering, name, is_lost=is_lost)


def unknown_note(lowering: Lowering, name: Name, *, is_lost: bool) -> str:
    """Return why a value of an expression is not known in the program, and which outputs it goes into.

    ``is_lost`` where the step that normalized its function does not have it.
    """
    function = name.name if name.is_procedure else name.scope
    if not function:
        return "Which function it belongs to is not said: without that it is not followed into the program."
    if function not in lowering.procedures:
        why = f"{function} has no procedure of its own in the program."
    elif is_lost:
        why = f"Normalizing {function} left no value that is surely this one: it was simplified, or merged."
    else:
        why = "The texts do not tell which storage of the program holds this value."
    if name.is_procedure:
        return why
    outputs = lowering.outputs_with(name)
    goes = f"is part of {', '.join(outputs[:_MOST_NAMED])}" if outputs else "is part of no output"
    return f"{why} It {goes}{' and others' if len(outputs) > _MOST_NAMED else ''}."


def _declared(
    text: ScannedText, step: Step, kind: str, name: Name, uses: Sequence[tuple[int, Occurrence]]
) -> tuple[str, str, Place | None]:
    """Role, type and place of the definition: of the line that declares the name, else that writes it first."""
    defining = [use for use in uses if use[1].access != "read"] or uses[:1]
    for line, use in defining if not name.is_procedure else ():
        declared = text.scanner.declared(text.lines[line - 1], name.name)
        if declared is not None:
            return declared[0], declared[1], place_of(text, step.index, kind, line, use)
    line, use = defining[0]
    role = "procedure" if name.is_procedure else "word"
    return role, "", place_of(text, step.index, kind, line, use)


def _declared_in_assembly(texts: Texts, step: Step, kind: str, name: Name) -> tuple[str, str]:
    """Role and type of a name that a listing leaves out: its buffers are declared without name or type."""
    assembly = (
        texts.scanned(step, ASSEMBLY) if ASSEMBLY in step.payloads and kind == _LISTING else None
    )
    uses = list(name.uses(assembly)) if assembly is not None else []
    if assembly is None or not uses:
        return "word", ""
    role, type_, _ = _declared(assembly, step, ASSEMBLY, name, uses)
    return role, type_


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
            yield place_of(self.text, self.step.index, self.kind, line, use)

    def shown(self) -> list[str]:
        """The lines that have the value, apart from its name and their indentation; all of a procedure."""
        lines = [
            _without(self.text.lines[line - 1], [use for _, use in uses])
            for line, uses in groupby(self.uses, key=itemgetter(0))
        ]
        return [*lines, *self._bodies()]

    def _bodies(self) -> Iterator[str]:
        for line, use in self.uses:
            scope = self.text.scope_at(line) if use.is_procedure else None
            if scope is None or scope.line != line:
                continue
            body = [each.strip() for each in self.text.lines[scope.line : scope.end]]
            # What closes the procedure, or all of them: the last one has more of that.
            while body and body[-1] in _CLOSING:
                body.pop()
            yield from body


def _without(line: str, uses: Sequence[Occurrence]) -> str:
    ends = [0, *(use.end_column for use in uses)]
    begins = [*(use.column for use in uses), len(line)]
    return "\0".join(line[i:j] for i, j in zip(ends, begins, strict=True)).strip()


def _found(texts: Texts, names: dict[int, Followed]) -> Iterator[_Found]:
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
            place_of(each.text, index, each.kind, line, use),
            each.text.lines[line - 1].strip()[:_EXCERPT],
        )


def _cost(
    name: Name, uses: Sequence[tuple[int, Occurrence]], cost: TextCost | None
) -> ValueCost | None:
    if cost is None or not cost.procedures:
        return None
    if name.is_procedure:
        totals = [each.total for each in cost.procedures if each.name == name.name]
    else:
        lines = {line for line, use in uses if use.access != "read"}
        known = (each.total for each in cost.lines if each.line in lines)
        totals = [total for total in known if total is not None]
    return ValueCost(
        sum(each.flops for each in totals),
        sum(each.loads for each in totals),
        sum(each.stores for each in totals),
        sum(each.bytes for each in totals),
    )
