"""Owns finding names in the C that scaly prints: locals, parameters, and the entry's ``arg`` and ``res``."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from scaly_viz.analysis.scanners import Scope, scopes_between
from scaly_viz.analysis.text_model import Access, Occurrence, Role

_HEAD = re.compile(r"\b(\w+)\([^()]*\) ?\{$")
_NAME = re.compile(r"\b(?:arg|res)\[\d+\]|(?<![\w.>])[A-Za-z_]\w*")
# What does not end in its line goes to the end of it.
_COMMENT = re.compile(r'"(?:[^"\\]|\\.?)*+"?|//.*|/\*.*?(?:\*/|$)')
_WORDS = frozenset(
    word
    for line in (
        "auto bool break case char const continue default do double else enum extern float for goto if",
        "inline int int32_t int64_t uint8_t uint64_t size_t long register restrict return short signed",
        "sizeof static struct switch typedef union unsigned void volatile while true false NULL",
        "__attribute__ always_inline unused arg res",
    )
    for word in line.split(" ")
)
_TYPES = r"double|float|u?int(?:8|16|32|64)_t|bool|int|long long|\w+_vec|\w+_t"
_DECLARATION = re.compile(
    rf"^\s*(?P<type>(?:static )?(?:const )?(?:{_TYPES})(?: const)?\*?) "
    r"(?P<name>\w+)(?P<size>\[\d+\])?(?: = |;)"
)
_ARRAY = re.compile(
    r"(?P<type>(?P<const>const )?(?:double|float|int64_t|int32_t)\*) (?P<name>[^\W\d]\w*)"
)
_LOOP = re.compile(r"\bfor \((?:long long|int) (\w+) = ")


class CScanner:
    """Finds names in C source."""

    def scopes(self, lines: Sequence[str]) -> list[Scope]:
        """Return the functions that have a body."""
        heads = []
        for number, line in enumerate(lines, 1):
            if line.endswith("{") and line[:1] not in (" ", "#", "/", "}", "") and "(" in line:
                found = _HEAD.search(line[:4_000])
                if found:
                    heads.append((found[1], number))
        return scopes_between(heads, len(lines))

    def names(self, line: str) -> list[Occurrence]:
        """Return the words of a line that name something; ``arg[0]`` and ``res[0]`` as one name."""
        if line.startswith("#"):
            return []
        bare = _COMMENT.sub(lambda match: " " * len(match[0]), line)
        head = _function_of(bare)
        written = _written(bare)
        found = []
        for match in _NAME.finditer(bare):
            name = match[0]
            if name in _WORDS:
                continue
            calls = bare.startswith("(", match.end())
            access: Access = "read"
            if head is not None and match.start() >= head:
                access = "declare"
            elif match.start() == written:
                access = "write"
            found.append(Occurrence(name, match.start(), match.end(), access, is_procedure=calls))
        return found

    def declared(self, line: str, name: str) -> tuple[Role, str] | None:
        """Return what a declaration says of ``name``."""
        if name.startswith(("arg[", "res[")):
            return ("input", "const double*") if name.startswith("arg[") else ("output", "double*")
        if (found := _DECLARATION.match(line)) and found["name"] == name:
            is_buffer = found["size"] is not None or found["type"].endswith("*")
            return ("buffer" if is_buffer else "variable"), found["type"] + (found["size"] or "")
        if (loop := _LOOP.search(line)) and loop[1] == name:
            return "loop", "long long"
        head = _function_of(line)
        if head is not None:
            if line.startswith(f"{name}(", head):
                return "procedure", ""
            return _parameters(line).get(name)
        return None


@lru_cache(maxsize=8)
def _parameters(line: str) -> Mapping[str, tuple[Role, str]]:
    """Role and type of each array that a function takes whose head ``line`` is."""
    declared: dict[str, tuple[Role, str]] = {}
    for found in _ARRAY.finditer(line):
        role: Role = "input" if found["const"] else "output"
        declared.setdefault(found["name"], (role, found["type"]))
    return declared


def _function_of(line: str) -> int | None:
    """Where the name of the function begins whose head ``line`` is."""
    if not line.endswith("{") or line[:1] in (" ", "#", "/", "}", ""):
        return None
    found = _HEAD.search(line[:4_000])
    return found.start(1) if found else None


def _written(line: str) -> int:
    """Where the name begins that the line gives a value, -1 where there is none."""
    if found := _DECLARATION.match(line):
        return found.start("name")
    sign = re.search(r"(?<![=<>!+*/-])(?:[+*/-]?)= ", line)
    if loop := _LOOP.search(line):
        body = line[loop.end() :]
        rest = body.find(") ")
        if rest < 0 or "{" in body[rest:]:
            return loop.start(1)
        start = loop.end() + rest + 2
        found = re.compile(r"[A-Za-z_]\w*(?:\[\d+\])?").match(line, start)
        return found.start() if found else loop.start(1)
    if sign is None:
        return -1
    found = re.compile(r"\s*(?:\*\(\w+\*\)\()?((?:arg|res)\[\d+\]|[A-Za-z_]\w*)").match(line)
    return found.start(1) if found else -1
