"""Owns the facts from which a page tells the life of any value, and which lines correspond.

What needs a reader of a language is settled here: which names a line has, what they stand for, what
each is called in the next text, which line of the next text a line is.
``viewer/web/src/archive/values.ts`` and ``lines.ts`` put together what was asked for.

- ``lines DIALECT KIND``: lines and, of each, its names: for each the distance from the one before, the
  length, and what is done with it (0 read, 1 write, 2 declare, +4 for a procedure); at the end what they stand for.
- ``text DIGEST DIALECT KIND``: the procedures, and what inputs and outputs are called in C.
- ``chain STEP KIND``: of each name, in the order in which the text has them, which name it is in the
  next text that has it, in the one before, and on the other side of the lowering.
- ``partners DIGEST DIGEST KIND``: of each line, its line in the next text, 0 for none.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from scaly_viz.analysis.correspondence import (
    Followed,
    code_lines,
    lowered_lines,
    partner_of,
    program_lines,
)
from scaly_viz.analysis.diff import aligned_lines
from scaly_viz.analysis.expression_lines import inverse
from scaly_viz.analysis.following import RAW, Name, is_function_of, names_in_entry
from scaly_viz.analysis.lowering import Lowering
from scaly_viz.analysis.name_index import Indexer
from scaly_viz.analysis.scanned_texts import PROGRAM, Texts
from scaly_viz.analysis.scanners import ScannedText, Scanner
from scaly_viz.analysis.text_listing import listing_lines
from scaly_viz.analysis.text_model import Occurrence, utf16_column
from scaly_viz.analysis.texts import text_kinds
from scaly_viz.analysis.value_steps import EXPRESSION, follow_to, is_lowered_from
from scaly_viz.analysis.values import unknown_note
from scaly_viz.recording import Recording, Step
from scaly_viz_viewer.standalone.packing import Block, Json

_ACCESS = {"read": 0, "write": 1, "declare": 2}
_PROCEDURE = 4
_ALL = sys.maxsize
# So many long texts that lack a name are passed over before it is taken to be gone: each has to be
# aligned with the one that has it.
_FAR = 3
_LONG = 500
_ASSEMBLY, _LISTING, _CODE = "assembly", "listing", "code"


def pack_names(block: Block, recording: Recording, deadline: float) -> bool:
    """Add the facts of ``recording`` to ``block``; False where time was too short for all of them."""
    return _Names(block, recording, deadline).pack()


@dataclass(slots=True)
class _Names:
    block: Block
    recording: Recording
    deadline: float
    texts: Texts = field(init=False)

    def __post_init__(self) -> None:
        self.texts = Texts(self.recording, aligned_lines, Indexer().index, _ALL)

    def pack(self) -> bool:
        """Add all facts, the dear ones last."""
        self._add_texts()
        self._add_listings()
        self._add_sources()
        self._add_expressions()
        return self._add_partners() and self._add_chains()

    def _steps(self) -> list[Step]:
        return [step for step in self.recording.steps if not step.placeholder]

    def _all_texts(self) -> Iterator[tuple[Step, str, ScannedText]]:
        """Each distinct text, once."""
        seen: set[tuple[str, str, str]] = set()
        for step in self._steps():
            for kind in text_kinds(step):
                key = step.payloads[kind].digest, step.dialect, kind
                text = self.texts.scanned(step, kind)
                if text is not None and key not in seen:
                    seen.add(key)
                    yield step, kind, text

    def _add_texts(self) -> None:
        lines: dict[tuple[str, str], dict[str, Json]] = {}
        for step, kind, text in self._all_texts():
            known = lines.setdefault((step.dialect, kind), {})
            for number, line in enumerate(text.lines, 1):
                if line not in known:
                    known[line] = _line_facts(line, text.names(number), text.scanner)
            scopes = [[scope.name, scope.line, scope.end] for scope in text.scopes]
            entries = {scope.name: names_in_entry(text, scope) for scope in text.scopes}
            digest = step.payloads[kind].digest
            self.block.add(f"text {digest} {step.dialect} {kind}", [scopes, entries])
        row, numbers = self.block.packer.row, self.block.packer.numbers
        for (dialect, kind), known in lines.items():
            found = {line: facts for line, facts in known.items() if facts}
            places = numbers([*map(row, found)]), numbers([*map(row, found.values())])
            self.block.answers[f"lines {dialect} {kind}"] = [*places]

    def _add_listings(self) -> None:
        for step in self._steps():
            assembly = self.texts.scanned(step, _ASSEMBLY)
            listing = self.texts.scanned(step, _LISTING)
            if assembly is None or listing is None:
                continue
            found = listing_lines(assembly.lines, listing.lines)
            if found is not None:
                ours, theirs = (step.payloads[kind].digest for kind in (_LISTING, _ASSEMBLY))
                self.block.add(f"listing {ours} {theirs}", found)

    def _add_sources(self) -> None:
        for step in self._steps():
            text = self.texts.scanned(step, _CODE) if _CODE in step.payloads else None
            if text is None:
                continue
            functions = [scope.name for scope in text.scopes]
            procedures = {scope.name for _, _, each in self._all_texts() for scope in each.scopes}
            made = {
                name: found
                for name in sorted(procedures)
                if (found := [each for each in functions if is_function_of(name, each)])
            }
            self.block.add(f"functions {step.index}", [made, ["", RAW]])
            self._add_map(f"code {step.index}", code_lines(self.texts, step))
            self._add_map(f"program {step.index}", program_lines(self.texts, step))

    def _add_expressions(self) -> None:
        program = self.texts.first_program()
        for step in self._steps() if program is not None else ():
            assert program is not None, "there is one"
            lowering = self._lowering(step, program)
            if lowering is not None:
                found = lowered_lines(lowering)
                self._add_map(f"lowered {step.index}", found)
                self._add_map(f"raised {step.index}", inverse(found))

    def _lowering(self, step: Step, program: Step) -> Lowering | None:
        is_expression = step.dialect == EXPRESSION and _ASSEMBLY in step.payloads
        return self.texts.lowering(step, program) if is_expression else None

    def _add_map(self, key: str, lines: Mapping[int, Sequence[int]]) -> None:
        self.block.add(key, [[line, *there] for line, there in sorted(lines.items())])

    def _add_partners(self) -> bool:
        for (one, kind), (other, _) in self._neighbors():
            for ours, theirs in ((one, other), (other, one)):
                if time.thread_time() > self.deadline:
                    return False
                key = f"partners {ours.payloads[kind].digest} {theirs.payloads[kind].digest} {kind}"
                text = self.texts.scanned(ours, kind)
                if key not in self.block.answers and text is not None:
                    known: Followed = {}
                    found = [
                        partner_of(self.texts, ours, theirs, kind, line, known) or 0
                        for line in range(1, len(text.lines) + 1)
                    ]
                    self.block.add(key, found)
        return True

    def _neighbors(self) -> Iterator[tuple[tuple[Step, str], tuple[Step, str]]]:
        """Texts of one kind and dialect that follow each other and differ; listings go by their assembly."""
        chains: dict[tuple[str, str], list[Step]] = {}
        for step in self._steps():
            for kind in self._main_kinds(step):
                chains.setdefault((step.dialect, kind), []).append(step)
        for (_, kind), steps in chains.items():
            for one, other in pairwise(steps):
                if one.payloads[kind].digest != other.payloads[kind].digest:
                    yield (one, kind), (other, kind)

    def _main_kinds(self, step: Step) -> list[str]:
        """The kinds whose names are followed; of a listing, those of its assembly are."""
        is_short = _ASSEMBLY in step.payloads
        return [
            kind
            for kind in text_kinds(step)
            if not (kind == _LISTING and is_short) and self.texts.scanned(step, kind) is not None
        ]

    def _add_chains(self) -> bool:
        steps = self._steps()
        known: dict[str, dict[Name, int]] = {}
        for at, step in enumerate(steps):
            for kind in self._main_kinds(step):
                digest = step.payloads[kind].digest
                if at and self._is_same(steps[at - 1], step, kind):
                    continue
                last = at
                while last + 1 < len(steps) and self._is_same(step, steps[last + 1], kind):
                    last += 1
                names = self._numbered(step, kind, known)
                others = [each for each in steps if self._is_followed(step, each, kind)]
                ways = (
                    [each for each in others if each.index > steps[last].index],
                    [each for each in reversed(others) if each.index < step.index],
                )
                found = []
                for way in ways:
                    pointers = self._pointers(step, kind, names, way, known)
                    if pointers is None:
                        return False
                    found.append(pointers)
                found.append(self._crossing(step, kind, names, known))
                self._add_notes(step, kind, names)
                self.block.answers[f"chain {step.index} {kind}"] = [digest, *found]
        return True

    def _add_notes(self, step: Step, kind: str, names: Iterable[Name]) -> None:
        """Why each name of an expression is not known in the program, if it is not: where it was lost, and else."""
        program = self.texts.first_program()
        lowering = self._lowering(step, program) if program is not None else None
        if lowering is not None and kind == _ASSEMBLY:
            packer = self.block.packer
            self.block.answers[f"notes {step.index}"] = [
                packer.numbers(
                    [packer.row(unknown_note(lowering, name, is_lost=is_lost)) for name in names]
                )
                for is_lost in (True, False)
            ]

    def _crossing(
        self, step: Step, kind: str, names: Iterable[Name], known: dict[str, dict[Name, int]]
    ) -> Json:
        """What names of an expression are called in the first program, and names of that in the expressions.

        Of each name the step and the number there; None for none.
        """
        program = self.texts.first_program()
        if program is None or kind != _ASSEMBLY:
            return []
        if step.index == program.index:
            back = [each for each in reversed(self._steps()) if each.index < step.index]
            ways = [(each, found) for each in back if (found := self._lowering(each, program))]
            return self.block.packer.pack([self._raised(name, ways, known) for name in names])
        lowering = self._lowering(step, program)
        if lowering is None:
            return []
        there = self._numbered(program, _ASSEMBLY, known)
        called = [lowering.in_program(name) for name in names]
        return self.block.packer.pack(
            [None if each is None else [program.index, there.get(each, -1)] for each in called]
        )

    def _raised(
        self,
        name: Name,
        ways: Sequence[tuple[Step, Lowering]],
        known: dict[str, dict[Name, int]],
    ) -> list[int] | None:
        for step, lowering in ways:
            called = lowering.in_expression(name)
            if called is not None and is_lowered_from(step, called.scope or called.name):
                return [step.index, self._numbered(step, _ASSEMBLY, known).get(called, -1)]
        return None

    def _near(self, step: Step, kind: str, way: Sequence[Step]) -> list[Step]:
        """The steps of ``way`` that are looked through for a name: of long texts only the next few."""
        near: list[Step] = []
        long: set[str] = set()
        for other in way:
            payload = other.payloads.get(kind)
            text = self.texts.scanned(other, kind) if payload is not None else None
            is_aligned = other.dialect == step.dialect and payload is not None
            if is_aligned and text is not None and len(text.lines) > _LONG:
                long.add(payload.digest if payload is not None else "")
                if len(long) > _FAR:
                    continue
            near.append(other)
        return near

    def _is_followed(self, step: Step, other: Step, kind: str) -> bool:
        """Tell whether names of a text are looked for in a text of ``other``, one by one.

        In the source a name stays what it was; between expression and program it is followed by the lowering.
        """
        is_crossing = {step.dialect, other.dialect} == {EXPRESSION, PROGRAM}
        is_source = kind != _CODE and not {kind, _ASSEMBLY} & other.payloads.keys()
        return not is_crossing and not is_source

    def _is_same(self, one: Step, other: Step, kind: str) -> bool:
        payload, there = one.payloads.get(kind), other.payloads.get(kind)
        return (
            payload is not None
            and there is not None
            and one.dialect == other.dialect
            and payload.digest == there.digest
        )

    def _numbered(
        self, step: Step, kind: str, known: dict[str, dict[Name, int]]
    ) -> Mapping[Name, int]:
        """The names of a text in the order in which it has them."""
        key = f"{step.payloads[kind].digest} {step.dialect} {kind}"
        if key not in known:
            text = self.texts.scanned(step, kind)
            found: dict[Name, int] = {}
            for line in range(1, len(text.lines) + 1) if text is not None else ():
                assert text is not None, "there are lines"
                names = text.names(line)
                scope = text.scope_at(line).name if names else ""
                for use in names:
                    name = Name(use.name, "" if use.is_procedure else scope, use.is_procedure)
                    found.setdefault(name, len(found))
            known[key] = found
        return known[key]

    def _pointers(
        self,
        step: Step,
        kind: str,
        names: Iterable[Name],
        way: Sequence[Step],
        known: dict[str, dict[Name, int]],
    ) -> Json:
        """Of each name its number in the next text of ``way`` that has it, -1 for none.

        Most are in the same one: that comes first, the others with their own step and kind. None where
        time is too short.
        """
        there: list[tuple[int, str, int] | None] = []
        near = self._near(step, kind, way)
        for i, name in enumerate(names):
            if i % 256 == 0 and time.thread_time() > self.deadline:
                return None
            followed = next(
                (
                    found
                    for other in near
                    if (found := follow_to(self.texts, (step, kind, name), other)) is not None
                ),
                None,
            )
            if followed is None:
                there.append(None)
            else:
                to, to_kind, called = followed
                number = self._numbered(to, to_kind, known).get(called, -1)
                there.append((to.index, to_kind, number))
        counts: dict[tuple[int, str], int] = {}
        for each in there:
            if each is not None:
                counts[each[:2]] = counts.get(each[:2], 0) + 1
        usual = max(counts, key=lambda place: counts[place], default=(-1, ""))
        plain = [each[2] if each is not None and each[:2] == usual else -1 for each in there]
        others = [
            [i, *each] for i, each in enumerate(there) if each is not None and each[:2] != usual
        ]
        numbers = self.block.packer.numbers(plain)
        return [*usual, numbers, self.block.packer.pack(others)]


def _line_facts(line: str, names: Sequence[Occurrence], scanner: Scanner) -> Json:
    facts: list[Json] = []
    declared: dict[str, list[str]] = {}
    end = 0
    for i, use in enumerate(names):
        begin, stop = utf16_column(line, use.column), utf16_column(line, use.end_column)
        what = _ACCESS[use.access] + _PROCEDURE * use.is_procedure
        facts += [begin - end, stop - begin, what]
        end = stop
        found = None if use.is_procedure else scanner.declared(line, use.name)
        if found is not None:
            declared[str(i)] = [*found]
        if use.name != line[use.column : use.end_column]:
            declared[f"name {i}"] = [use.name]
    return [*facts, declared] if declared else facts
