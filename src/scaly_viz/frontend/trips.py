"""Owns how often the loops of a procedure run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

from scaly_viz.frontend.program_nodes import ProgramNode, text_of

# More values of loop variables than this are not tried one by one in a procedure (about 0.5 s).
_MAX_VALUES = 50_000
# Nor are nests deeper than this counted, nor more loops of nests than this in a procedure.
DEEPEST = 64
_MAX_LOOPS = 500_000


class UncountableError(Exception):
    """Why the trips of a loop cannot be counted."""

    def __init__(self, loop: str, reason: str) -> None:
        super().__init__(loop, reason)


class _UnknownValueError(Exception):
    """Why an integer of the program is known to a run only."""


def constant_trips(rng: ProgramNode) -> int | None:
    """How often a loop between constants runs, or None."""
    # Of the nodes that can bound a loop, only a constant has a value.
    start, stop, step = [bound.attrs.get("value") for bound in rng.args]
    if isinstance(start, int) and isinstance(stop, int) and isinstance(step, int) and step > 0:
        return max(0, -((start - stop) // step))
    return None


def constant_tables(proc: ProgramNode) -> dict[str, Sequence[int]]:
    """The constant integers of a procedure: what is loaded from them is known."""
    tables: dict[str, Sequence[int]] = {}
    for arg in proc.args:
        values = arg.attrs.get("values") if arg.op == "buffer" else None
        if isinstance(values, Sequence) and not arg.dtype.is_floating:
            tables[text_of(arg, "name")] = values
    return tables


class Nests:
    """Counts the passes of nested loops of one procedure, whose constants are ``tables``."""

    def __init__(self, tables: Mapping[str, Sequence[int]]) -> None:
        self._tables = tables
        self._values_left = _MAX_VALUES
        self._loops_left = _MAX_LOOPS
        self._bounds: dict[ProgramNode, list[_Bound]] = {}

    def passes(self, ranges: Sequence[ProgramNode]) -> int:
        """How often the body of these loops runs; raises ``UncountableError``.

        A variable that no inner bound reads is multiplied out, others take each of their values.
        """
        self._loops_left -= len(ranges)
        if len(ranges) > DEEPEST or self._loops_left < 0:
            reason = "it is in too many loops whose bounds vary"
            raise UncountableError(text_of(ranges[-1], "name"), reason)
        loops = [self._bounds_of(rng) for rng in ranges]
        readers = _readers(ranges, loops)
        states: list[tuple[Mapping[str, int], int]] = [({}, 1)]
        for depth, rng in enumerate(ranges):
            name, reader = text_of(rng, "name"), readers[depth]
            reached: list[tuple[Mapping[str, int], int]] = []
            for values, times in states:
                start, trips, step = _trips(name, loops[depth], values)
                if reader is None:
                    reached += [(values, times * trips)] * bool(trips)
                    continue
                if trips > self._values_left:
                    reason = f"its bounds depend on {name}, which takes too many values to try each"
                    raise UncountableError(text_of(ranges[reader], "name"), reason)
                self._values_left -= trips
                reached += [({**values, name: start + step * k}, times) for k in range(trips)]
            states = reached
        return sum(times for _, times in states)

    def _bounds_of(self, rng: ProgramNode) -> list[_Bound]:
        found = self._bounds.get(rng)
        if found is None:
            found = self._bounds[rng] = [_Bound.of(bound, self._tables) for bound in rng.args]
        return found


def _readers(ranges: Sequence[ProgramNode], loops: Sequence[Sequence[_Bound]]) -> list[int | None]:
    """For each loop the first one in it whose bounds read its variable, None where none does."""
    first: dict[str, int] = {}
    readers: list[int | None] = []
    for depth in range(len(ranges) - 1, -1, -1):
        readers.append(first.get(text_of(ranges[depth], "name")))
        first.update((name, depth) for bound in loops[depth] for name in bound.reads)
    return readers[::-1]


def _trips(loop: str, bounds: Sequence[_Bound], values: Mapping[str, int]) -> tuple[int, int, int]:
    """The start, trips and step of a loop where the loops around it stand at ``values``."""
    found = []
    for which, bound in zip(("start", "stop", "step"), bounds, strict=True):
        try:
            found.append(bound.at(values))
        except _UnknownValueError as reason:
            raise UncountableError(loop, f"its {which} {reason}") from None
    start, stop, step = found
    if start >= stop:
        return start, 0, step
    if step <= 0:
        raise UncountableError(loop, f"its step is {step}, with which it does not end")
    return start, -((start - stop) // step), step


@dataclass(slots=True)
class _Bound:
    """A bound of a loop: its expression in postorder, and the variables and tables it reads."""

    nodes: Sequence[ProgramNode]
    reads: Sequence[str]
    tables: Mapping[str, Sequence[int]]
    known: dict[tuple[int | None, ...], int] = field(default_factory=dict)

    @classmethod
    def of(cls, root: ProgramNode, tables: Mapping[str, Sequence[int]]) -> Self:
        """The bound that ``root`` computes."""
        nodes = _postorder(root)
        return cls(nodes, [text_of(node, "name") for node in nodes if node.op == "var"], tables)

    def at(self, values: Mapping[str, int]) -> int:
        """Its value in C for these values of variables; raises ``_UnknownValueError``."""
        key = tuple([values.get(name) for name in self.reads])
        found = self.known.get(key)
        if found is None:
            found = self.known[key] = self._evaluate(values)
        return found

    def _evaluate(self, values: Mapping[str, int]) -> int:
        known: dict[int, int] = {}
        value = 0
        for node in self.nodes:
            args = [known[id(arg)] for arg in node.args]
            value = known[id(node)] = self._value(node, args, values)
        return value

    def _value(self, node: ProgramNode, args: Sequence[int], values: Mapping[str, int]) -> int:
        constant = node.attrs.get("value")
        if isinstance(constant, int):
            return constant
        name, op = text_of(node, "name"), node.op
        if op == "var" and name in values:
            return values[name]
        if op == "var":
            raise _UnknownValueError(f"depends on the variable {name}, which a run computes")
        if op == "view" and len(args) == 1:
            return args[0]
        if op == "load":
            return self._element(text_of(node.args[0], "buffer"), args[0])
        if op in _INTEGER_OPS and not node.dtype.is_floating:
            return _INTEGER_OPS[op](*args)
        raise _UnknownValueError(f"is computed by {op}, which is not integer arithmetic")

    def _element(self, buffer: str, index: int) -> int:
        table = self.tables.get(buffer)
        if table is None:
            raise _UnknownValueError(f"is loaded from data (buffer {buffer})")
        if not 0 <= index < len(table):
            raise _UnknownValueError(f"is loaded from beyond the {len(table)} elements of {buffer}")
        return table[index]


def _quotient(a: int, b: int) -> int:
    """``a / b`` in C, which truncates."""
    if b == 0:
        raise _UnknownValueError("divides by zero")
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


_INTEGER_OPS: dict[str, Callable[..., int]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": _quotient,
    "mod": lambda a, b: a - b * _quotient(a, b),
    "neg": lambda a: -a,
    "minimum": min,
    "maximum": max,
}


def _postorder(root: ProgramNode) -> list[ProgramNode]:
    """The distinct nodes of an expression, arguments first."""
    order: list[ProgramNode] = []
    seen: set[int] = set()
    stack = [(root, False)]
    while stack:
        node, ready = stack.pop()
        if ready:
            order.append(node)
        elif id(node) not in seen:
            seen.add(id(node))
            stack.append((node, True))
            stack += ((arg, False) for arg in node.args)
    return order
