"""Owns the check that the test programs reach all of scaly that a recording can show."""

from __future__ import annotations

import pytest
from scaly.codegen import aot
from scaly.ir.expr import ExprOp, topo
from scaly.ir.program import ADDRESS_SPACES, ProgramOp, RangeKind, walk_program
from scaly.ir.text import render_program_assembly
from scaly.passes.program import PASS_PIPELINE
from scaly.solvers.registry import available_backends

from programs import PROGRAMS, Program, cartpole, chain
from programs.observed import Outcome, PlainObserver, observed, outcome_of

# Vocabulary that neither lowering nor any pass of a release builds into a program.
DEAD_PROGRAM_OPS = {
    "block": "passes build blocks only to walk the statements in them",
    "kernel": "for devices, in 0.1.0a1 only, where lowering refuses them",
    "launch": "for devices, in 0.1.0a1 only, where lowering refuses them",
    "barrier": "for devices, in 0.1.0a1 only, where lowering refuses them",
}
DEAD_RANGE_KINDS = {
    "unroll": "passes unroll by substitution",
    "thread": "for devices, in 0.1.0a1 only",
    "local": "for devices, in 0.1.0a1 only",
    "warp": "for devices, in 0.1.0a1 only",
    "group_reduce": "for devices, in 0.1.0a1 only",
}
DEAD_ADDRESS_SPACES = {"local": "for devices"}
OPTIONAL_PASSES = ("widen_ranges", "hoist_reciprocals")


@pytest.fixture(scope="module")
def outcomes() -> dict[str, Outcome]:
    """Each program's outcome, by name."""
    return {program.name: outcome_of(program.name) for program in PROGRAMS}


@pytest.fixture(scope="module")
def observers(outcomes: dict[str, Outcome]) -> list[PlainObserver]:
    """What was observed of all renders."""
    return [observer for outcome in outcomes.values() for observer in outcome.observers]


def test_program_names_are_distinct() -> None:
    names = [program.name for program in PROGRAMS]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_a_program_ends_as_it_says(program: Program, outcomes: dict[str, Outcome]) -> None:
    outcome = outcomes[program.name]
    assert outcome.error == program.error
    assert outcome.observers
    for observer in outcome.observers:
        assert (observer.error or "").split("(")[0] == (program.error or "")
        assert (observer.code is None) == (program.error is not None)


def test_the_failing_programs_fail_in_different_stages(outcomes: dict[str, Outcome]) -> None:
    reached = {
        (len(observer.functions) > 1, observer.programs[-1][0] if observer.programs else None)
        for outcome in outcomes.values()
        for observer in outcome.observers
        if outcome.error
    }
    assert {(False, None), (True, None), (True, "lowered"), (True, "pass:widen_ranges")} <= reached


def test_a_program_is_built_afresh() -> None:
    for program in PROGRAMS:
        assert program.build() is not program.build(), program.name


def test_every_expression_op_occurs(observers: list[PlainObserver]) -> None:
    occurring = {
        ExprOp(node.op)
        for observer in observers
        for function in observer.functions
        for node in topo(function.outputs)
    }
    absent = set() if available_backends() else {ExprOp.SOLVER_CALL}
    assert occurring == set(ExprOp) - absent


def test_every_program_op_occurs_that_scaly_can_build(observers: list[PlainObserver]) -> None:
    occurring = {node.op.value for observer in observers for node in observer.nodes()}
    assert occurring == {op.value for op in ProgramOp} - DEAD_PROGRAM_OPS.keys()


def test_every_range_kind_occurs_that_scaly_can_build(observers: list[PlainObserver]) -> None:
    occurring = {
        node.attrs["kind"].value
        for observer in observers
        for node in observer.nodes()
        if node.op == ProgramOp.RANGE
    }
    assert occurring == {kind.value for kind in RangeKind} - DEAD_RANGE_KINDS.keys()


def test_every_address_space_occurs_that_scaly_can_use(observers: list[PlainObserver]) -> None:
    occurring = {
        node.attrs["address_space"]
        for observer in observers
        for node in observer.nodes()
        if node.op == ProgramOp.BUFFER
    }
    assert occurring == ADDRESS_SPACES - DEAD_ADDRESS_SPACES.keys()


@pytest.mark.parametrize("name", [*(name for name, _ in PASS_PIPELINE), *OPTIONAL_PASSES])
def test_every_pass_changes_a_program(name: str, observers: list[PlainObserver]) -> None:
    assert any(f"pass:{name}" in observer.changing_passes() for observer in observers)


def test_a_long_chain_compiles_although_scalys_printer_cannot_show_it() -> None:
    with observed() as observers:
        aot.render_c_source(chain.build(1200))
    fused = dict(observers[0].programs)["pass:fuse_elementwise"]
    with pytest.raises(RecursionError):
        render_program_assembly(fused)


@pytest.mark.slow
@pytest.mark.skipif("ipopt" not in available_backends(), reason="needs scaly-ipopt")
def test_the_benchmark_program_is_as_big_as_a_real_one() -> None:
    function = cartpole.build(20)
    with observed() as observers:
        aot.render_c_source(function)
    largest = max(sum(1 for _ in walk_program(root)) for _, root in observers[0].programs)
    assert 20_000 <= largest <= 25_000
