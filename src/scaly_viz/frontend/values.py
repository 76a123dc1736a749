"""Owns turning the values of scaly's node attributes into plain data, and into keys that tell them apart."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from types import NoneType
from typing import Any

import numpy as np

from scaly_viz.span_record import JsonValue

# A constant table is in the text in full; the graph keeps what a tooltip can show.
_MANY = 64
# Types, most common in nodes, whose values are plain data and their own key; not of subclasses.
EXACT = frozenset({str, int})
_forms: dict[type, Callable[[Any], JsonValue]] = {}


def plain_attributes(attributes: Mapping[str, Any]) -> dict[str, JsonValue]:
    """Return a node's attributes as JSON can hold them."""
    return {
        name: value if type(value) in EXACT else plain(value) for name, value in attributes.items()
    }


def plain(value: Any) -> JsonValue:
    """Return ``value`` as JSON can hold it; long tables are cut to their first 64 elements."""
    form = _forms.get(type(value))
    if form is None:
        form = _forms[type(value)] = _form(type(value))
    return form(value)


def _form(kind: type) -> Callable[[Any], JsonValue]:
    """Return how a value of type ``kind`` becomes plain."""
    if issubclass(kind, Enum):
        return lambda value: str(value.value)
    if issubclass(kind, (bool, int, str, NoneType)):
        return lambda value: value
    if issubclass(kind, float):
        return lambda value: value if math.isfinite(value) else str(value)
    if issubclass(kind, np.generic):
        return lambda value: plain(value.item())
    if issubclass(kind, np.ndarray):
        return _plain_array
    if issubclass(kind, Mapping):
        return lambda value: {str(name): plain(item) for name, item in value.items()}
    return _plain_items if issubclass(kind, (tuple, list)) else _described


def _plain_array(array: np.ndarray[Any, Any]) -> JsonValue:
    return {
        "shape": [*array.shape],
        "dtype": str(array.dtype),
        "values": plain(array.ravel()[:_MANY].tolist()),
    }


def _plain_items(values: Sequence[Any]) -> list[JsonValue]:
    items = [value if type(value) in EXACT else plain(value) for value in values[:_MANY]]
    return [*items, f"{len(values) - _MANY} more"] if len(values) > _MANY else items


def _described(value: object) -> str:
    name = getattr(value, "name", None)
    return name if isinstance(name, str) else str(value)


def attributes_key(attributes: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return the ``key`` of a node's attributes."""
    return tuple([(name, key(value)) for name, value in attributes.items()])


def key(value: Any) -> Any:
    """Return a hashable that equals another value's only where the two are the same to the C compiler.

    ``==`` is not enough: it merges 0.0 with -0.0, and 1 with True and 1.0.
    """
    if type(value) in EXACT:
        return value
    if isinstance(value, (bool, int, float)):
        return type(value), repr(value)
    if isinstance(value, Mapping):
        return attributes_key(value)
    if isinstance(value, (tuple, list)):
        return tuple(map(key, value))
    if isinstance(value, Enum):
        return value
    if isinstance(value, np.ndarray):
        return value.shape, str(value.dtype), value.tobytes()
    try:
        hash(value)
    except TypeError:
        return type(value), id(value)
    return value
