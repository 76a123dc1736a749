"""Owns answers that are kept because they were dear: addressed by content, the least used dropped first."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable


class Memo[Value]:
    """At most ``size`` values by their keys, which together weigh at most ``most``; one is always kept.

    ``weigh`` says what a value weighs: how many objects it holds, say. Two threads may make the same
    value at once.
    """

    def __init__(
        self, size: int, weigh: Callable[[Value], int] = lambda _: 0, most: int = 0
    ) -> None:
        self._size = size
        self._weigh = weigh
        self._most = most
        self._values: OrderedDict[Hashable, tuple[Value, int]] = OrderedDict()
        self._weight = 0
        self._lock = threading.Lock()

    def get(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """Return the value of ``key``, made by ``make`` where it isn't there."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
                return self._values[key][0]
        value = make()
        weight = self._weigh(value)
        with self._lock:
            self._drop(key)
            self._values[key] = value, weight
            self._weight += weight
            while len(self._values) > 1 and self._is_full():
                self._drop(next(iter(self._values)))
        return value

    def _is_full(self) -> bool:
        return len(self._values) > self._size or self._weight > self._most

    def _drop(self, key: Hashable) -> None:
        if key in self._values:
            self._weight -= self._values.pop(key)[1]
