"""Owns programs of model predictive control: a linear one as QP, a pendulum by multiple shooting."""

from __future__ import annotations

from typing import Any

import numpy as np
import scaly as sc

from .compat import arg, call, function, group, mapped, results, window
from .mapping import pendulum_step
from .program import Program

type Variables = tuple[sc.Expr, sc.Expr]

MASS_DYNAMICS = np.array([[1.0, 0.1], [0.0, 1.0]])
MASS_INPUT = np.array([0.005, 0.1])


def linear_mpc(stages: int = 6) -> Any:
    """Return the QP of a mass on a line, its force and speed bounded."""

    @function(arg("x", 2), arg("u", ()), arg("xnext", 2), outputs=arg("gap"))
    def mass_gap(x: sc.Expr, u: sc.Expr, xnext: sc.Expr) -> sc.Expr:
        return sc.const(MASS_DYNAMICS) @ x + u * MASS_INPUT - xnext

    @sc.problem(vars=group(arg("x", (stages + 1, 2)), arg("u", stages)), params=arg("x0", 2))
    def linear_mpc(variables: Variables, x0: sc.Expr) -> sc.ProblemSpec[Variables]:
        x, u = variables
        gaps = mapped(mass_gap, stages, x[:-1], u, x[1:])
        return sc.ProblemSpec(
            minimize=sc.sumsqr(x) + 0.1 * sc.sumsqr(u),
            eq=(x[0] - x0, gaps.vec()),
            ineq=(sc.bounded(x[:, 1], -1.0, 1.0, name="speed"),),
            lb=(sc.NO_LB, sc.const(-2.0)),
            ub=(sc.NO_UB, sc.const(2.0)),
        )

    return linear_mpc


def pendulum_mpc(stages: int = 3) -> Any:
    """Return a swing-down of a pendulum, one step mapped over overlapping windows."""
    step = pendulum_step()

    @sc.problem(vars=group(arg("x", 2 * stages + 2), arg("u", stages)), params=arg("x0", 2))
    def pendulum_mpc(variables: Variables, x0: sc.Expr) -> sc.ProblemSpec[Variables]:
        x, u = variables
        ends = mapped(step, stages, window(x, 0, 2), u).vec()
        return sc.ProblemSpec(
            minimize=sc.sumsqr(x) + 0.1 * sc.sumsqr(u),
            eq=(x[:2] - x0, ends - x[2:]),
            lb=(sc.NO_LB, sc.const(-2.0)),
            ub=(sc.NO_UB, sc.const(2.0)),
        )

    return pendulum_mpc


def closed_loop() -> Any:
    """Two steps of a plant under its controller, the solver called from within."""
    step = pendulum_step()
    solve = sc.solver(pendulum_mpc(), "sqp")

    @function(arg("x", 2), outputs=results("x_end", "force"))
    def closed_loop(x: sc.Expr) -> tuple[sc.Expr, ...]:
        (_, forces), *duals = solve(x)
        x = call(step, x, forces[0])
        (_, forces), *_ = solve(x, warm=((_, forces), *duals))
        return call(step, x, forces[0]), forces

    return closed_loop


PROGRAMS = (
    Program("linear_mpc", lambda: sc.solver(linear_mpc(), "piqp").function, solver="piqp"),
    Program("mpc_sqp", lambda: sc.solver(pendulum_mpc(), "sqp").function, solver="sqp"),
    Program("mpc_ipopt", lambda: sc.solver(pendulum_mpc(), "ipopt").function, solver="ipopt"),
    Program("closed_loop", closed_loop, solver="sqp"),
)
