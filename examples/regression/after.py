"""The same constraints after a change: the first stages are shorter, so each stage has its own step."""

from __future__ import annotations

import scaly as sc
from scaly.codegen.aot import render_c_source

import scaly_viz

STAGES = 24
DURATIONS_S = (*[0.05] * 4, *[0.1] * (STAGES - 4))
WHEELBASE_M = 2.7


def car(x: sc.Expr, u: sc.Expr, duration_s: float) -> sc.Expr:
    """Position, heading and speed a stage later, by acceleration and steering angle."""
    heading, speed = x[2], x[3]
    turn = speed / WHEELBASE_M * u[1].tan()
    return x + duration_s * sc.stack([speed * heading.cos(), speed * heading.sin(), turn, u[0]])


@sc.function(sc.arg("x", (STAGES + 1, 4)), sc.arg("u", (STAGES, 2)), sc.arg("x0", 4))
def parking(x: sc.Expr, u: sc.Expr, x0: sc.Expr) -> sc.Expr:
    """By how much a plan misses the start, and each stage the next."""
    ends = sc.stack([car(x[k], u[k], duration_s) for k, duration_s in enumerate(DURATIONS_S)])
    return sc.concat([x[0] - x0, (ends - x[1:]).vec()])


if __name__ == "__main__":
    render_c_source(scaly_viz.visualize(parking))
