"""Owns which functions are marked: weakly, with their labels, and what a mark on a declaration covers."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from scaly.function.model import Function
from scaly.solvers import Solver

if TYPE_CHECKING:
    from scaly_viz.frontend.scaly_types import Concrete, Markable

try:
    from scaly.function.concrete import ConcreteFunction as _Concrete
except ImportError:
    # scaly 0.1.0a1 knows functions only.
    _FUNCTIONS: tuple[type, ...] = (Function,)
else:
    _FUNCTIONS = (Function, _Concrete)


class Marks:
    """The marked functions.

    A declaration (scaly >= 0.1.0a2) covers its present and future instances; the mark of an
    instance itself takes precedence. A declaration that leaves no shape open shares its mark with
    its only instance.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._labels: WeakKeyDictionary[Any, str | None] = WeakKeyDictionary()

    def add(self, function: Markable, label: str | None) -> None:
        """Mark ``function``, or a solver's function; a second mark replaces the first one's label.

        Raises:
            TypeError: ``function`` is none of scaly's functions.
        """
        with self._lock:
            self._labels[_target(function)] = label

    def remove(self, function: Markable) -> None:
        """Remove the mark of ``function``, if it has one."""
        target = _target(function)
        with self._lock:
            self._labels.pop(target, None)
            # Marked before its only instance was traced.
            for declaration in [
                d for d in self._labels if _complete(d) and target in _instances(d)
            ]:
                del self._labels[declaration]

    def count(self) -> int:
        """Return how many marks there are."""
        with self._lock:
            return len(self._labels)

    def clear(self) -> None:
        """Remove all marks."""
        with self._lock:
            self._labels.clear()

    def label_of(self, function: Concrete) -> tuple[str | None] | None:
        """Return the label of a marked function in a tuple, or None where it is not marked."""
        with self._lock:
            if function in self._labels:
                return (self._labels[function],)
            for target, label in self._labels.items():
                if any(instance is function for instance in _instances(target)):
                    return (label,)
        return None

    def after_fork(self) -> None:
        """Make the copy in a forked child usable."""
        self._lock = threading.Lock()


def _instances(function: Any) -> tuple[Any, ...]:
    return tuple(getattr(function, "instances", {}).values())


def _complete(function: Any) -> bool:
    inputs = getattr(function, "inputs", None)
    return hasattr(function, "instances") and inputs is not None and not inputs.has_holes


def _target(function: Any) -> Any:
    if isinstance(function, Solver):
        function = function.function
    if not isinstance(function, _FUNCTIONS):
        name = type(function).__name__
        raise TypeError(f"expected a scaly Function, ConcreteFunction or Solver, got {name}")
    return next(iter(_instances(function)), function) if _complete(function) else function
