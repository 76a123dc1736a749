"""Owns the forms of lines in scaly's program assembly, as ``scaly/ir/text.py`` prints them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

NAME = r"[\w.]+(?::[\w.]+)*"
"""How a value is called: ``t0``, and ``lam:x`` where scaly 0.1.0a1 prints names as they were given."""

PROCEDURE_HEAD = re.compile(r"\s*prog\.(?:proc|kernel) @([^(]+)\(")
"""The begin of a procedure's head, also where the rest is torn off: its name."""

PROCEDURE = re.compile(PROCEDURE_HEAD.pattern + r"([^)]*)\)(.*)")
"""A procedure's head: name, parameters, attributes."""

PARAMETER = re.compile(rf"%({NAME}): memref<([^<>]*)>")
"""A parameter: name, type."""

INPUT_COUNT = re.compile(r"\binput_count=(\d{1,9})\b")
"""How many of the parameters are inputs."""

WINDOW_SIZE = re.compile(r"\bsz_w=(\d{1,15})\b")
"""Words of ``w[]`` that a procedure needs; there once it is packed."""

LOOP = re.compile(rf"\s*prog\.for %({NAME}) = ")
"""The begin of a loop: its variable."""

BUFFER = re.compile(rf"\s*%({NAME}) = prog\.buffer : memref<([^>]*)>")
"""A buffer's declaration, up to where it lies: name, type."""

ALIAS = re.compile(rf" = prog\.alias %({NAME}) offset (\d{{1,15}})$")
"""Behind a buffer that is a part of another: that one, and the first of its elements."""

SLOT = re.compile(r" = prog\.workspace offset (\d{1,15})$")
"""Behind a buffer in ``w[]``: its first word there."""

_MEMREF = re.compile(r"(?:(\d{1,15}(?:x\d{1,15}){0,63})x)?([a-z]+\d*)(?:, (\w+))?")
_ROOT = re.compile(r'\bsolver_root="([^"]*)"')
_SETS = re.compile(r"\b(solver_oracles|solver_external_workspace)=\{([^{}]*)\}")
_ORACLES = re.compile(rf'({NAME})=\[((?:"[^"]*"(?:, )?)*)\]')
_QUOTED = re.compile(r'"([^"]*)"')
_SIZES = re.compile(rf"({NAME})=(\d{{1,15}})\b")


@dataclass(frozen=True, slots=True)
class Memref:
    """A buffer's type; ``space`` is empty where the text names none."""

    shape: tuple[int, ...]
    dtype: str
    space: str


def memref_of(type_: str) -> Memref | None:
    """Return what stands in ``memref<...>``, None where it has another form."""
    match = _MEMREF.fullmatch(type_)
    if match is None:
        return None
    shape = tuple(map(int, match[1].split("x"))) if match[1] else ()
    return Memref(shape, match[2], match[3] or "")


@dataclass(frozen=True, slots=True)
class SolverTables:
    """The solvers of a module: which is the entry, whom each calls, and words of ``w[]`` that it needs itself."""

    root: str | None
    oracles: Mapping[str, Sequence[str]]
    external: Mapping[str, int]


def solvers_of(head: str) -> SolverTables:
    """Return what the head of a module says of its solvers."""
    sets = dict(_SETS.findall(head))
    root = _ROOT.search(head)
    return SolverTables(
        root[1] if root else None,
        {
            name: _QUOTED.findall(names)
            for name, names in _ORACLES.findall(sets.get("solver_oracles", ""))
        },
        {
            name: int(words)
            for name, words in _SIZES.findall(sets.get("solver_external_workspace", ""))
        },
    )
