"""Owns reading the memory of a program from its assembly: buffers, where they lie, who uses them when."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from scaly_viz.analysis.prog_grammar import (
    ALIAS,
    BUFFER,
    NAME,
    PROCEDURE_HEAD,
    SLOT,
    WINDOW_SIZE,
    memref_of,
    solvers_of,
)

_CALL = re.compile(r"prog\.call @([^(]+)\(")
_NAME = re.compile(rf"%({NAME})")
_OWN = re.compile(r"\bw_self=(\d{1,15})\b")
_BITS = re.compile(r"[a-z]+(\d+)")

WORD = 8
"""Bytes of an element of ``w[]``, a double."""


@dataclass(frozen=True, slots=True)
class Declaration:
    """A buffer as it is declared. ``offset`` and ``alias_offset`` count bytes."""

    name: str
    type: str
    bytes: int
    line: int
    space: str
    offset: int | None
    alias_of: str | None
    alias_offset: int


@dataclass(slots=True)
class Statement:
    """A statement directly in a procedure, with all that it encloses; ``names`` in the order of its lines."""

    line: int
    text: list[str]
    names: list[list[str]] = field(default_factory=list)
    callees: list[str] = field(default_factory=list)


@dataclass(slots=True)
class ProcedureText:
    """A procedure; ``size`` and ``own`` are bytes of its window of ``w[]``, None before it was packed."""

    name: str
    line: int
    size: int | None
    own: int | None
    declarations: dict[str, Declaration] = field(default_factory=dict)
    statements: list[Statement] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class ProgramText:
    """The procedures of a program in order, and which of them its solvers call."""

    procedures: Sequence[ProcedureText]
    oracles: Mapping[str, Sequence[str]]
    external: Mapping[str, int]
    solver_root: str | None


def read_program(assembly: str) -> ProgramText:
    """Return what ``assembly`` says of memory; lines of another form are passed over."""
    lines = assembly.split("\n")
    procedures: list[ProcedureText] = []
    inner = ""
    for number, line in enumerate(lines, 1):
        if "prog.proc @" in line and (match := PROCEDURE_HEAD.match(line)):
            inner = line[: line.index("prog.")] + "  "
            attributes = line[line.rfind(") {") :]
            size, own = _words(WINDOW_SIZE, attributes), _words(_OWN, attributes)
            procedures.append(ProcedureText(match[1], number, size, own))
        elif procedures and line.startswith(inner):
            _add(procedures[-1], number, line, is_inner=line[len(inner)] in " }")
    solvers = solvers_of(lines[0])
    external = {name: WORD * words for name, words in solvers.external.items()}
    return ProgramText(procedures, solvers.oracles, external, solvers.root)


def _add(procedure: ProcedureText, number: int, line: str, *, is_inner: bool) -> None:
    declaration = _declaration(line, number) if " = prog.buffer : " in line else None
    if declaration is not None:
        procedure.declarations.setdefault(declaration.name, declaration)
        return
    if not is_inner:
        procedure.statements.append(Statement(number, []))
    if not procedure.statements:
        return
    statement = procedure.statements[-1]
    statement.text.append(line)
    statement.names.append(_NAME.findall(line))
    if "prog.call @" in line:
        statement.callees += _CALL.findall(line)


def _declaration(text: str, line: int) -> Declaration | None:
    match = BUFFER.match(text)
    memref = memref_of(match[2]) if match else None
    if match is None or memref is None:
        return None
    place = text[match.end() :]
    slot, alias = SLOT.match(place), ALIAS.match(place)
    width = bytes_of(memref.dtype)
    return Declaration(
        name=match[1],
        type=" ".join(filter(None, (memref.dtype, "x".join(map(str, memref.shape))))),
        # C has no empty array: the printer declares one element.
        bytes=(math.prod(memref.shape) or 1) * width,
        line=line,
        space=memref.space or "global",
        offset=WORD * int(slot[1]) if slot else None,
        alias_of=alias[1] if alias else None,
        alias_offset=width * int(alias[2]) if alias else 0,
    )


def bytes_of(dtype: str) -> int:
    """Return the size of an element: by its number of bits, one byte for what names none."""
    match = _BITS.fullmatch(dtype)
    return int(match[1]) // 8 if match else 1


def _words(pattern: re.Pattern[str], attributes: str) -> int | None:
    match = pattern.search(attributes)
    return WORD * int(match[1]) if match else None
