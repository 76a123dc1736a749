"""Owns programs that scaly differentiates: dense, sparse, seeded, of mapped functions."""

from __future__ import annotations

from typing import Any

import scaly as sc
from scaly.function.factory import Grad, Jac, SpJac

from .compat import arg, call_tree, function, mapped, results, window
from .mapping import pendulum_step
from .program import Program


def arm() -> Any:
    """Return the tip of a planar arm and its potential energy, the function differentiated."""

    @function(
        arg("q", 3), arg("p", sc.TensorType((3,), diff=False)), outputs=results("tip", "energy")
    )
    def arm(q: sc.Expr, p: sc.Expr) -> tuple[sc.Expr, ...]:
        first, second = q[0], q[0] + q[1]
        x = p[0] * first.cos() + p[1] * second.cos() + q[2]
        y = p[0] * first.sin() + p[1] * second.sin()
        return sc.stack([x, y]), 9.81 * y * p[2] + 0.5 * sc.sumsqr(q)

    return arm


def rollout() -> Any:
    """Return defects of a trajectory whose derivatives are banded."""
    step = pendulum_step()

    @function(arg("x", 14), arg("u", 6), outputs=results("gaps", "cost"))
    def rollout(x: sc.Expr, u: sc.Expr) -> tuple[sc.Expr, ...]:
        gaps = mapped(step, 6, window(x, 0, 2), u).vec() - x[2:]
        return gaps, sc.sumsqr(x) + (u**4).sum() + (x[::2].cos() * x[1::2]).sum()

    return rollout


def expressions() -> Any:
    """Derivatives of expressions inside a body, and a directional one through a call."""
    inner = arm()

    @function(arg("q", 3), arg("p", 3), outputs=results("slope", "curvature", "moved"))
    def expressions(q: sc.Expr, p: sc.Expr) -> tuple[sc.Expr, ...]:
        tip, energy = call_tree(inner, q, p)
        smooth = (q * p).sum().sin() * sc.norm_2(q + 2.0)
        return sc.gradient(smooth, q), sc.hessian(smooth, q), sc.jvp(tip, q, p) * energy

    return expressions


def mixed_factory() -> Any:
    """One function of values and derivatives, one of them compact."""
    requests = ["energy", Jac("tip", "q"), Grad("energy", "q"), SpJac("tip", "q")]
    return arm().factory("arm_mixed", ["q", "p"], requests)


PROGRAMS = (
    Program("jacobian", lambda: sc.jacobian(arm(), "tip", "q")),
    Program("hessian", lambda: sc.hessian(arm(), "energy", "q")),
    Program("sparse_jacobian", lambda: sc.sparse_jacobian(rollout(), "gaps", "x")),
    Program("sparse_hessian", lambda: sc.sparse_hessian(rollout(), "cost", "x", triangle="lower")),
    Program("forward", lambda: sc.forward(arm(), "tip", "q")),
    Program("adjoint", lambda: sc.adjoint(rollout(), "gaps", "x")),
    Program("lagrangian_hessian", lambda: sc.lagrangian_hessian(arm(), "q")),
    Program("sparse_lagrangian", lambda: sc.sparse_lagrangian_hessian(rollout(), "x")),
    Program("expressions", expressions),
    Program("mixed_factory", mixed_factory),
)
