"""Owns reading scaly's program assembly: its procedures, loops and names, and what each line costs."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from scaly_viz.analysis.prog_grammar import (
    ALIAS,
    BUFFER,
    INPUT_COUNT,
    LOOP,
    NAME,
    PARAMETER,
    PROCEDURE,
    SLOT,
    WINDOW_SIZE,
    memref_of,
    solvers_of,
)
from scaly_viz.analysis.prog_nodes import DType, Expressions, Node, dtype_of
from scaly_viz.analysis.prog_passes import Nest, count_passes
from scaly_viz.analysis.text_model import Declared, Loop, Procedure, Role, TextModel
from scaly_viz.frontend.counts import Counter, Counts
from scaly_viz.frontend.pace import Pace
from scaly_viz.frontend.procedures import Solvers
from scaly_viz.frontend.straight_line import NOTHING, plus, total
from scaly_viz.frontend.trips import constant_tables

_ASSIGN = re.compile(rf"%({NAME}) = prog\.assign ")
_STORE = re.compile(r"prog\.store(?:_pair)? ")
_CALL = re.compile(r"(?:%[^=]+ = )?prog\.(?:call|launch) @([^(]+)\(")
_PRINT = re.compile(r"prog\.print\(")
_STATEMENTS = ("prog.assign ", "prog.store", "prog.call ", "prog.launch ")
_ENDS = re.compile(r"\)* *(?:: \w+)? *(?:\{.*\})?$")
_RETURNED = re.compile(rf"%({NAME})")
_TYPE = re.compile(r" : (\w+)(?: \{[^{}]*\})?$")
_LANES = re.compile(r" to prog\.minimum\(%SCALY_WIDTH\w*, prog\.sub\((\d{1,15}), ")
_DENSE = re.compile(r" = dense<\[(.*)\]>$")
# Deeper loops, which no compiler writes, are passed over: each level makes numbers longer.
_DEEPEST = 200


@dataclass(slots=True)
class _Reading:
    """A procedure that is being read."""

    procedure: Procedure
    node: Node
    types: dict[str, DType] = field(default_factory=dict)
    buffers: dict[str, Node] = field(default_factory=dict)
    nests: list[Nest] = field(default_factory=list)
    unread: list[int] = field(default_factory=list)
    expressions: Expressions = field(init=False)

    def __post_init__(self) -> None:
        self.expressions = Expressions(self.types, self.buffers)


@dataclass(slots=True)
class _Block:
    """A procedure or loop whose end has not come yet."""

    node: Node
    body: list[Node]
    nest: Nest | None = None


class ProgramText:
    """The program that an assembly text shows, as far as it can be read."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        self._readings: list[_Reading] = []
        self._blocks: list[_Block] = []
        self._header: Mapping[str, object] = {}
        self._too_deep = 0
        self._passed_over: dict[str, int] = {}
        for number, line in enumerate(lines, 1):
            self._line(line.strip(), number)
        while self._blocks:
            self._close(len(lines))
        self.program = Node("program", tuple(each.node for each in self._readings), self._header)

    def counts(self) -> Counts:
        """Return what a run of the program does, counted as when it was recorded."""
        return Counter(Pace()).count(self.program)

    def model(self) -> TextModel:
        """Return what is known of the text."""
        for each in self._readings:
            count_passes(each.nests, constant_tables(each.node))
        return TextModel(
            self._lines,
            [each.procedure for each in self._readings],
            list(self._roots()),
            [*self.counts().uncounted, *self._untold()],
        )

    def _untold(self) -> list[str]:
        passed_over = [
            f"loops in proc {name}: those nested more than {_DEEPEST} deep, from line {line} on"
            for name, line in self._passed_over.items()
        ]
        unread = [
            f"lines in proc {each.procedure.name}: {len(each.unread)} of them, the first of them line"
            f" {each.unread[0]}, cannot be read, as names in them hold signs that have a meaning"
            for each in self._readings
            if each.unread
        ]
        return [*passed_over, *unread] + [
            f"{each.expressions.mixed} operations in proc {each.procedure.name}: on numbers of"
            " several types, the text does not tell whether they are floating-point"
            for each in self._readings
            if each.expressions.mixed
        ]

    def _roots(self) -> list[str]:
        """The entry, or the oracles that its solver calls back; of a solver inside, both."""
        solvers = Solvers.of(self.program)
        known = {each.procedure.name for each in self._readings}
        roots = [name for name in solvers.all_oracles() if name in known]
        if solvers.root is None and self._readings:
            roots.append(self._readings[-1].procedure.name)
        return list(dict.fromkeys(roots))

    def _line(self, text: str, number: int) -> None:
        if self._too_deep and not PROCEDURE.match(text):
            self._too_deep += bool(LOOP.match(text)) - (text == "}")
        elif text == "}":
            self._close(number)
        elif match := PROCEDURE.match(text):
            self._open_procedure(match, number)
        elif not self._blocks:
            if text.startswith("prog.module"):
                self._header = _solvers(text)
        elif match := LOOP.match(text):
            if len(self._blocks) > _DEEPEST:
                self._too_deep = 1
                self._passed_over.setdefault(self._readings[-1].procedure.name, number)
            else:
                self._open_loop(match, text, number)
        else:
            self._statement(text, number)

    def _open_procedure(self, match: re.Match[str], number: int) -> None:
        self._too_deep = 0
        while self._blocks:
            self._close(number - 1)
        reading = _Reading(Procedure(match[1], number), Node("proc"))
        if len(PARAMETER.findall(match[2])) != match[2].count(": memref<"):
            reading.unread.append(number)
        inputs = int(found[1]) if (found := INPUT_COUNT.search(match[3])) else 0
        parameters = [
            _declare(reading, name, type_, "input" if at < inputs else "output", number)
            for at, (name, type_) in enumerate(PARAMETER.findall(match[2]))
        ]
        attrs: dict[str, object] = {"name": match[1], "param_count": len(parameters)}
        if found := WINDOW_SIZE.search(match[3]):
            attrs["sz_w"] = int(found[1])
        reading.node.attrs = attrs
        self._readings.append(reading)
        self._blocks.append(_Block(reading.node, [*parameters]))

    def _open_loop(self, match: re.Match[str], text: str, number: int) -> None:
        reading, around = self._readings[-1], self._blocks[-1].nest
        name, int64 = match[1], dtype_of("int64")
        bounds, _ = reading.expressions.read(text, match.end(), int64)
        reading.types[name] = int64
        loop = Loop(number, number, name, parent=around.loop if around else None)
        reading.procedure.loops.append(loop)
        reading.procedure.names.setdefault(name, Declared(name, "loop", "int64", number))
        lanes = _LANES.search(text) if text.endswith("{kind=vector} {") else None
        # A torn line has fewer bounds; what is missing is not known.
        known = (*bounds[:3], *(Node("var", (), {"name": "?"}) for _ in range(3 - len(bounds[:3]))))
        rng = Node("range", known, {"name": name}, int64)
        nest = Nest(loop, rng, around, int(lanes[1]) if lanes else None)
        reading.nests.append(nest)
        loads, stores, _, moved = total([reading.expressions.lines[each] for each in bounds])
        if loads:
            reading.procedure.costs[number] = loads, stores, 0, moved
        node = Node("for", (rng,))
        self._blocks[-1].body.append(node)
        self._blocks.append(_Block(node, [], nest))

    def _close(self, number: int) -> None:
        if not self._blocks:
            return
        block = self._blocks.pop()
        if block.nest is None:
            self._readings[-1].procedure.end = number
            block.node.args = tuple(block.body)
            return
        block.nest.loop.end = number
        block.node.args = (block.node.args[0], *block.body)
        around = block.nest.around
        if block.nest.lanes is not None and around is not None and len(self._blocks[-1].body) == 1:
            # As scaly marks it: a loop over chunks of nothing but a loop over lanes.
            self._blocks[-1].node.attrs = {"vector_helper": "", "vector_count": block.nest.lanes}
            around.is_chunks = True

    def _statement(self, text: str, number: int) -> None:
        reading = self._readings[-1]
        procedure = reading.procedure
        if match := BUFFER.match(text):
            node = _declare(reading, match[1], match[2], "buffer", number, text[match.end() :])
            self._blocks[-1].body.append(node)
            return
        cost = NOTHING
        if match := _ASSIGN.match(text):
            name, type_ = match[1], _type_of(text)
            values, end = reading.expressions.read(text, match.end(), dtype_of(type_))
            reading.types.setdefault(name, dtype_of(type_))
            procedure.names.setdefault(name, Declared(name, "variable", type_, number))
            node = Node("assign", tuple(values), {"target": name}, dtype_of(type_))
        elif match := _STORE.match(text):
            values, end = reading.expressions.read(text, match.end(), dtype_of(_type_of(text)))
            # The target is printed last, and is the first argument.
            node = Node("store", (*values[-1:], *values[:-1]), {}, dtype_of(_type_of(text)))
            elements = len(values) - 1
            cost = 0, elements, 0, elements * (values[-1].dtype.bits >> 3) if values else 0
        elif match := _CALL.match(text):
            values, end = reading.expressions.read(text, match.end())
            node = Node("call", tuple(values), {"callee": match[1]})
            procedure.calls.setdefault(number, []).append(match[1])
            for name in _RETURNED.findall(text[: match.start(1)]):
                procedure.names.setdefault(name, Declared(name, "variable", "", number))
        elif match := _PRINT.match(text):
            values, end = reading.expressions.read(text, match.end())
            node = Node("print", tuple(values))
        else:
            if text.startswith("%") or text.startswith(_STATEMENTS):
                reading.unread.append(number)
            return
        if not _ENDS.match(text, end):
            reading.unread.append(number)
        if node.op == "store" and (len(values) < 2 or values[-1].op != "view"):
            return
        lines = reading.expressions.lines
        cost = plus(cost, total([lines[value] for value in values if value.op != "buffer"]))
        if cost != NOTHING:
            procedure.costs[number] = cost
        self._blocks[-1].body.append(node)


def _declare(
    reading: _Reading, name: str, type_: str, role: Role, line: int, value: str = ""
) -> Node:
    """Remember a buffer, and return the node that declares it."""
    memref = memref_of(type_)
    shape = memref.shape if memref else ()
    dtype = dtype_of(memref.dtype if memref else "")
    attrs: dict[str, object] = {"name": name, "shape": shape}
    if memref and memref.space:
        attrs["address_space"] = memref.space
    if found := ALIAS.match(value):
        attrs |= {"alias_of": found[1], "alias_offset": int(found[2])}
    elif found := SLOT.match(value):
        attrs["workspace_offset"] = int(found[1])
    elif (found := _DENSE.match(value)) and not dtype.is_floating:
        attrs["values"] = _integers(found[1])
    node = Node("buffer", (), attrs, dtype)
    reading.types[name] = dtype
    reading.buffers[name] = node
    shown = f"{dtype.name} {shape}" if memref else type_
    reading.procedure.names.setdefault(name, Declared(name, role, shown, line))
    return node


def _integers(text: str) -> list[int]:
    try:
        return [int(item) for item in text.split(", ")] if text else []
    except ValueError:
        return []


def _type_of(text: str) -> str:
    match = _TYPE.search(text[-200:])
    return match[1] if match else ""


def _solvers(text: str) -> Mapping[str, object]:
    """What the head of a module says of its solvers, as the attributes of scaly's node."""
    tables = solvers_of(text)
    return {
        "solver_root": tables.root,
        "solver_oracles": tables.oracles,
        "solver_external_workspace": tables.external,
    }
