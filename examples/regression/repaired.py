"""The same constraints again: the step is one more argument of the function that is mapped."""

from __future__ import annotations

import scaly as sc
from scaly.codegen.aot import render_c_source

import scaly_viz

STAGES = 24
DURATIONS_S = (*[0.05] * 4, *[0.1] * (STAGES - 4))
WHEELBASE_M = 2.7


@sc.function(sc.arg("x", 4), sc.arg("u", 2), sc.arg("duration_s", ()))
def car(x: sc.Expr, u: sc.Expr, duration_s: sc.Expr) -> sc.Expr:
    """Position, heading and speed a stage later, by acceleration and steering angle."""
    heading, speed = x[2], x[3]
    turn = speed / WHEELBASE_M * u[1].tan()
    return x + duration_s * sc.stack([speed * heading.cos(), speed * heading.sin(), turn, u[0]])


@sc.function(sc.arg("x", (STAGES + 1, 4)), sc.arg("u", (STAGES, 2)), sc.arg("x0", 4))
def parking(x: sc.Expr, u: sc.Expr, x0: sc.Expr) -> sc.Expr:
    """By how much a plan misses the start, and each stage the next."""
    ends = sc.vmap(car, STAGES)(x[:-1], u, sc.const(DURATIONS_S))
    return sc.concat([x[0] - x0, (ends - x[1:]).vec()])


if __name__ == "__main__":
    render_c_source(scaly_viz.visualize(parking))
