"""Owns a machine that runs a program element by element and counts what it does, to hold counts against."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from scaly.ir.program import ProgramNode, ProgramOp


class Machine:
    """Runs a program element by element and counts what it does, independently of the counter."""

    def __init__(self, root: ProgramNode, width: int) -> None:
        self.root = root
        self.width = width
        self.procedures = {each.attrs["name"]: each for each in root.args}
        self.done = dict.fromkeys(["loads", "stores", "flops", "calls", "traffic_bytes"], 0)

    def run(self) -> list[list[float]]:
        """Run the entry and each oracle once on arbitrary data, and return what they put out."""
        oracles = self.root.attrs.get("solver_oracles", {}).values()
        names = [name for each in oracles for name in each if name in self.procedures]
        if "solver_root" not in self.root.attrs:
            names.append(self.root.args[-1].attrs["name"])
        return [out for name in dict.fromkeys(names) for out in self.enter(name)]

    def enter(self, name: str) -> list[list[float]]:
        procedure = self.procedures[name]
        parameters = procedure.args[: procedure.attrs["param_count"]]
        data = random.Random(name)
        memory = [[data.uniform(0.1, 0.9) for _ in range(size(each))] for each in parameters]
        self.procedure(procedure, [(each, 0) for each in memory])
        return memory[procedure.attrs["input_count"] :]

    def procedure(self, procedure: ProgramNode, arguments: list[Any]) -> None:
        count = procedure.attrs["param_count"]
        names = [each.attrs["name"] for each in procedure.args[:count]]
        Frame(self, dict(zip(names, arguments, strict=True))).body(procedure.args[count:])


def size(buffer: ProgramNode) -> int:
    elements: int = math.prod(buffer.attrs["shape"])
    return max(1, elements)


@dataclass
class Frame:
    """One activation: its buffers as (elements, offset), and its variables."""

    machine: Machine
    buffers: dict[str, Any]
    values: dict[str, Any] = field(default_factory=dict)

    def body(self, statements: Any) -> None:
        for statement in statements:
            getattr(self, f"run_{statement.op.value}")(statement)

    def run_buffer(self, node: ProgramNode) -> None:
        attrs = node.attrs
        if "alias_of" in attrs:
            elements, offset = self.buffers[attrs["alias_of"]]
            self.buffers[attrs["name"]] = elements, offset + attrs["alias_offset"]
        else:
            elements = list(attrs["values"]) if "values" in attrs else [0.0] * size(node)
            self.buffers[attrs["name"]] = elements, 0

    def run_block(self, node: ProgramNode) -> None:
        self.body(node.args)

    def run_for(self, node: ProgramNode) -> None:
        rng = node.args[0]
        if "vector_helper" in node.attrs:
            lanes = node.args[1].args[0]
            self.values[lanes.attrs["lane_width"]] = self.machine.width
        for value in range(*(self.value(bound) for bound in rng.args)):
            self.values[rng.attrs["name"]] = value
            self.body(node.args[1:])

    def run_assign(self, node: ProgramNode) -> None:
        self.values[node.attrs["target"]] = self.value(node.args[0])

    def run_store(self, node: ProgramNode) -> None:
        view, *stored = node.args
        values = [self.value(each) for each in stored]
        elements, index = self.place(view)
        for offset, value in enumerate(values):
            elements[index + offset] = value
            self.did(view, "stores")

    run_store_pair = run_store

    def run_print(self, node: ProgramNode) -> None:
        for value in node.args:
            self.value(value)

    def run_call(self, node: ProgramNode) -> None:
        self.machine.done["calls"] += 1
        arguments = [
            self.buffers[each.attrs["name"]] if each.op == ProgramOp.BUFFER else self.place(each)
            for each in node.args
        ]
        callee = self.machine.procedures.get(node.attrs["callee"])
        if callee is not None:
            self.machine.procedure(callee, arguments)

    def place(self, view: ProgramNode) -> Any:
        elements, offset = self.buffers[view.attrs["buffer"]]
        return elements, offset + self.value(view.args[0])

    def did(self, view: ProgramNode, what: str) -> None:
        self.machine.done[what] += 1
        self.machine.done["traffic_bytes"] += view.dtype.bits // 8

    def value(self, node: ProgramNode) -> Any:
        op = node.op.value
        if op.startswith("const"):
            return node.attrs["value"]
        if op == "var":
            return self.values[node.attrs["name"]]
        if op == "load":
            elements, index = self.place(node.args[0])
            self.did(node.args[0], "loads")
            return elements[index]
        args = [self.value(each) for each in node.args]
        if op == "bit_select":
            return args[2] if (args[0] >> args[1]) & 1 else 0.0
        if node.dtype.is_floating:
            self.machine.done["flops"] += 1
        try:
            return OPERATIONS[op](*args)
        except (ValueError, ArithmeticError):
            return math.nan


def c_quotient(a: int, b: int) -> int:
    return int(Fraction(a, b))


def divided(a: Any, b: Any) -> Any:
    return c_quotient(a, b) if isinstance(a, int) else a / b


OPERATIONS: dict[str, Callable[..., Any]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": divided,
    "mod": lambda a, b: a - b * c_quotient(a, b),
    "neg": lambda a: -a,
    "abs": abs,
    "minimum": min,
    "maximum": max,
    **{name: getattr(math, name) for name in ("floor", "ceil", "sqrt", "exp", "log", "erf", "pow")},
    **{name: getattr(math, name) for name in ("sin", "cos", "tan", "asin", "acos", "atan")},
    **{name: getattr(math, name) for name in ("sinh", "cosh", "tanh", "atan2")},
}
