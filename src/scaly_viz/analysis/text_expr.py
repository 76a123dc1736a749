"""Owns finding names in scaly's expression assembly: SSA values, and the functions' inputs and outputs."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from scaly_viz.analysis.scanners import Scope, scopes_headed, shown_type
from scaly_viz.analysis.text_model import Access, Occurrence, Role

_FUNC = re.compile(r"\s*expr\.func @([^(]+)\(")
_NAME = re.compile(r"%([\w.]+)|(?<![\w.])@([^\s(,\]\"]+)|\bcallee=\"([^\"]+)\"")
# Inputs of derivatives are called fwd:x and lam:x.
_PARAMETER = re.compile(r"%([\w.]+(?::[\w.]+)*): tensor<([^<>]*)>")
_HEAD_NAME = re.compile(r"%([\w.]+(?::[\w.]+)*)(?=: tensor<)|(?<![\w.])@([^\s(,\]\"]+)")
_TYPE = re.compile(r" : tensor<([^<>]*)>$")


class ExprScanner:
    """Finds names in ``expr.module`` texts."""

    def scopes(self, lines: Sequence[str]) -> list[Scope]:
        """Return the functions."""
        return scopes_headed(lines, "expr.func @")

    def names(self, line: str) -> list[Occurrence]:
        """Return the values and functions that a line names."""
        is_head = "expr.func @" in line[:200]
        defined = len(line) - len(line.lstrip())
        found = []
        for match in (_HEAD_NAME if is_head else _NAME).finditer(line):
            access: Access = "read"
            if is_head:
                access = "declare"
            elif match.start() == defined and line.startswith(" = ", match.end()):
                access = "write"
            group = match.lastindex or 1
            column = match.start(3) if group == 3 else match.start()
            end = match.end(3) if group == 3 else match.end()
            found.append(Occurrence(match[group], column, end, access, is_procedure=group > 1))
        return found

    def declared(self, line: str, name: str) -> tuple[Role, str] | None:
        """Return what a function's head or an operation says of ``name``."""
        if head := _FUNC.match(line):
            return _parameters(line).get(name) or (("procedure", "") if head[1] == name else None)
        if line.lstrip().startswith(f"%{name} = "):
            found = _TYPE.search(line)
            return "ssa", shown_type(found[1]) if found else ""
        return None


def signature_of(line: str) -> tuple[list[str], list[str]]:
    """Return the inputs and outputs of the function whose head ``line`` is; both may have one name."""
    inputs, _, outputs = line.rpartition(" -> (")
    of_inputs, of_outputs = (
        [name for name, _ in _PARAMETER.findall(side)] for side in (inputs, outputs)
    )
    return of_inputs, of_outputs


@lru_cache(maxsize=8)
def _parameters(line: str) -> Mapping[str, tuple[Role, str]]:
    """Role and type of each input and output of the function whose head ``line`` is."""
    inputs, _, outputs = line.rpartition(" -> (")
    declared: dict[str, tuple[Role, str]] = {}
    sides: tuple[tuple[Role, str], ...] = (("input", inputs), ("output", outputs))
    for role, side in sides:
        for name, type_ in _PARAMETER.findall(side):
            declared.setdefault(name, (role, shown_type(type_)))
    return declared
