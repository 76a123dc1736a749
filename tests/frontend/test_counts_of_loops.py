"""Owns the proof that loops are counted exactly: by hand, and by running any nest of them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scaly.ir import program as ir
from scaly.ir.program import ProgramNode
from scaly.ir.types import dtypes

from scaly_viz.frontend.counts import Counter
from scaly_viz.frontend.pace import Pace

from .machine import Machine
from .small_programs import (
    N,
    at,
    calling,
    combined,
    count,
    counted,
    i,
    j,
    k,
    loop,
    plus,
    procedure,
    program,
    put,
    x,
)


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
