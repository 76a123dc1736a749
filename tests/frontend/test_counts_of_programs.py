"""Owns the proof of the counts on real programs: against the listing, the header, and a machine that runs them."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from scaly.codegen.aot import render_c_module, render_c_source
from scaly.ir.text import render_program_assembly

from programs import PROGRAMS, Program
from programs.calls import big_callee
from programs.compat import arg, function, mapped
from programs.observed import outcome_of, steps_of
from programs.rendering import softmax
from scaly_viz.frontend.counts import Counter, Counts
from scaly_viz.frontend.pace import Pace

from .machine import Machine


def compiled(*, but: str) -> list[Program]:
    """The test programs that compile, without those whose names match ``but``."""
    found = [each for each in PROGRAMS if each.error is None]
    return [each for each in found if not re.match(but, each.name)]


# scaly's printer recurses into the deep ones.
@pytest.mark.parametrize("case", compiled(but="chain|deep"), ids=lambda case: case.name)
def test_the_text_holds_what_the_listing_shows(case: Program) -> None:
    counter = Counter(Pace())
    for name, root in outcome_of(case.name).programs:
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
    for _, root in outcome_of(case.name).programs:
        found = Counter(Pace()).count(root)
        assert len(found.uncounted) == len(root.attrs["solver_oracles"])
        for said in found.uncounted:
            assert re.fullmatch(
                r"(call of )?solver \w+( in proc \w+)?: "
                r"(how often it runs .* is unknown, each is counted once|what it runs is unknown)",
                said,
            )
        assert found.stores > 0 or not root.args


# Running a large one takes minutes, as the machine is slow.
@pytest.mark.parametrize(
    "case", compiled(but="chain|deep|cartpole|big_callee|workspace"), ids=lambda case: case.name
)
def test_a_real_program_runs_what_is_counted(case: Program) -> None:
    counter = Counter(Pace())
    outputs: dict[str, list[float]] = {}
    for name, root in outcome_of(case.name).programs:
        machine = Machine(root, width=3)
        results = [value for each in machine.run() for value in each]
        found = counter.count(root)
        assert {key: getattr(found, key) for key in machine.done} == machine.done, name
        # That every step computes the same shows that the machine runs programs as scaly means them.
        outputs[name] = results
        assert results == pytest.approx(next(iter(outputs.values())), nan_ok=True), name
