"""Owns the real scaly programs that tests record: between them every node kind and every pass."""

from __future__ import annotations

from scaly.solvers.registry import available_backends

from . import (
    calls,
    cartpole,
    chain,
    derivatives,
    elementwise,
    failing,
    mapping,
    matrices,
    movement,
    mpc,
    rendering,
    solvers,
)
from .program import Program

__all__ = ["PROGRAMS", "Program"]

_MODULES = (
    elementwise,
    matrices,
    movement,
    calls,
    mapping,
    derivatives,
    rendering,
    solvers,
    mpc,
    cartpole,
    chain,
    failing,
)

PROGRAMS: tuple[Program, ...] = tuple(
    program
    for module in _MODULES
    for program in module.PROGRAMS
    if program.solver is None or program.solver in available_backends()
)
