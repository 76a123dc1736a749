"""Owns what became of the operations of an expression where it was lowered: which storage holds each value.

Lowering makes operations into statements in their order, and declares storage for each as it comes to
it. Names tell nothing of that; so an operation and a buffer belong together where their turn is the
same, their types are, and what is written to the buffer is read from the storage of just the operands.
From the first operation on for which that does not hold, nothing is told.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from scaly_viz.analysis.expression_lines import procedures_of
from scaly_viz.analysis.following import Name, parameters
from scaly_viz.analysis.scanners import ScannedText, Scope
from scaly_viz.analysis.text_expr import signature_of

_OPERATION = re.compile(r"\s*%([\w.]+) = expr\.(\w+)(?:\(([^()]*)\))?")
_RETURN = re.compile(r"\s*expr\.return\b(.*)")
_TYPE = re.compile(r" : tensor<([^<>]*)>$")
_INPUT = re.compile(r'\bname="([^"]*)"')
_CALLEE = re.compile(r'\bcallee="([^"]*)"')
_OUTPUT = re.compile(r"\boutput=(\d{1,9})\b")
_BUFFER = re.compile(r"\s*%([\w.]+) = prog\.buffer : memref<([^>]*)>(.*)$")
_ALIAS = re.compile(r" = prog\.alias %([\w.]+) offset ")
_FOR = re.compile(r"\s*prog\.for %([\w.]+) = ")
# What no statement does: the storage is given, or that of the operand.
_NO_CODE = frozenset(("input", "reshape"))
# What both languages call the same.
_ELEMENTWISE = frozenset(
    [
        "neg",
        "sin",
        "cos",
        "tan",
        "asin",
        "acos",
        "atan",
        "sinh",
        "cosh",
        "tanh",
        "erf",
        "exp",
        "log",
        "sqrt",
        "abs",
        "floor",
        "ceil",
        "add",
        "sub",
        "mul",
        "div",
        "pow",
        "atan2",
        "minimum",
        "maximum",
    ]
)


@dataclass(frozen=True, slots=True)
class _Operation:
    """A line of an expression: what it computes, of what, and of which type."""

    name: str
    operation: str
    operands: tuple[str, ...]
    text: str
    type: str


@dataclass(slots=True)
class _Buffer:
    """Storage that a procedure declares: its type, and what is known of its content."""

    type: str
    alias_of: str = ""
    is_constant: bool = False


@dataclass(slots=True)
class _Body:
    """A procedure: storage in the order of its declaration, what each is written from, and calls by output."""

    buffers: dict[str, _Buffer] = field(default_factory=dict)
    sources: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    writes: defaultdict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    calls: dict[str, tuple[str, tuple[str, ...]]] = field(default_factory=dict)
    lines: defaultdict[str, list[int]] = field(default_factory=lambda: defaultdict(list))


@dataclass(slots=True)
class Lowering:
    """An expression and the first program made of it; the storage of each function is found once."""

    expression: ScannedText
    program: ScannedText
    procedures: Mapping[str, Scope]
    _storage: dict[str, Mapping[str, str]] = field(default_factory=dict)
    _bodies: dict[str, _Body] = field(default_factory=dict)
    _lines: dict[int, list[int]] | None = None
    _reach: dict[int, tuple[list[str], Mapping[str, int]]] = field(default_factory=dict)

    @classmethod
    def of(cls, expression: ScannedText, program: ScannedText) -> Lowering:
        """Return the lowering of these texts."""
        return cls(expression, program, procedures_of(expression, program))

    def function_of(self, procedure: str) -> str | None:
        """Return the function that ``procedure`` was made of."""
        return next((f for f, scope in self.procedures.items() if scope.name == procedure), None)

    def in_program(self, name: Name) -> Name | None:
        """Return what holds a value of the expression in the program, None where that is not known."""
        if name.is_procedure:
            made = self.procedures.get(name.name)
            return None if made is None else Name(made.name, "", is_procedure=True)
        there = self.procedures.get(name.scope)
        called = self.storage(name.scope).get(name.name)
        return None if there is None or called is None else Name(called, there.name)

    def in_expression(self, name: Name) -> Name | None:
        """Return the value that storage of the program holds first, None where that is not known."""
        function = self.function_of(name.name if name.is_procedure else name.scope)
        if function is None:
            return None
        if name.is_procedure:
            return Name(function, "", is_procedure=True)
        held = (value for value, called in self.storage(function).items() if called == name.name)
        value = next(held, None)
        return None if value is None else Name(value, function)

    def lines(self) -> dict[int, list[int]]:
        """Return for the line of each operation whose storage is known those that write it."""
        if self._lines is None:
            self._lines = {}
            for function, there in self.procedures.items():
                known = self.storage(function)
                writes = self._body(there).lines
                for scope in self.expression.named(function):
                    for line in range(scope.line + 1, scope.end + 1):
                        match = _OPERATION.match(self.expression.lines[line - 1])
                        if match and match[2] not in _NO_CODE and match[1] in known:
                            self._lines[line] = writes.get(known[match[1]], [])
        return self._lines

    def outputs_with(self, value: Name) -> list[str]:
        """Return the outputs of its function that are made of ``value``."""
        found: list[str] = []
        for scope in self.expression.named(value.scope):
            if scope.line not in self._reach:
                self._reach[scope.line] = self._reached(scope)
            outputs, reach = self._reach[scope.line]
            found += [o for i, o in enumerate(outputs) if reach.get(value.name, 0) >> i & 1]
        return found

    def _reached(self, scope: Scope) -> tuple[list[str], Mapping[str, int]]:
        """The outputs of a function, and of each value a bit for every output that is made of it."""
        operations, returned = _operations(self.expression, scope)
        _, outputs = signature_of(self.expression.lines[scope.line - 1])
        reach: defaultdict[str, int] = defaultdict(int)
        for i, of in enumerate(returned):
            reach[of] |= 1 << i
        for each in reversed(operations):
            for operand in each.operands:
                reach[operand] |= reach[each.name]
        return [*outputs], reach

    def storage(self, function: str) -> Mapping[str, str]:
        """Return the storage of each value of ``function``, its inputs and outputs first."""
        if function not in self._storage:
            scope = next(iter(self.expression.named(function)), None) if function else None
            there = self.procedures.get(function)
            known = {} if scope is None or there is None else self._found(scope, there)
            self._storage[function] = known
        return self._storage[function]

    def _found(self, scope: Scope, there: Scope) -> Mapping[str, str]:
        inputs, outputs = signature_of(self.expression.lines[scope.line - 1])
        theirs = parameters(self.program, there)
        if len(inputs) != len(theirs["input"]) or len(outputs) != len(theirs["output"]):
            return {}
        given = dict(zip(inputs, theirs["input"], strict=True))
        returned = dict(zip(outputs, theirs["output"], strict=True))
        walk = _Walk(self, self._body(there), given, theirs["output"])
        return returned | given | walk.storage(*_operations(self.expression, scope))

    def _body(self, procedure: Scope) -> _Body:
        if procedure.name not in self._bodies:
            self._bodies[procedure.name] = _body(self.program, procedure)
        return self._bodies[procedure.name]


@dataclass(slots=True)
class _Walk:
    """The way through the operations of a function and the declarations of its procedure, side by side."""

    lowering: Lowering
    body: _Body
    given: Mapping[str, str]
    outputs: Sequence[str]
    _held: dict[str, str] = field(default_factory=dict)
    _calls: dict[tuple[str, tuple[str, ...]], tuple[str, ...]] = field(default_factory=dict)
    _declared: list[str] = field(default_factory=list)

    def storage(self, operations: Sequence[_Operation], returned: Sequence[str]) -> dict[str, str]:
        """Return the storage of each value, up to the first that it is not known of."""
        self._declared = [*self.body.buffers][::-1]
        first: dict[str, str] = {}
        for value, output in zip(returned, self.outputs, strict=False):
            first.setdefault(value, output)
        for each in operations:
            found = self._of(each, first.get(each.name))
            if found is None:
                break
            self._held[each.name] = found
            while self._declared and self._is_table(self._declared[-1], found):
                self._declared.pop()
        return self._held

    def _of(self, each: _Operation, output: str | None) -> str | None:
        if each.operation == "input":
            match = _INPUT.search(each.text)
            return self.given.get(match[1]) if match else None
        if each.operation == "const":
            return self._next(each, is_constant=True)
        if not all(operand in self._held for operand in each.operands):
            return None
        if each.operation == "reshape":  # of the same storage, in another shape
            return self._held[each.operands[0]]
        if each.operation == "call":
            return self._called(each)
        found = output or self._next(each)
        if found is None or not self._fits(each, found):
            return None
        if each.operation == "vmap":  # the outputs that it leaves are declared, too
            others = [b for b in self.body.calls.get(found, ("", ()))[1] if b != found]
            if others and [*reversed(self._declared[-len(others) :])] != others:
                return None
            del self._declared[len(self._declared) - len(others) :]
        return found

    def _next(self, each: _Operation, *, is_constant: bool = False) -> str | None:
        """The storage that is declared next, if it is of the operation's type."""
        if not self._declared:
            return None
        name = self._declared.pop()
        buffer = self.body.buffers[name]
        fits = buffer.type == each.type and buffer.is_constant == is_constant
        return name if fits else None

    def _fits(self, each: _Operation, storage: str) -> bool:
        """Whether what is in ``storage`` was computed as ``each`` says."""
        operands = {self._held[operand] for operand in each.operands}
        buffer = self.body.buffers.get(storage)
        if buffer is not None and buffer.alias_of:
            return each.operation == "slice" and operands == {buffer.alias_of}
        sources = self.body.sources[storage] - {storage}
        tables = {name for name in sources - operands if self._is_table(name, storage)}
        if sources - tables != operands:
            return False
        if each.operation == "vmap":
            return self._is_of(each, self.body.calls.get(storage))
        writes = self.body.writes[storage]
        word = f"prog.{each.operation}("
        return each.operation not in _ELEMENTWISE or any(word in line for line in writes)

    def _called(self, each: _Operation) -> str | None:
        """The storage of one output of a call; a call of several outputs is one call."""
        callee = _CALLEE.search(each.text)
        output = _OUTPUT.search(each.text)
        if callee is None or output is None:
            return None
        key = callee[1], tuple(self._held[operand] for operand in each.operands)
        if key not in self._calls:
            call = self.body.calls.get(self._declared[-1]) if self._declared else None
            outputs = call[1] if call else ()
            if not outputs or not self._is_of(each, call):
                return None
            if [*reversed(self._declared[-len(outputs) :])] != [*outputs]:
                return None
            if any(self.body.sources[made] - {made} != set(key[1]) for made in outputs):
                return None
            del self._declared[len(self._declared) - len(outputs) :]
            self._calls[key] = outputs
        outputs, at = self._calls[key], int(output[1])
        fits = at < len(outputs) and self.body.buffers[outputs[at]].type == each.type
        return outputs[at] if fits else None

    def _is_of(self, each: _Operation, call: tuple[str, tuple[str, ...]] | None) -> bool:
        """Whether ``call`` is of the procedure that the operation's function became."""
        callee = _CALLEE.search(each.text)
        if call is None or callee is None:
            return False
        made = self.lowering.procedures.get(callee[1])
        return made is None or made.name == call[0]

    def _is_table(self, name: str, reader: str) -> bool:
        """Whether ``name`` holds whole numbers by which the statements that write ``reader`` find elements."""
        buffer = self.body.buffers.get(name)
        is_index = buffer is not None and buffer.is_constant and buffer.type.startswith("int")
        return is_index and name in self.body.sources[reader]


def _operations(text: ScannedText, scope: Scope) -> tuple[list[_Operation], list[str]]:
    """The operations of a function in order, and the values that it returns."""
    found: list[_Operation] = []
    returned: list[str] = []
    for lines in _statements(text, scope):
        if match := _RETURN.match(lines[0]):
            returned = _operands(match[1])
        elif match := _OPERATION.match(lines[0]):
            type_ = _TYPE.search(lines[-1])
            shown = _shown(type_[1]) if type_ else ""
            operands = tuple(_operands(match[3] or ""))
            # A constant may be long; what it is called with is in its first line.
            found.append(_Operation(match[1], match[2], operands, lines[0], shown))
    return found, returned


def _statements(text: ScannedText, scope: Scope) -> Iterator[list[str]]:
    """The lines of each statement: arrays may go over several."""
    lines: list[str] = []
    for line in text.lines[scope.line : scope.end]:
        if (_OPERATION.match(line) or _RETURN.match(line)) and lines:
            yield lines
            lines = []
        if line.strip() != "}":
            lines.append(line)
    if lines:
        yield lines


def _operands(text: str) -> list[str]:
    return [each.strip().removeprefix("%") for each in text.split(",") if each.strip()]


def _shown(type_: str) -> str:
    """Type and shape in one form for both languages, in which a scalar has one element."""
    *shape, dtype = type_.partition(",")[0].split(" ", maxsplit=1)[0].split("x")
    return f"{dtype} {'x'.join(shape) or '1'}"


def _body(program: ScannedText, scope: Scope) -> _Body:
    body = _Body()
    loops: set[str] = set()
    for number in range(scope.line + 1, scope.end + 1):
        line = program.lines[number - 1]
        if match := _BUFFER.match(line):
            alias = _ALIAS.match(match[3])
            is_constant = match[3].startswith(" = dense<")
            of = alias[1] if alias else ""
            body.buffers[match[1]] = _Buffer(_shown(match[2]), of, is_constant)
            if of or is_constant:
                body.lines[match[1]].append(number)
        elif match := _FOR.match(line):
            loops.add(match[1])
        elif "prog.store" in line or "prog.call @" in line:
            _note(body, loops, program, number)
    return body


def _note(body: _Body, loops: set[str], program: ScannedText, number: int) -> None:
    line = program.lines[number - 1]
    names = program.names(number)
    written = tuple(use.name for use in names if use.access == "write")
    read = {use.name for use in names if use.access == "read" and not use.is_procedure} - loops
    callee = next((use.name for use in names if use.is_procedure), None)
    for each in written:
        body.sources[each] |= read
        body.writes[each].append(line)
        body.lines[each].append(number)
        if callee is not None:
            body.calls[each] = callee, written
