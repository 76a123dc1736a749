"""Owns which functions are marked: weakly, with their labels, and what a mark on a declaration covers."""

from __future__ import annotations

import threading
from collections.abc import Iterator
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
        # Reentrant: a signal handler may mark a function in the middle of this.
        self._lock = threading.RLock()
        self._labels: WeakKeyDictionary[Any, str | None] = WeakKeyDictionary()

    def add(self, function: Markable, label: str | None) -> None:
        """Mark ``function``, or a solver's function; a second mark replaces the first one's label.

        Raises:
            TypeError: ``function`` is none of scaly's functions, or ``label`` is no text.
        """
        if not isinstance(label, str | None):
            raise TypeError(f"expected a label of type str, or None, got {type(label).__name__}")
        with self._lock:
            self._labels[target_of(function)] = label

    def remove(self, function: Markable) -> None:
        """Remove the mark of ``function``, if it has one."""
        target = target_of(function)
        with self._lock:
            self._labels.pop(target, None)
            # Marked before its only instance was traced.
            for declaration, _ in self._marked():
                if _complete(declaration) and target in _instances(declaration):
                    self._labels.pop(declaration, None)

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
            for target, label in self._marked():
                if any(instance is function for instance in _instances(target)):
                    return (label,)
        return None

    def _marked(self) -> Iterator[tuple[Any, str | None]]:
        # Of a copy that is made at once: what a signal handler marks meanwhile does no harm.
        for reference in self._labels.keyrefs():
            target = reference()
            if target is not None and target in self._labels:
                yield target, self._labels[target]

    def after_fork(self) -> None:
        """Make the copy in a forked child usable."""
        self._lock = threading.RLock()


def _instances(function: Any) -> tuple[Any, ...]:
    return tuple(getattr(function, "instances", {}).values())


def _complete(function: Any) -> bool:
    inputs = getattr(function, "inputs", None)
    return hasattr(function, "instances") and inputs is not None and not inputs.has_holes


def target_of(function: Any) -> Any:
    """Return what scaly renders for ``function``: of a solver its function, of a complete declaration its instance.

    Raises:
        TypeError: it is no function of scaly.
    """
    if isinstance(function, Solver):
        function = function.function
    if not isinstance(function, _FUNCTIONS):
        name = type(function).__name__
        raise TypeError(f"expected a scaly Function, ConcreteFunction or Solver, got {name}")
    return next(iter(_instances(function)), function) if _complete(function) else function
