"""Owns the proof of the static counts: by hand, against the listing, and by running the program."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from fractions import Fraction
from functools import partial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scaly.codegen.aot import register_render_observer, render_c_module, render_c_source
from scaly.ir import program as ir
from scaly.ir.program import ProgramNode, ProgramOp
from scaly.ir.program_spec import verify_program
from scaly.ir.text import render_program_assembly
from scaly.ir.types import DType, dtypes

from programs import PROGRAMS, Program
from programs.calls import big_callee
from programs.compat import arg, function, mapped
from programs.rendering import softmax
from scaly_viz.frontend.counts import Counter, Counts
from scaly_viz.frontend.pace import Pace

# 0.1.0a1 has kinds of node that 0.1.0a2 has not, and the other way round.
p: Any = ir


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


def unary(op: str) -> Callable[[], Counts]:
    def build() -> Counts:
        return count(put(ProgramNode(ProgramOp(op), (x(0),))))

    return build


def binary(op: str) -> Callable[[], Counts]:
    def build() -> Counts:
        return count(put(ProgramNode(ProgramOp(op), (x(0), x(1)))))

    return build


def one_load() -> Counts:
    return counted(loads=1, stores=1, traffic_bytes=16, buffers=2)


UNARY = counted(loads=1, stores=1, flops=1, traffic_bytes=16, buffers=2)
BINARY = counted(loads=2, stores=1, flops=1, traffic_bytes=24, buffers=2)

# Each kind of node: the counts of a small program with it, and what they are by hand.
KINDS: dict[str, tuple[Callable[[], Counts], Counts]] = {
    **{op: (binary(op), BINARY) for op in ("add", "sub", "mul", "div", "pow", "atan2")},
    **{op: (binary(op), BINARY) for op in ("minimum", "maximum")},
    **{op: (unary(op), UNARY) for op in ("neg", "abs", "floor", "ceil", "sqrt", "exp", "log")},
    **{op: (unary(op), UNARY) for op in ("erf", "sin", "cos", "tan", "asin", "acos", "atan")},
    **{op: (unary(op), UNARY) for op in ("sinh", "cosh", "tanh")},
    # y[i % 5] = x[0] for i in 0..2: the remainder is of integers, no flop
    "mod": (
        lambda: count(loop("i", 0, 3, put(x(0), ir.mod(i, ir.const_int(5))))),
        counted(
            loads=3, load_sites=1, stores=3, store_sites=1, traffic_bytes=48, loops=1, buffers=2
        ),
    ),
    # y[7] = 2.0
    "const_int": (
        lambda: count(put(ir.const_float(2.0), 7)),
        counted(stores=1, traffic_bytes=8, buffers=2),
    ),
    "const_float": (
        lambda: count(put(ir.add(x(0), ir.const_float(2.0)))),
        counted(loads=1, stores=1, flops=1, traffic_bytes=16, buffers=2),
    ),
    # a = x[0]; a = a * a; y[0] = a: the variable is no memory
    "var": (
        lambda: count(
            ir.assign("a", x(0), declare=True),
            ir.assign(
                "a", ir.mul(ir.var("a", dtypes.float64), ir.var("a", dtypes.float64)), declare=False
            ),
            put(ir.var("a", dtypes.float64)),
        ),
        counted(loads=1, stores=1, flops=1, traffic_bytes=16, buffers=2),
    ),
    "assign": (
        lambda: count(ir.assign("a", ir.neg(ir.mul(x(0), x(1))), declare=True)),
        counted(loads=2, flops=2, traffic_bytes=16, buffers=2),
    ),
    # y[0] = x[2 * 3 + 1], all of it integer arithmetic
    "view": (
        lambda: count(
            put(
                x(ir.add(ir.mul(ir.const_int(2), ir.const_int(3)), ir.const_int(1))),
            )
        ),
        one_load(),
    ),
    # y[0] = x[k[2]] with a table of 64-bit integers: two loads of 8 bytes
    "load": (
        lambda: count(
            (table := ir.const_buffer("k", dtypes.int64, (3,), (5, 6, 7))),
            put(x(ir.load(at(table, 2)))),
        ),
        counted(loads=2, stores=1, traffic_bytes=24, buffers=3),
    ),
    # a float32 buffer moves 4 bytes
    "store": (
        lambda: count(
            (half := ir.buffer("h", dtypes.float32, (3,), address_space="private")),
            ir.store(at(half, 0), ir.const_float(1.0, dtypes.float32)),
            ir.store(at(Y, 0), ir.load(at(half, 0))),
        ),
        counted(loads=1, stores=2, traffic_bytes=16, buffers=3, private_bytes=12),
    ),
    "store_pair": (
        lambda: count(ir.store_pair(at(Y, 2), x(0), ir.mul(x(1), x(2)))),
        counted(loads=3, stores=2, flops=1, traffic_bytes=40, buffers=2),
    ),
    "block": (
        lambda: count(ir.block(put(x(0)), ir.block(put(x(1), 1)))),
        counted(loads=2, stores=2, traffic_bytes=32, buffers=2),
    ),
    "range": (
        lambda: count(loop("i", 2, 12, put(x(i), i), step=3)),
        counted(
            loads=4, load_sites=1, stores=4, store_sites=1, traffic_bytes=64, loops=1, buffers=2
        ),
    ),
    # for i < 3: for j < 4: y[i] = y[i] + x[j]
    "for": (
        lambda: count(
            loop("i", 0, 3, loop("j", 0, 4, put(ir.add(ir.load(at(Y, i)), x(j)), i))),
        ),
        counted(
            loads=24,
            load_sites=2,
            stores=12,
            store_sites=1,
            flops=12,
            flop_sites=1,
            traffic_bytes=288,
            loops=2,
            buffers=2,
        ),
    ),
    # 2 * 3 matrix of doubles as scratch, an alias into it, a parameter and a constant that cost none
    "buffer": (
        lambda: count(
            ir.buffer("t", dtypes.float64, (2, 3), address_space="private"),
            ProgramNode(
                ProgramOp.BUFFER,
                (),
                {
                    **ir.buffer("a", dtypes.float64, (3,), address_space="private").attrs,
                    "alias_of": "t",
                    "alias_offset": 3,
                },
            ),
            ir.const_buffer("c", dtypes.float64, (2,), (1.0, 2.0)),
        ),
        counted(buffers=5, private_bytes=48),
    ),
    # g is called once directly and thrice in a loop
    "call": (
        lambda: Counter(Pace()).count(
            program(
                procedure(put(ir.add(x(0), x(1))), name="g"),
                procedure(calling("g"), loop("i", 0, 3, calling("g"))),
            )
        ),
        counted(
            loads=8,
            load_sites=2,
            stores=4,
            store_sites=1,
            flops=4,
            flop_sites=1,
            calls=4,
            call_sites=2,
            traffic_bytes=96,
            loops=1,
            buffers=4,
        ),
    ),
    "proc": (
        lambda: Counter(Pace()).count(procedure(put(x(0)))),
        one_load(),
    ),
    # what nothing calls does not run, but is in the text
    "program": (
        lambda: Counter(Pace()).count(
            program(procedure(put(ir.neg(x(0))), name="unused"), procedure(put(x(0))))
        ),
        counted(
            loads=1,
            load_sites=2,
            stores=1,
            store_sites=2,
            flop_sites=1,
            traffic_bytes=16,
            buffers=4,
        ),
    ),
}


def calling(callee: str, *arguments: ProgramNode) -> ProgramNode:
    given = arguments or (X, Y)
    made = ir.call(callee, given)
    return ProgramNode(made.op, made.args, {**made.attrs, "n_in": len(given) - 1, "n_out": 1})


if hasattr(ir, "bit_select"):
    # y[0] = bit 3 of a byte ? x[0] : 0, which is a choice and no arithmetic
    KINDS["bit_select"] = (
        lambda: count(
            (mask := p.const_buffer("m", dtypes.uint8, (1,), (8,))),
            put(p.bit_select(ir.load(at(mask, 0)), ir.const_int(3), x(0))),
        ),
        counted(loads=2, stores=1, traffic_bytes=17, buffers=3),
    )
if hasattr(ir, "print_"):
    KINDS["print"] = (
        lambda: count(p.print_(("sum ", " of ", ""), [ir.add(x(0), x(1)), x(2)])),
        counted(loads=3, flops=1, traffic_bytes=24, buffers=2),
    )
if hasattr(ir, "launch"):

    def launching() -> Counts:
        kernel = p.kernel("k", (X, Y), [put(ir.neg(x(0))), p.barrier()])
        host = procedure(p.launch("k", [4], [32], [X, Y]), put(x(0)))
        return Counter(Pace()).count(p.program([host], [kernel]))

    LAUNCHED = counted(
        loads=1,
        load_sites=2,
        stores=1,
        store_sites=2,
        flop_sites=1,
        calls=1,
        traffic_bytes=16,
        buffers=4,
        uncounted=("launch of k in proc f: what its threads run is not counted",),
    )
    KINDS.update(dict.fromkeys(["kernel", "launch", "barrier"], (launching, LAUNCHED)))


@pytest.mark.parametrize("kind", [op.value for op in ProgramOp])
def test_each_kind_of_node_is_counted_as_by_hand(kind: str) -> None:
    build, by_hand = KINDS[kind]
    assert build() == by_hand


@pytest.mark.parametrize(
    ("dtype", "flops"),
    [(dtypes.float64, 1), (dtypes.float32, 1), (dtypes.int64, 0), (dtypes.int32, 0)],
)
def test_arithmetic_is_a_flop_where_it_is_of_floating_point(dtype: DType, flops: int) -> None:
    source = ir.buffer("s", dtype, (2,))
    value = ir.add(ir.load(at(source, 0)), ir.load(at(source, 1)))
    root = ir.proc("f", [source], [ir.store(at(source, 0), value)])
    assert Counter(Pace()).count(root).flops == flops
    assert Counter(Pace()).count(root).traffic_bytes == 3 * dtype.bits // 8


def test_what_computes_an_index_is_no_flop_but_its_loads_are_loads() -> None:
    odd = ProgramNode(ProgramOp.ADD, (ir.load(at(N, 0)), ir.load(at(N, 1))), dtype=dtypes.float64)
    assert count(put(x(odd))) == counted(loads=3, stores=1, traffic_bytes=32, buffers=2)


@pytest.mark.parametrize(
    ("start", "stop", "step", "trips"),
    [
        (0, 5, 1, 5),
        (0, 5, 2, 3),
        (0, 6, 2, 3),
        (1, 10, 3, 3),
        (1, 11, 3, 4),
        (-3, 3, 2, 3),
        (-10, -2, 4, 2),
        (3, 3, 1, 0),
        (5, 0, 1, 0),
        (5, 0, 7, 0),
        (0, 2**70, 1, 2**70),
        (0, 2**70, 3, -(-(2**70) // 3)),
        (5, 0, -1, 0),
        (0, 0, 0, 0),
    ],
)
def test_a_loop_between_constants_runs_as_often_as_in_c(
    start: int, stop: int, step: int, trips: int
) -> None:
    found = count(loop("i", start, stop, put(x(i), i), step=step))
    assert (found.loads, found.load_sites, found.loops, found.uncounted) == (trips, 1, 1, ())


@pytest.mark.parametrize("step", [0, -2])
def test_a_loop_that_does_not_end_is_said_to(step: int) -> None:
    found = count(loop("i", 0, 5, put(x(i), i), step=step), put(x(0)))
    assert (found.loads, found.load_sites) == (1, 2)
    assert found.uncounted == (f"loop i in proc f: its step is {step}, with which it does not end",)


def plus(a: ProgramNode, b: ProgramNode | int) -> ProgramNode:
    return ir.add(a, b if isinstance(b, ProgramNode) else ir.const_int(b))


def combined(op: str, *args: ProgramNode | int) -> ProgramNode:
    nodes = tuple(a if isinstance(a, ProgramNode) else ir.const_int(a) for a in args)
    return ProgramNode(ProgramOp(op), nodes, dtype=dtypes.int64)


@pytest.mark.parametrize(
    ("start", "stop", "step", "runs"),
    [
        (0, i, 1, sum(range(10))),
        (i, 10, 1, sum(range(1, 11))),
        (0, plus(i, 1), 2, sum(len(range(0, i + 1, 2)) for i in range(10))),
        (i, plus(i, 3), 1, 30),
        (combined("mul", 3, i), 17, 2, sum(len(range(3 * i, 17, 2)) for i in range(10))),
        (0, combined("sub", i, 5), 1, 1 + 2 + 3 + 4),
        (0, combined("minimum", i, 4), 1, 0 + 1 + 2 + 3 + 4 * 6),
        (combined("maximum", i, 6), 9, 1, 3 * 7 + 2 + 1),
        (0, combined("div", i, 3), 1, 3 * (0 + 1 + 2) + 3),
        (0, combined("mod", i, 4), 1, 2 * (0 + 1 + 2 + 3) + 0 + 1),
        (combined("neg", i), 0, 1, sum(range(10))),
        # C truncates: (i - 4) / 3 is -1, -1, 0, 0, 0, 0, 0, 1, 1, 1
        (combined("div", combined("sub", i, 4), 3), 1, 1, 2 + 2 + 5 * 1),
        (combined("mod", combined("sub", i, 4), 3), 1, 1, 2 + 1 + 3 + 2 + 1 + 0 + 0 + 1 + 0 + 0),
        (0, 3, plus(i, 1), 3 + 2 + 8),
        (0, combined("mul", 2, 3), 1, 60),
    ],
)
def test_a_loop_bounded_by_an_outer_variable_is_summed_exactly(
    start: Any, stop: Any, step: Any, runs: int
) -> None:
    body = loop("j", start, stop, put(x(j), j), step=step)
    found = count(loop("i", 0, 10, put(x(0), 99), body))
    assert found.uncounted == ()
    assert (found.loads, found.stores, found.load_sites) == (10 + runs, 10 + runs, 2)


def test_loops_within_a_triangle_are_summed_too() -> None:
    inner = loop("k", j, i, put(x(k), k))
    nest = loop("i", 0, 20, loop("j", 0, i, loop("m", 0, 7, inner)), loop("k", 0, 2, put(x(0))))
    found = count(loop("outer", 0, 10**12, nest))
    pairs = sum(i - j for i in range(20) for j in range(i))
    assert found.stores == 10**12 * (7 * pairs + 40)
    assert (found.loops, found.uncounted) == (6, ())


def test_bounds_in_a_constant_table_are_known() -> None:
    """Rows of a sparse matrix, whose loads of the table are loads once a row."""
    rows = ir.const_buffer("rows", dtypes.int64, (4,), (0, 2, 2, 7))
    start, stop = ir.load(at(rows, i)), ir.load(at(rows, plus(i, 1)))
    found = count(rows, loop("i", 0, 3, loop("j", start, stop, put(x(j), i))))
    assert (found.loads, found.stores, found.uncounted) == (7 + 2 * 3, 7, ())
    beyond = count(rows, loop("i", 0, 4, loop("j", start, stop, put(x(j), i))))
    assert (beyond.loads, beyond.stores) == (2 * 4, 0)
    assert beyond.uncounted == (
        "loop j in proc f: its stop is loaded from beyond the 4 elements of rows",
    )


def test_too_many_values_of_a_variable_are_not_tried() -> None:
    triangle = loop("i", 0, 10, loop("j", 0, i, put(x(j))))
    found = count(loop("i", 0, 10**9, put(x(0)), loop("j", 0, i, put(x(j)))), triangle)
    assert found.stores == 10**9 + 45
    assert found.uncounted == (
        "loop j in proc f: its bounds depend on i, which takes too many values to try each",
    )


UNKNOWN_BOUNDS = {
    "is loaded from data (buffer n)": ir.load(at(N, 0)),
    "depends on the variable m, which a run computes": plus(ir.var("m"), 1),
    "divides by zero": combined("div", 5, 0),
    "is computed by const_float, which is not integer arithmetic": ir.const_float(2.0),
    "is computed by floor, which is not integer arithmetic": combined("floor", 2),
}


@pytest.mark.parametrize("reason", UNKNOWN_BOUNDS)
def test_a_loop_that_cannot_be_counted_is_said_and_left_out(reason: str) -> None:
    dependent = loop(
        "k", 0, UNKNOWN_BOUNDS[reason], put(ir.neg(x(k)), k), loop("j", 0, 4, put(x(0)))
    )
    found = count(put(x(0)), loop("i", 0, 3, put(x(i), i), dependent))
    loads_of_bounds = 3 * reason.startswith("is loaded")
    assert found == counted(
        loads=4 + loads_of_bounds,
        load_sites=4 + loads_of_bounds // 3,
        stores=4,
        store_sites=4,
        flop_sites=1,
        traffic_bytes=64 + 8 * loads_of_bounds,
        loops=3,
        buffers=2,
        uncounted=(f"loop k in proc f: its stop {reason}",),
    )


def test_the_bound_that_cannot_be_counted_is_named() -> None:
    read = ir.load(at(N, 0))
    for which, bounds in {
        "start": (read, 9, 1),
        "stop": (0, read, 1),
        "step": (0, 9, read),
    }.items():
        start, stop, step = bounds
        found = count(loop("k", start, stop, put(x(k)), step=step))
        assert found.uncounted == (f"loop k in proc f: its {which} is loaded from data (buffer n)",)


def test_a_loop_that_is_never_reached_need_not_be_counted() -> None:
    assert count(loop("i", 5, 5, loop("k", 0, ir.load(at(N, 0)), put(x(0))))).uncounted == ()


def test_calls_in_a_loop_that_cannot_be_counted_are_left_out() -> None:
    callee = procedure(put(x(0)), loop("q", 0, ir.load(at(N, 1)), put(x(0))), name="g")
    found = Counter(Pace()).count(
        program(callee, procedure(loop("k", 0, ir.load(at(N, 0)), calling("g"))))
    )
    assert (found.calls, found.call_sites, found.stores, found.store_sites) == (0, 1, 0, 2)
    assert found.uncounted == ("loop k in proc f: its stop is loaded from data (buffer n)",)


def test_calls_in_a_triangle_count_what_the_callee_runs() -> None:
    leaf = procedure(put(ir.neg(x(0))), name="leaf")
    middle = procedure(loop("i", 0, 5, calling("leaf")), calling("leaf"), name="middle")
    top = procedure(loop("i", 0, 4, loop("j", 0, i, calling("middle"))), calling("leaf"))
    found = Counter(Pace()).count(program(leaf, middle, top))
    assert (found.calls, found.call_sites) == (6 + 6 * 6 + 1, 4)
    assert (found.flops, found.flop_sites) == (6 * 6 + 1, 1)


def test_an_argument_of_a_call_is_no_load_but_its_index_may_be() -> None:
    callee = procedure(put(x(0)), name="g")
    found = Counter(Pace()).count(
        program(callee, procedure(calling("g", at(X, ir.load(at(N, 1))), at(Y, plus(i, 2)))))
    )
    assert found == counted(loads=2, stores=1, calls=1, call_sites=1, traffic_bytes=24, buffers=4)


def test_a_call_out_of_the_program_is_one_call_and_said() -> None:
    found = count(loop("i", 0, 3, calling("elsewhere")))
    assert (found.calls, found.call_sites) == (3, 1)
    assert found.uncounted == (
        "call of elsewhere in proc f: it is not in the program, what it runs is unknown",
    )


def test_recursion_is_said_and_not_followed() -> None:
    even = procedure(put(x(0)), calling("odd"), name="even")
    odd = procedure(put(ir.neg(x(0))), calling("even"), name="odd")
    found = Counter(Pace()).count(program(even, odd, procedure(calling("even"))))
    assert (found.stores, found.flops, found.calls) == (2, 1, 3)
    assert found.uncounted == ("call of even in proc odd: it is recursive, how deep is unknown",)


def test_each_oracle_of_a_solver_counts_once() -> None:
    oracles = [procedure(put(ir.neg(x(0))), name=name) for name in ("cost", "slope")]
    attrs = {"solver_oracles": {"ipopt": ("cost", "slope", "foreign")}}
    host = procedure(put(x(0)), loop("i", 0, 2, calling("ipopt")), name="host")
    solved = Counter(Pace()).count(program(*oracles, host, **attrs))
    assert (solved.stores, solved.flops, solved.calls) == (3, 2, 2)
    unknown = "how often it runs cost, slope, foreign is unknown, each is counted once"
    assert solved.uncounted == (f"call of solver ipopt in proc host: {unknown}",)
    alone = Counter(Pace()).count(program(*oracles, solver_root="ipopt", **attrs))
    assert (alone.stores, alone.flops, alone.calls) == (2, 2, 0)
    assert alone.uncounted == (f"solver ipopt: {unknown}",)
    helper = procedure(put(x(0)), name="helper")
    assert (
        Counter(Pace()).count(program(*oracles, helper, solver_root="ipopt", **attrs)).stores == 2
    )


def test_a_solver_lends_its_workspace_to_one_oracle_after_the_other() -> None:
    attrs = {"solver_root": "ipopt", "solver_oracles": {"ipopt": ("cost", "slope")}}
    oracles = [procedure(name=name, sz_w=size) for name, size in (("cost", 7), ("slope", 5))]
    helper = procedure(name="helper", sz_w=100)
    for external, needed in ((0, 7), (6, 7), (11, 11)):
        workspace = {"solver_external_workspace": {"ipopt": external}}
        found = Counter(Pace()).count(program(*oracles, helper, **attrs, **workspace))
        assert found.workspace_bytes == 8 * needed
    unpacked = Counter(Pace()).count(program(oracles[0], procedure(name="slope"), **attrs))
    assert unpacked.workspace_bytes is None


def test_a_node_in_two_places_counts_twice() -> None:
    product = ir.mul(x(0), x(1))
    twice = put(ir.add(product, product))
    assert count(twice) == counted(loads=4, stores=1, flops=3, traffic_bytes=40, buffers=2)
    body = loop("i", 0, 5, twice)
    assert count(body, body, twice).flops == 3 * 11
    assert count(body, body, twice).loops == 2


def test_counts_do_not_overflow() -> None:
    value = x(0)
    for _ in range(300):
        value = ir.mul(value, value)
    found = count(put(value))
    assert (found.loads, found.flop_sites) == (2**300, 2**300 - 1)


def test_an_expression_5000_deep_is_counted() -> None:
    value, index = x(0), i
    for _ in range(5000):
        value, index = ir.neg(value), plus(index, 1)
    found = count(loop("i", 0, 2, put(value, index)))
    assert (found.flops, found.flop_sites, found.stores) == (10_000, 5000, 2)


def test_bounds_and_loops_2000_deep_are_counted() -> None:
    bound: ProgramNode = i
    nest = put(x(0))
    for _ in range(2000):
        bound, nest = plus(bound, 1), loop("j", 0, 1, nest)
    found = count(loop("i", 0, 3, loop("k", 0, bound, put(x(0))), nest))
    assert (found.stores, found.loops) == (3 * 2000 + 3 + 3, 2002)


@dataclass(frozen=True, eq=False)
class MadeUp:
    """A node that scaly would not make; hashed by identity, as its own are."""

    op: str
    args: tuple[Any, ...]
    attrs: Mapping[str, object] = field(default_factory=dict)
    dtype: Any = dtypes.float64


def unknown_node(*args: Any) -> Any:
    """A kind of node that no released scaly has."""
    return MadeUp("fma", args)


def test_an_unknown_kind_of_node_is_said_once_and_its_arguments_count() -> None:
    # Nodes of scaly hold nodes of scaly only, so the parents have to be made up as well.
    value = unknown_node(x(0), ir.neg(x(1)), unknown_node(X, x(2)))
    store: Any = MadeUp("store", (at(Y, 0), MadeUp("neg", (value,))))
    by_hand = counted(
        loads=3, stores=1, flops=2, traffic_bytes=32, uncounted=("unknown node kind fma",)
    )
    counter = Counter(Pace())
    assert counter.count(store) == by_hand
    known = put(x(0))
    assert counter.count(known).uncounted == ()
    branch: Any = unknown_node(loop("i", 0, 3, put(x(i), i)), value)
    assert counter.count(branch).stores == 3
    assert counter.count(branch).uncounted == ("unknown node kind fma",)


class Spied:
    """A node that counts how often its arguments are read."""

    reads = 0

    def __init__(self, op: str, *args: Any) -> None:
        self.op = op
        self.attrs: dict[str, object] = {}
        self.dtype = dtypes.float64
        self._args = args

    @property
    def args(self) -> Any:
        Spied.reads += 1
        return self._args


def test_a_part_that_was_counted_before_is_not_visited_again() -> None:
    old: Any = Spied("var")
    for _ in range(100):
        old = Spied("neg", old)
    counter = Counter(Pace())
    assert counter.count(old).flops == 100
    Spied.reads = 0
    assert counter.count(old).flops == 100
    assert Spied.reads == 0
    new: Any = Spied("add", old, Spied("neg", old))
    assert counter.count(new).flops == 202
    assert Spied.reads < 10


def test_what_is_forgotten_is_counted_again() -> None:
    leaf: Any = Spied("var")
    node: Any = Spied("neg", leaf)
    counter = Counter(Pace())
    before = counter.count(node)
    counter.forget([leaf])
    Spied.reads = 0
    assert counter.count(node) == before
    assert Spied.reads > 0


def test_forgotten_nodes_may_die_and_their_identity_be_used_again() -> None:
    counter = Counter(Pace())
    kept = program(procedure(put(ir.add(x(0), x(1)))))
    before = counter.count(kept)
    nodes = set(ir.walk_program(kept))
    for factor in range(40):
        dying = program(procedure(*(put(ir.neg(x(k))) for k in range(factor)), name="g"))
        assert counter.count(dying).flops == factor
        del dying
        counter.forget(nodes)
    assert counter.count(kept) == before
    counter.forget(())
    assert counter.count(kept) == before


# Real programs, as an observer of scaly's renders sees them.


@dataclass
class Steps:
    """The programs of one render, by step."""

    programs: list[tuple[str, ProgramNode]] = field(default_factory=list)

    def add_normalized_expr(self, name: str, fun: object) -> None:
        pass

    def add_program(self, name: str, root: ProgramNode) -> None:
        self.programs.append((name, root))

    def add_code(self, source: str) -> None:
        pass

    def finish(self, *, error: str | None = None) -> None:
        pass


WATCHING: list[Steps] = []
# scaly keeps an observer for good, so one serves all tests and sits out what none of them asks for.
register_render_observer(lambda fun: WATCHING[-1] if WATCHING else None)


def steps_of(render: Callable[[Any], Any], fun: Any) -> list[tuple[str, ProgramNode]]:
    WATCHING.append(Steps())
    try:
        render(fun)
    finally:
        steps = WATCHING.pop()
    return steps.programs


def compiled(*, but: str) -> list[Program]:
    """The test programs that compile, without those whose names match ``but``."""
    found = [each for each in PROGRAMS if each.error is None]
    return [each for each in found if not re.match(but, each.name)]


# scaly's printer recurses into the deep ones.
@pytest.mark.parametrize("case", compiled(but="chain|deep"), ids=lambda case: case.name)
def test_the_text_holds_what_the_listing_shows(case: Program) -> None:
    counter = Counter(Pace())
    for name, root in steps_of(case.render, case.build()):
        listing = render_program_assembly(root)
        found = counter.count(root)
        assert found == Counter(Pace()).count(root), name
        assert found.load_sites == listing.count("prog.load "), name
        pairs = listing.count("prog.store_pair ")
        assert found.store_sites == listing.count("prog.store ") + 2 * pairs, name
        assert found.call_sites == listing.count("prog.call @"), name
        assert found.loops == listing.count("prog.for %"), name
        assert found.buffers == listing.count(": memref<"), name


def last(fun: Any, **options: Any) -> Counts:
    """The counts of what ``fun`` compiles to in the end."""
    return Counter(Pace()).count(steps_of(partial(render_c_source, **options), fun)[-1][1])


def lowered(fun: Any) -> Counts:
    """The counts of ``fun`` before any pass."""
    name, root = steps_of(render_c_source, fun)[0]
    assert name == "lowered"
    return Counter(Pace()).count(root)


def product() -> Any:
    @function(arg("a", (5, 7)), arg("b", (7, 3)), outputs=arg("c"))
    def product(a: Any, b: Any) -> Any:
        return (a @ b).block()

    return product


def test_a_matrix_product_is_counted_as_by_hand() -> None:
    """c[i, j] += a[i, k] * b[k, j], after c = 0: the field's 2 m n k."""
    found = lowered(product())
    assert found.flops == 2 * 5 * 7 * 3
    assert found.flop_sites % 2 == 0
    assert found.calls == 0


def powers() -> Any:
    @function(arg("x", ()), outputs=arg("y"))
    def cube(x: Any) -> Any:
        return (x * x * x).block()

    @function(arg("x", 12), outputs=arg("y"))
    def powers(x: Any) -> Any:
        return mapped(cube, 12, x)

    return powers


def test_a_mapped_call_is_counted_as_by_hand() -> None:
    """Twelve calls of two products each; scalar, they read one number and write one."""
    found = lowered(powers())
    assert (found.calls, found.call_sites) == (12, 1)
    assert (found.flops, found.flop_sites) == (24, 2)
    assert last(powers(), lanes=1).flops == 24


@pytest.mark.parametrize("build", [softmax, powers, product], ids=lambda build: build.__name__)
def test_vector_lanes_pass_each_element_once(build: Callable[[], Any]) -> None:
    by_lanes = {lanes: last(build(), lanes=lanes) for lanes in (1, 2, 4, 8, "auto")}
    scalar = by_lanes[1]
    for lanes, found in by_lanes.items():
        assert found.uncounted == (), lanes
        assert found.flops == scalar.flops, lanes
        assert found.stores == scalar.stores, lanes
        assert found.loads == scalar.loads, lanes
        assert found.traffic_bytes == scalar.traffic_bytes, lanes


def test_a_triangle_within_lanes_runs_once_per_element() -> None:
    width = ir.var("WIDTH")
    triangle = loop("i", 0, 5, loop("j", 0, i, put(x(j))))
    rest = combined("sub", 13, combined("mul", ir.var("chunk"), width))
    span = ir.range_("lane", 0, combined("minimum", width, rest), kind=ir.RangeKind.VECTOR)
    lanes = ir.for_(span, [triangle, put(x(0))])
    made = loop("chunk", 0, combined("div", plus(width, 12), width), lanes)
    attrs = {**made.attrs, "vector_helper": "f_lanes_1", "vector_count": 13}
    widened = ProgramNode(made.op, made.args, attrs)
    found = count(loop("k", 0, 2, widened))
    assert (found.stores, found.loops, found.uncounted) == (2 * 13 * (10 + 1), 5, ())


def test_a_widened_loop_is_two_loops_in_the_text() -> None:
    before, after = (
        Counter(Pace()).count(root)
        for name, root in steps_of(partial(render_c_source, lanes=4), powers())
        if name in ("pass:fold_arith_after_unroll", "pass:widen_ranges")
    )
    assert (before.loops, after.loops) == (1, 2)
    assert (before.calls, after.calls) == (12, 0)
    assert before.flops == after.flops == 24


PLAIN = [each for each in compiled(but="chain|deep") if each.render is render_c_source]


@pytest.mark.parametrize("case", PLAIN, ids=lambda case: case.name)
def test_the_workspace_is_what_the_header_demands(case: Program) -> None:
    module: Any = None

    def render(fun: Any) -> None:
        nonlocal module
        module = render_c_module(fun)

    counts = [(name, Counter(Pace()).count(root)) for name, root in steps_of(render, case.build())]
    names = [name for name, _ in counts]
    packed = names.index("pass:pack_workspace")
    assert all(found.workspace_bytes is None for _, found in counts[:packed])
    assert {found.workspace_bytes for _, found in counts[packed:]} == {8 * module.workspace_size}
    (demanded,) = re.findall(r"_SZ_W (\d+)$", module.header, re.M)
    assert counts[-1][1].workspace_bytes == 8 * int(demanded)


def test_a_spilled_buffer_moves_from_private_to_workspace_bytes() -> None:
    steps = dict(steps_of(render_c_source, big_callee()))
    packed = Counter(Pace()).count(steps["pass:pack_workspace"])
    before = Counter(Pace()).count(steps["pass:fold_arith_after_unroll"])
    assert packed.workspace_bytes is not None
    assert packed.workspace_bytes >= 2 * 35 * 35 * 8
    assert before.private_bytes >= packed.workspace_bytes > packed.private_bytes


SOLVED = [each for each in compiled(but="chain|deep") if each.solver is not None]


@pytest.mark.parametrize("case", SOLVED, ids=lambda case: case.name)
def test_a_solver_is_said_and_its_oracles_are_counted(case: Program) -> None:
    for _, root in steps_of(case.render, case.build()):
        found = Counter(Pace()).count(root)
        assert len(found.uncounted) == len(root.attrs["solver_oracles"])
        for said in found.uncounted:
            assert re.fullmatch(
                r"(call of )?solver \w+( in proc \w+)?: "
                r"(how often it runs .* is unknown, each is counted once|what it runs is unknown)",
                said,
            )
        assert found.stores > 0 or not root.args


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


# Running a large one takes minutes, as the machine is slow.
@pytest.mark.parametrize(
    "case", compiled(but="chain|deep|cartpole|big_callee|workspace"), ids=lambda case: case.name
)
def test_a_real_program_runs_what_is_counted(case: Program) -> None:
    counter = Counter(Pace())
    outputs: dict[str, list[float]] = {}
    for name, root in steps_of(case.render, case.build()):
        machine = Machine(root, width=3)
        results = [value for each in machine.run() for value in each]
        found = counter.count(root)
        assert {key: getattr(found, key) for key in machine.done} == machine.done, name
        # That every step computes the same shows that the machine runs programs as scaly means them.
        outputs[name] = results
        assert results == pytest.approx(next(iter(outputs.values())), nan_ok=True), name


def bounds(variables: tuple[str, ...], low: int, high: int) -> st.SearchStrategy[ProgramNode]:
    """Integer expressions of a constant and the variables of the loops around."""
    value = st.integers(low, high).map(ir.const_int)
    for name in variables:
        read = st.sampled_from([ir.var(name), combined("mul", 2, ir.var(name))])
        operation = st.sampled_from(["add", "sub", "minimum", "maximum"])
        value |= read | st.builds(combined, operation, value, read)
        value |= st.builds(
            combined, st.sampled_from(["div", "mod"]), value, st.sampled_from([2, -3])
        )
    return value


def nests(variables: tuple[str, ...] = ()) -> st.SearchStrategy[ProgramNode]:
    """Three loops within each other, with statements between them."""
    statement = st.sampled_from([put(x(0)), put(ir.mul(x(1), x(2))), calling("g")])
    if len(variables) == 3:
        return statement
    name = "ijk"[len(variables)]
    return st.builds(
        lambda start, stop, step, *body: loop(name, start, stop, *body, step=step),
        bounds(variables, -3, 2),
        bounds(variables, 0, 6),
        st.integers(1, 3),
        statement,
        nests((*variables, name)),
    )


@settings(deadline=None)
@given(st.lists(nests(), min_size=1, max_size=2))
def test_any_nest_of_loops_runs_what_is_counted(body: list[ProgramNode]) -> None:
    callee = procedure(put(ir.neg(x(0))), name="g", input_count=1)
    root = program(callee, procedure(*body, input_count=1))
    found = Counter(Pace()).count(root)
    machine = Machine(root, width=1)
    machine.run()
    assert found.uncounted == ()
    assert {key: getattr(found, key) for key in machine.done} == machine.done
