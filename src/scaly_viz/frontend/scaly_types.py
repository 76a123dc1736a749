"""Owns short names for scaly's generic types, whose parameters do not matter here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scaly.function.concrete import ConcreteFunction
    from scaly.function.model import Function
    from scaly.solvers import Solver

    type Concrete = ConcreteFunction[Any, Any, Any, Any]
    type Markable = Function[Any, Any, Any, Any] | Concrete | Solver[Any, Any, Any, Any]
