"""Owns small programs made by hand, and the counts that they are compared with."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from scaly.ir import program as ir
from scaly.ir.program import ProgramNode, ProgramOp
from scaly.ir.program_spec import verify_program
from scaly.ir.types import dtypes

from scaly_viz.frontend.counts import Counter, Counts
from scaly_viz.frontend.pace import Pace


def counted(**found: Any) -> Counts:
    """Counts of which all but ``found`` are nought, and each place runs once unless it says so."""
    for run, sites in (
        ("loads", "load_sites"),
        ("stores", "store_sites"),
        ("flops", "flop_sites"),
        ("calls", "call_sites"),
    ):
        found.setdefault(sites, found.get(run, 0))
    nought: dict[str, Any] = {each.name: 0 for each in fields(Counts)}
    return Counts(**{**nought, "workspace_bytes": None, "uncounted": (), **found})


X = ir.buffer("x", dtypes.float64, (100,))
Y = ir.buffer("y", dtypes.float64, (100,))
N = ir.buffer("n", dtypes.int64, (4,))
i, j, k = map(ir.var, "ijk")


def x(index: ProgramNode | int) -> ProgramNode:
    return ir.load(at(X, index))


def at(buffer: ProgramNode, index: ProgramNode | int) -> ProgramNode:
    return ir.view(buffer, [index if isinstance(index, ProgramNode) else ir.const_int(index)])


def put(value: ProgramNode, index: ProgramNode | int = 0) -> ProgramNode:
    return ir.store(at(Y, index), value)


def loop(name: str, start: Any, stop: Any, *body: ProgramNode, step: Any = 1) -> ProgramNode:
    return ir.for_(ir.range_(name, start, stop, step=step), body)


def procedure(*body: ProgramNode, name: str = "f", **attrs: Any) -> ProgramNode:
    made = ir.proc(name, (X, Y), body)
    return ProgramNode(made.op, made.args, {**made.attrs, **attrs}, made.dtype)


def program(*procedures: ProgramNode, **attrs: Any) -> ProgramNode:
    made = ir.program(procedures)
    made = ProgramNode(made.op, made.args, {**made.attrs, **attrs}, made.dtype)
    verify_program(made)
    return made


def count(*body: ProgramNode) -> Counts:
    """The counts of a program of one procedure."""
    return Counter(Pace()).count(program(procedure(*body)))


def calling(callee: str, *arguments: ProgramNode) -> ProgramNode:
    given = arguments or (X, Y)
    made = ir.call(callee, given)
    return ProgramNode(made.op, made.args, {**made.attrs, "n_in": len(given) - 1, "n_out": 1})


def plus(a: ProgramNode, b: ProgramNode | int) -> ProgramNode:
    return ir.add(a, b if isinstance(b, ProgramNode) else ir.const_int(b))


def combined(op: str, *args: ProgramNode | int) -> ProgramNode:
    nodes = tuple(a if isinstance(a, ProgramNode) else ir.const_int(a) for a in args)
    return ProgramNode(ProgramOp(op), nodes, dtype=dtypes.int64)
