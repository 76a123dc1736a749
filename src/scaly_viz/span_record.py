"""Owns the neutral form of a finished span: what sources yield and recordings are assembled from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

type JsonValue = str | bool | int | float | list[JsonValue] | dict[str, JsonValue] | None
type AttributeValue = (
    str
    | bool
    | int
    | float
    | bytes
    | Sequence[AttributeValue]
    | Mapping[str, AttributeValue]
    | None
)
type Attributes = Mapping[str, AttributeValue]


# No part of them refers back to it, so the garbage collector need not look at any, however many are kept.
class EventRecord(msgspec.Struct, frozen=True, gc=False):
    """One span event. ``time_ns`` is nanoseconds since the Unix epoch."""

    name: str
    time_ns: int
    attributes: Attributes


class SpanRecord(msgspec.Struct, frozen=True, gc=False):
    """One finished span, wherever it was read.

    ``trace_id``, ``span_id`` and ``parent_span_id`` are lower-case hex (32, 16 and 16 digits; the
    parent is empty for a trace's root). Times are nanoseconds since the Unix epoch. ``status`` is
    ``"unset"``, ``"ok"`` or ``"error"``. ``origin`` says where the span was read, as
    ``recordings.jsonl:118``.
    """

    trace_id: str
    span_id: str
    parent_span_id: str
    name: str
    start_ns: int
    end_ns: int
    attributes: Attributes
    events: Sequence[EventRecord]
    status: str
    status_message: str
    resource: Attributes
    scope: str
    origin: str = ""
