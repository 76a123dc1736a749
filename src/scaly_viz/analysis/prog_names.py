"""Owns where the names in a line of scaly's program assembly are, and what the line does with them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from scaly_viz.analysis.prog_grammar import BUFFER, INPUT_COUNT, LOOP, NAME, PARAMETER, PROCEDURE
from scaly_viz.analysis.scanners import STRING, Scope, scopes_headed, shown_type
from scaly_viz.analysis.text_model import Access, Occurrence, Role

_NAME = re.compile(rf"%({NAME})|(?<![\w.])@([^\s(,\]\"]+)")
_OUTPUTS = re.compile(r"\bn_out=(\d{1,9})\b")
# Longer lines are tables of constants.
_LONG_LINE = 500_000
_ASSIGN = re.compile(rf"\s*%({NAME}) = prog\.assign .* : (\w+)")


class ProgScanner:
    """Finds names in ``prog.module`` texts."""

    def scopes(self, lines: Sequence[str]) -> list[Scope]:
        """Return the procedures."""
        return scopes_headed(lines, "prog.proc @", "prog.kernel @")

    def names(self, line: str) -> list[Occurrence]:
        """Return the names of a line."""
        return names_of(line)

    def declared(self, line: str, name: str) -> tuple[Role, str] | None:
        """Return what a procedure's head or a statement says of ``name``."""
        if head := PROCEDURE.match(line):
            return _parameters(line).get(name) or (("procedure", "") if head[1] == name else None)
        if found := BUFFER.match(line):
            return ("buffer", shown_type(found[2])) if found[1] == name else None
        if found := _ASSIGN.match(line):
            return ("variable", found[2]) if found[1] == name else None
        if found := LOOP.match(line):
            return ("loop", "int64") if found[1] == name else None
        return None


@lru_cache(maxsize=8)
def _parameters(line: str) -> Mapping[str, tuple[Role, str]]:
    """Role and type of each parameter of the procedure whose head ``line`` is."""
    head = PROCEDURE.match(line)
    if head is None:
        return {}
    inputs = int(found[1]) if (found := INPUT_COUNT.search(head[3])) else 0
    declared: dict[str, tuple[Role, str]] = {}
    for at, (name, type_) in enumerate(PARAMETER.findall(head[2])):
        declared.setdefault(name, ("input" if at < inputs else "output", shown_type(type_)))
    return declared


def names_of(line: str) -> list[Occurrence]:
    """Return the names of ``line`` from left to right."""
    start = len(line) - len(line.lstrip())
    bare = line[start:]
    if len(line) > _LONG_LINE or not bare or bare.startswith(("prog.module", "//")):
        return []
    head = bare.startswith(("prog.proc", "prog.kernel"))
    declared = _declared_until(bare)
    written = _written(line)
    found = []
    for match in _NAME.finditer(STRING.sub(lambda m: " " * len(m[0]), line)):
        name = match[1] or match[2]
        at = match.start() - start
        access: Access = "read"
        if at < declared or (head and line.startswith(":", match.end())) or (head and match[2]):
            access = "declare"
        if not head and "prog.assign" in bare[: declared + 15] and at < declared:
            access = "write"
        if match.start() in written:
            access = "write"
        found.append(
            Occurrence(name, match.start(), match.end(), access, is_procedure=bool(match[2]))
        )
    return found


def _declared_until(bare: str) -> int:
    """Where the names end that a statement gives a value: before its ``=``."""
    if bare.startswith("prog.for "):
        return bare.find(" = ")
    return bare.find(" = ") if bare.startswith("%") else 0


def _written(line: str) -> set[int]:
    """Where the buffers begin that a store or a call writes to."""
    bare = line.lstrip()
    if bare.startswith("prog.store"):
        return _store_target(line)
    if "prog.call @" in bare:
        return _call_outputs(line)
    return set()


def _store_target(line: str) -> set[int]:
    """The target of a store is its last operand: ``%t[...]`` before the type."""
    end = line.rfind("]", 0, line.rfind(" : "))
    depth, at = 0, end
    while at >= 0:
        depth += (line[at] == "]") - (line[at] == "[")
        if depth == 0:
            break
        at -= 1
    begin = line.rfind("%", 0, at) if at > 0 else -1
    return {begin} if begin >= 0 else set()


def _call_outputs(line: str) -> set[int]:
    """The last operands of a call, as many as it says, are what its callee writes."""
    outputs = _OUTPUTS.search(line)
    starts: list[int] = []
    depth, fresh = 0, False
    for at in range(line.find("("), len(line)):
        character = line[at]
        if character in "([":
            depth += 1
            fresh = depth == 1
        elif character in ")]":
            depth -= 1
            if depth == 0:
                break
        elif character == "," and depth == 1:
            fresh = True
        elif character == "%" and fresh and depth == 1:
            starts.append(at)
            fresh = False
    count = int(outputs[1]) if outputs else 0
    return set(starts[len(starts) - count :]) if 0 < count <= len(starts) else set()
