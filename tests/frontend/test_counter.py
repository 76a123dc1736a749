"""Owns the counter's manners: big numbers, deep nodes, unknown kinds, and parts that it has seen before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from scaly.ir import program as ir
from scaly.ir.program import ProgramNode
from scaly.ir.types import dtypes

from scaly_viz.frontend.counts import Counter
from scaly_viz.frontend.pace import Pace

from .small_programs import (
    X,
    Y,
    at,
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
