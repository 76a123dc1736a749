"""Owns reading the C that scaly prints as a model: its functions, loops, and what each line costs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

from scaly_viz.analysis.c_cost import line_cost
from scaly_viz.analysis.scanners import Scope
from scaly_viz.analysis.text_c import CScanner
from scaly_viz.analysis.text_model import FREE, LARGEST, Loop, Procedure, TextModel

_LOOP = re.compile(
    r"\s*for \((?:long long|int) (?P<name>\w+) = (?P<start>-?\d{1,15}); (?P=name) < "
    r"(?P<stop>[^;]+); (?:\+\+(?P=name)|(?P=name) \+= (?P<step>\d{1,15}))\) (?P<body>.*)"
)
_ANY_LOOP = re.compile(r"\s*(?:for|while|do)\b")
_CHUNKS = re.compile(r"(?<!\d)(\d{1,15}) / SCALY_WIDTH\w*$")
_INTEGERS = re.compile(r"\s*\w+_vec_i64 (\w+);")
_INTEGER = re.compile(r"\d{1,15}")
# The number of lanes in use is called n, by scaly 0.1.0a1 NAME_lanes_1_valid.
_OVER_LANES = re.compile(r"n|\w+_valid|SCALY_WIDTH\w*")
_WHOLE = re.compile(r"\s*if \((?:n|\w+_valid|SCALY_WIDTH\w*) == \w+\) (.*)")
_CALL = re.compile(r"\s*(?:\(void\))?(\w+)\((?!&)")
_PARAMETER = re.compile(r"(?:const )?(double|float|int64_t|int32_t|uint64_t|uint8_t|bool)\*+ (\w+)")
_LOCAL = re.compile(
    r"\s*(?:static )?(?:const )?(double|float|int64_t|int32_t|uint64_t|uint8_t|bool)(\*?) (\w+)(\[\d+\])?(?: = |;)"
)
_SIZES = {
    "double": 8,
    "float": 4,
    "int64_t": 8,
    "uint64_t": 8,
    "int32_t": 4,
    "uint8_t": 1,
    "bool": 1,
}
_ENTRY = "const double** arg, double** res"
_OF_PROGRAM = re.compile(r"\w+(?:_raw|_lanes_\d+)")
_REMAINDER = re.compile(r"#if \(\d+ % SCALY_WIDTH")
_AROUND_SOLVERS = ("->", "scaly_clock_s", "_stats_data")
_NEVER_COUNTED = (
    "C: what runs once to check arguments, copies of whole buffers, and the code around a solver",
    "C: the lanes beyond the last element, and copies between memory and vector registers",
)


_ENTRY_SIZES = {f"{array}[{at}]": 8 for array in ("arg", "res") for at in range(1_000)}


@dataclass(frozen=True, slots=True)
class _Open:
    """A bracket that is open, of a loop or of something else, and the innermost loop that is."""

    loop: Loop | None
    inner: Loop | None


_OUTSIDE = _Open(None, None)


class CText:
    """The functions of a source, as far as they are made of a program's procedures."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        self._uncounted: list[str] = list(_NEVER_COUNTED)
        self._procedures: list[Procedure] = []
        self._roots: list[str] = []
        for scope in CScanner().scopes(lines):
            head = lines[scope.line - 1]
            if _ENTRY in head:
                self._roots.append(scope.name)
            body = takewhile(lambda line: not line.startswith("}"), lines[scope.line : scope.end])
            if (
                any(mark in line for line in body for mark in _AROUND_SOLVERS)
                and _ENTRY not in head
            ):
                continue
            if _ENTRY in head or _OF_PROGRAM.fullmatch(scope.name):
                self._procedures.append(self._function(scope, head))
        called = {
            name for each in self._procedures for names in each.calls.values() for name in names
        }
        has_solver = any(mark in line for line in lines for mark in _AROUND_SOLVERS)
        for each in self._procedures:
            # What only a solver calls runs once each, as in the program's counts; what nobody calls
            # (scaly 0.1.0a1 leaves functions that it has inlined) does not run.
            if has_solver and each.name not in called and each.name not in self._roots:
                self._roots.append(each.name)

    def model(self) -> TextModel:
        """Return what is known of the source."""
        return TextModel(self._lines, self._procedures, self._roots, self._uncounted)

    def _function(self, scope: Scope, head: str) -> Procedure:
        is_lanes = "_lanes_" in scope.name
        procedure = Procedure(scope.name, scope.line, scope.line, per_element=is_lanes)
        sizes = {name: _SIZES[type_] for type_, name in _PARAMETER.findall(head)}
        if _ENTRY in head:
            sizes = dict(_ENTRY_SIZES)
        open_loops: list[_Open] = []
        remainder = False
        for number in range(scope.line + 1, scope.end + 1):
            line = self._lines[number - 1]
            if line.startswith("#"):
                remainder = bool(_REMAINDER.match(line)) or (remainder and line != "#endif")
                continue
            if line.startswith("}"):
                procedure.end = number
                break
            text = line.strip()
            if text.startswith("}"):
                if open_loops and (closed := open_loops.pop().loop):
                    closed.end = number
                if not text.endswith("{"):
                    continue
            _declare(sizes, line, is_lanes=is_lanes)
            if text.endswith("{"):
                around = open_loops[-1] if open_loops else _OUTSIDE
                loop = self._loop(procedure, number, line, around.inner)
                open_loops.append(_Open(loop, loop or around.inner))
            elif not text.startswith("else ") and not remainder:
                self._statement(procedure, number, line, sizes, is_lanes=is_lanes)
        return procedure

    def _loop(
        self, procedure: Procedure, number: int, line: str, around: Loop | None
    ) -> Loop | None:
        found = _LOOP.match(line)
        if found is None and not _ANY_LOOP.match(line):
            return None
        name = found["name"] if found else ""
        loop = Loop(number, number, name, parent=around)
        outer = 1 if around is None else around.passes
        trips = _trips(found) if found else None
        if found and procedure.per_element and _OVER_LANES.fullmatch(found["stop"]):
            trips, loop.per_element = 1, True  # its function runs once per element already
        elif found and _CHUNKS.match(found["stop"]):
            loop.per_element = True
        loop.trips, loop.passes = trips, None
        if trips is not None and outer is not None:
            loop.passes = min(LARGEST, outer * trips)
        else:
            self._uncounted.append(f"loop {name or 'without variable'} in {procedure.name}")
        procedure.loops.append(loop)
        return loop

    def _statement(
        self, procedure: Procedure, number: int, line: str, sizes: dict[str, int], *, is_lanes: bool
    ) -> None:
        if found := _LOOP.match(line):
            if not is_lanes:
                return
            line = "  " + found["body"]
        if found := _WHOLE.match(line):
            line = "  " + found[1]
        cost = line_cost(line, sizes)
        if cost != FREE:
            procedure.costs[number] = cost
        call = _CALL.match(line)
        if call is not None and _OF_PROGRAM.fullmatch(call[1]):
            procedure.calls[number] = [call[1]]


def _declare(sizes: dict[str, int], line: str, *, is_lanes: bool) -> None:
    """Remember an array that ``line`` declares: in a function over lanes it is a register."""
    if register := _INTEGERS.match(line):
        sizes[register[1]] = 0
    local = _LOCAL.match(line)
    if local is None:
        return
    if is_lanes and local[4]:
        sizes.pop(local[3], None)
        if local[1] not in ("double", "float"):
            sizes[local[3]] = 0
    elif local[2] or local[4]:
        sizes[local[3]] = _SIZES[local[1]]


def _trips(found: re.Match[str]) -> int | None:
    """How often the loop runs; over chunks of lanes, once per element."""
    if chunks := _CHUNKS.match(found["stop"]):
        return int(chunks[1])
    if not _INTEGER.fullmatch(found["stop"]):
        return None
    step = int(found["step"] or 1)
    if step < 1:
        return None
    return max(0, -((int(found["start"]) - int(found["stop"])) // step))
