"""Owns turning the values of scaly's node attributes into plain data, and into keys that tell them apart."""

from __future__ import annotations

import math
from collections.abc import Mapping
from enum import Enum
from typing import Any

import numpy as np

from scaly_viz.span_record import JsonValue

# A constant table is in the text in full; the graph keeps what a tooltip can show.
_MANY = 64


def plain(value: Any) -> JsonValue:
    """Return ``value`` as JSON can hold it; long tables are cut to their first 64 elements."""
    if type(value) is str or type(value) is int:
        return value
    if isinstance(value, Enum):
        return str(value.value)
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, np.generic):
        return plain(value.item())
    return _plain_collection(value)


def _plain_collection(value: Any) -> JsonValue:
    if isinstance(value, np.ndarray):
        return {
            "shape": [*value.shape],
            "dtype": str(value.dtype),
            "values": plain(value.ravel()[:_MANY].tolist()),
        }
    if isinstance(value, Mapping):
        return {str(name): plain(item) for name, item in value.items()}
    if isinstance(value, (tuple, list)):
        items = [plain(item) for item in value[:_MANY]]
        return [*items, f"{len(value) - _MANY} more"] if len(value) > _MANY else items
    name = getattr(value, "name", None)
    return name if isinstance(name, str) else str(value)


def key(value: Any) -> Any:
    """Return a hashable that equals another value's only where the two are the same to the C compiler.

    ``==`` is not enough: it merges 0.0 with -0.0, and 1 with True and 1.0.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, (bool, int, float)):
        return type(value), repr(value)
    if isinstance(value, Mapping):
        return tuple((name, key(item)) for name, item in value.items())
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
