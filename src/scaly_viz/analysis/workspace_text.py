"""Owns reading the memory of a program from its assembly: buffers, where they lie, who uses them when."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from scaly_viz.analysis.prog_names import NAME

# The assembly is scaly's, see scaly/ir/text.py.
_PROC = re.compile(r"( *)prog\.proc @([^(]+)\(")
_BUFFER = re.compile(
    rf" *%({NAME}) = prog\.buffer : memref<((?:\d+x)*)([a-z]+\d*)(?:, (\w+))?>"
    rf"(?: = prog\.(?:workspace offset (\d+)|alias %({NAME}) offset (\d+)))?"
)
_CALL = re.compile(r"prog\.call @([^(]+)\(")
_NAME = re.compile(rf"%({NAME})")
_SIZE = re.compile(r"\bsz_w=(\d{1,15})\b")
_OWN = re.compile(r"\bw_self=(\d{1,15})\b")
_ROOT = re.compile(r'\bsolver_root="([^"]*)"')
_TABLE = re.compile(r"\bsolver_oracles=\{(.*?\])\}")
_ORACLES = re.compile(rf"({NAME})=\[([^\]]*)\]")
_EXTERNAL = re.compile(r"\bsolver_external_workspace=\{([^}]*)\}")
_EXTERNAL_SIZE = re.compile(rf"({NAME})=(\d{{1,15}})\b")
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
    head = lines[0]
    procedures: list[ProcedureText] = []
    inner = ""
    for number, line in enumerate(lines, 1):
        if "prog.proc @" in line and (match := _PROC.match(line)):
            inner = match[1] + "  "
            attributes = line[line.rfind(") {") :]
            size, own = _words(_SIZE, attributes), _words(_OWN, attributes)
            procedures.append(ProcedureText(match[2], number, size, own))
        elif procedures and line.startswith(inner):
            _add(procedures[-1], number, line, is_inner=line[len(inner)] in " }")
    table = _TABLE.search(head)
    external = _EXTERNAL.search(head)
    root = _ROOT.search(head)
    return ProgramText(
        procedures,
        {
            name: _NAMES.findall(names)
            for name, names in _ORACLES.findall(table[1] if table else "")
        },
        {
            name: WORD * int(size)
            for name, size in _EXTERNAL_SIZE.findall(external[1] if external else "")
        },
        root[1] if root else None,
    )


_NAMES = re.compile(r'"([^"]*)"')


def _add(procedure: ProcedureText, number: int, line: str, *, is_inner: bool) -> None:
    if " = prog.buffer : " in line and (match := _BUFFER.match(line)):
        declaration = _declaration(match, number)
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


def _declaration(match: re.Match[str], line: int) -> Declaration:
    name, sizes, dtype, space, offset, alias_of, alias_offset = match.groups()
    shape = [int(size) for size in sizes.split("x") if size]
    width = bytes_of(dtype)
    return Declaration(
        name=name,
        type=" ".join(filter(None, (dtype, "x".join(map(str, shape))))),
        # C has no empty array: the printer declares one element.
        bytes=(math.prod(shape) or 1) * width,
        line=line,
        space=space or "global",
        offset=None if offset is None else WORD * int(offset),
        alias_of=alias_of,
        alias_offset=width * int(alias_offset or 0),
    )


def bytes_of(dtype: str) -> int:
    """Return the size of an element: by its number of bits, one byte for what names none."""
    match = _BITS.fullmatch(dtype)
    return int(match[1]) // 8 if match else 1


def _words(pattern: re.Pattern[str], attributes: str) -> int | None:
    match = pattern.search(attributes)
    return WORD * int(match[1]) if match else None
