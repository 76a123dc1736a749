"""The dynamics of a small model predictive controller: a unicycle over some stages, and its Jacobian."""

from __future__ import annotations

import scaly as sc

STAGES = 12
STEP = 0.1


@sc.function(sc.arg("x", 3), sc.arg("u", 2))
def unicycle(x: sc.Expr, u: sc.Expr) -> sc.Expr:
    """Position and heading, driven by speed and turn rate; the explicit midpoint rule."""

    def rate(pose: sc.Expr) -> sc.Expr:
        heading = pose[2]
        return sc.stack([u[0] * heading.cos(), u[0] * heading.sin(), u[1]])

    return x + STEP * rate(x + STEP / 2 * rate(x))


@sc.function(sc.arg("x", 3), sc.arg("u", 2), sc.arg("x_next", 3))
def defect(x: sc.Expr, u: sc.Expr, x_next: sc.Expr) -> sc.Expr:
    """By how much a stage misses the next one."""
    return unicycle(x, u) - x_next


@sc.function(sc.arg("w", 5 * STAGES + 3), sc.arg("x0", 3))
def constraints(w: sc.Expr, x0: sc.Expr) -> sc.Expr:
    """Initial state and dynamics of all stages; ``w`` stacks the states, then the controls."""
    states = w[: 3 * (STAGES + 1)].reshape((STAGES + 1, 3))
    controls = w[3 * (STAGES + 1) :].reshape((STAGES, 2))
    gaps = sc.vmap(defect, STAGES)(states[:-1], controls, states[1:])
    return sc.concat([states[0] - x0, gaps.vec()])


jacobian = sc.sparse_jacobian(constraints, wrt="w", name="constraints_jacobian")
