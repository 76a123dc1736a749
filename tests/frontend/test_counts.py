"""Owns the proof that each kind of node is counted as by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from scaly.ir import program as ir
from scaly.ir.program import ProgramNode, ProgramOp
from scaly.ir.types import DType, dtypes

from scaly_viz.frontend.counts import Counter, Counts
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
    j,
    loop,
    procedure,
    program,
    put,
    x,
)

# 0.1.0a1 has kinds of node that 0.1.0a2 has not, and the other way round.
p: Any = ir


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
