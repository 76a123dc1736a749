"""Owns the proof that calls, solvers and their oracles are counted: by hand."""

from __future__ import annotations

from scaly.ir import program as ir

from scaly_viz.frontend.counts import Counter
from scaly_viz.frontend.pace import Pace

from .small_programs import (
    N,
    X,
    Y,
    at,
    calling,
    count,
    counted,
    i,
    loop,
    plus,
    procedure,
    program,
    put,
    x,
)


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
