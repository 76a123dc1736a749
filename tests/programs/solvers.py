"""Owns programs with a solver inside: an NLP, QPs, an SQP, and a function that calls one."""

from __future__ import annotations

from typing import Any

import numpy as np
import scaly as sc

from .compat import arg, function, group, results
from .program import Program


def rosenbrock() -> Any:
    """Return a small nonlinear problem with every kind of constraint."""

    @sc.problem(vars=group(arg("x", ()), arg("y", ())), params=arg("p", 2))
    def rosenbrock(
        variables: tuple[sc.Expr, sc.Expr], p: sc.Expr
    ) -> sc.ProblemSpec[tuple[sc.Expr, sc.Expr]]:
        x, y = variables
        return sc.ProblemSpec(
            minimize=(p[0] - x) ** 2 + p[1] * (y - x * x) ** 2,
            eq=(x * y - 0.5,),
            ineq=(sc.bounded(x * x + y * y, hi=2.0, name="disc"), sc.bounded(x - y, -1.0, p[0])),
            lb=(sc.const(-1.5), sc.NO_LB),
            ub=(sc.NO_UB, sc.const(3.0)),
        )

    return rosenbrock


def portfolio() -> Any:
    """Return a quadratic problem: least squares on the simplex."""
    factors = np.arange(12.0).reshape((4, 3)) % 5.0

    @sc.problem(vars=arg("w", 3), params=group(arg("target", 4), arg("cap", ())))
    def portfolio(w: sc.Expr, params: tuple[sc.Expr, sc.Expr]) -> sc.ProblemSpec[sc.Expr]:
        target, cap = params
        return sc.ProblemSpec(
            minimize=0.5 * sc.sumsqr(sc.const(factors) @ w - target) + 0.01 * sc.sumsqr(w),
            eq=(w.sum() - 1.0,),
            ineq=(sc.bounded(w[:2] - w[1:], hi=cap),),
            lb=sc.const(0.0),
        )

    return portfolio


def unconstrained() -> Any:
    """Return a problem with neither constraints nor bounds."""

    @sc.problem(vars=arg("x", 2), params=arg("c", 2))
    def unconstrained(x: sc.Expr, c: sc.Expr) -> sc.ProblemSpec[sc.Expr]:
        return sc.ProblemSpec(minimize=sc.sumsqr(x - c) + (x * x * x * x).sum())

    return unconstrained


def solver_function(problem: Any, backend: str) -> Any:
    """Return the function to mark behind ``scaly.solver``."""
    return sc.solver(problem, backend).function


def solved_twice() -> Any:
    """A function around a solver: its parameters are computed, its result is warm-started."""
    solve = sc.solver(portfolio(), "piqp")

    @function(arg("target", 4), outputs=results("w", "size"))
    def solved_twice(target: sc.Expr) -> tuple[sc.Expr, ...]:
        first = solve((target.abs(), sc.const(0.2)))
        w, *_ = solve((target.abs() * 0.9, sc.const(0.3)), warm=first)
        return w * 2.0, sc.norm_2(w - first[0])

    return solved_twice


PROGRAMS = (
    Program("nlp_ipopt", lambda: solver_function(rosenbrock(), "ipopt"), solver="ipopt"),
    Program("nlp_free", lambda: solver_function(unconstrained(), "ipopt"), solver="ipopt"),
    Program("qp_piqp", lambda: solver_function(portfolio(), "piqp"), solver="piqp"),
    Program("nlp_sqp", lambda: solver_function(rosenbrock(), "sqp"), solver="sqp"),
    Program("solved_twice", solved_twice, solver="piqp"),
)
