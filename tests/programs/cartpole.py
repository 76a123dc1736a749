"""Owns the benchmark program: swing-up of a pole on a cart by NMPC, multiple shooting, IPOPT."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scaly as sc

from .compat import arg, call, function, group, mapped
from .program import Program

CART_MASS, POLE_MASS, POLE_LENGTH, GRAVITY = 1.0, 0.2, 0.5, 9.81
STAGE_DURATION = 0.05
FORCE_LIMIT, TRACK_LIMIT, SPEED_LIMIT = 20.0, 2.4, 8.0
STATE_WEIGHTS = np.array([1.0, 10.0, 0.1, 0.1])
UPRIGHT = np.array([0.0, np.pi, 0.0, 0.0])


def dynamics() -> Any:
    """Return the time derivative of (position, angle, velocity, angular velocity)."""

    @function(arg("x", 4), arg("u", 1), outputs=arg("xdot"))
    def cartpole_ode(x: sc.Expr, u: sc.Expr) -> sc.Expr:
        angle, velocity, spin = x[1], x[2], x[3]
        sine, cosine = angle.sin(), angle.cos()
        inertia = CART_MASS + POLE_MASS * sine * sine
        swing = POLE_MASS * sine * (POLE_LENGTH * spin * spin + GRAVITY * cosine)
        acceleration = (u[0] + swing) / inertia
        torque = (
            -u[0] * cosine
            - POLE_MASS * POLE_LENGTH * spin * spin * cosine * sine
            - (CART_MASS + POLE_MASS) * GRAVITY * sine
        )
        return sc.stack([velocity, spin, acceleration, torque / (POLE_LENGTH * inertia)])

    return cartpole_ode


def euler(ode: Any) -> Any:
    """Return one stage as an explicit Euler step."""

    @function(arg("x", 4), arg("u", 1), outputs=arg("xnext"))
    def cartpole_stage(x: sc.Expr, u: sc.Expr) -> sc.Expr:
        return x + STAGE_DURATION * call(ode, x, u)

    return cartpole_stage


def runge_kutta(ode: Any) -> Any:
    """Return one stage as a classical Runge-Kutta step under a constant force."""
    step = STAGE_DURATION

    @function(arg("x", 4), arg("u", 1), outputs=arg("xnext"))
    def cartpole_stage(x: sc.Expr, u: sc.Expr) -> sc.Expr:
        k1 = call(ode, x, u)
        k2 = call(ode, x + step / 2 * k1, u)
        k3 = call(ode, x + step / 2 * k2, u)
        k4 = call(ode, x + step * k3, u)
        return x + step / 6 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)

    return cartpole_stage


def build(stages: int = 20, integrate: Callable[[Any], Any] = runge_kutta) -> Any:
    """Return the solver function for a horizon of ``stages``."""
    stage = integrate(dynamics())

    @function(arg("x", 4), arg("u", 1), arg("xnext", 4), outputs=arg("gap"))
    def defect(x: sc.Expr, u: sc.Expr, xnext: sc.Expr) -> sc.Expr:
        return call(stage, x, u) - xnext

    @function(arg("x", 4), arg("u", 1), outputs=arg("cost"))
    def stage_cost(x: sc.Expr, u: sc.Expr) -> sc.Expr:
        error = x - UPRIGHT
        return (error * error * STATE_WEIGHTS).sum() + 0.01 * sc.sumsqr(u)

    @sc.problem(
        vars=group(arg("x", (stages + 1, 4)), arg("u", (stages, 1))),
        params=arg("x0", 4),
    )
    def cartpole_nmpc(
        variables: tuple[sc.Expr, sc.Expr], x0: sc.Expr
    ) -> sc.ProblemSpec[tuple[sc.Expr, sc.Expr]]:
        x, u = variables
        terminal_error = x[stages] - UPRIGHT
        state_limits = np.tile(
            np.array([TRACK_LIMIT, np.inf, SPEED_LIMIT, np.inf]), (stages + 1, 1)
        )
        return sc.ProblemSpec(
            minimize=mapped(stage_cost, stages, x[:-1], u).sum()
            + 20.0 * (terminal_error * terminal_error * STATE_WEIGHTS).sum(),
            eq=(x[0] - x0, mapped(defect, stages, x[:-1], u, x[1:]).vec()),
            ineq=(sc.bounded((u[1:] - u[:-1]).vec(), -8.0, 8.0, name="force_rate"),),
            lb=(sc.const(-state_limits), sc.const(-FORCE_LIMIT)),
            ub=(sc.const(state_limits), sc.const(FORCE_LIMIT)),
        )

    return sc.solver(cartpole_nmpc, "ipopt").function


PROGRAMS = (Program("cartpole_nmpc", lambda: build(3, euler), solver="ipopt"),)
