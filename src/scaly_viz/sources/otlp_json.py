"""Owns the reading of OTLP JSON: one ``TracesData`` or ``ExportTraceServiceRequest`` to spans.

Tolerant, as other tools write it: ids in hex or base64, times and numbers as strings or numbers. The
well-formed line takes the fast way, straight into typed structs; every other is parsed by the
standard library and put in order first (``otlp_form.py``).
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Iterable, Iterator, Sequence

import msgspec

from scaly_viz.errors import RecordingFileError
from scaly_viz.sources.otlp_form import (
    AnyValue,
    Event,
    Int64,
    KeyValue,
    ResourceSpans,
    ScopeSpans,
    Span,
    Status,
    Traces,
    UnreadableError,
    convert,
    parse,
    shown,
)
from scaly_viz.span_record import Attributes, AttributeValue, EventRecord, JsonValue, SpanRecord

MAX_NESTING = 200

_MAX_UINT64 = 2**64 - 1
_STATUS = {
    0: "unset",
    1: "ok",
    2: "error",
    "STATUS_CODE_UNSET": "unset",
    "STATUS_CODE_OK": "ok",
    "STATUS_CODE_ERROR": "error",
}

_decoder = msgspec.json.Decoder(Traces)


def decode_line(line: bytes, origin: str, *, events: bool = True) -> list[SpanRecord]:
    """Return the spans of one OTLP JSON document; lines of other signals have none.

    Without ``events`` spans have none: payloads, nearly all of a line, are then looked at, lest a
    line be whole for one reader and not for the other, and not kept.

    Raises ``RecordingFileError`` with ``origin`` and the cause where the line is no such document.
    """
    return _records(lambda: _decode_fast(line) or convert(parse(line)), origin, events=events)


def decode_resource(resource_spans: JsonValue, origin: str) -> list[SpanRecord]:
    """Return the spans of one ``ResourceSpans``, as ``json`` reads it; it may be changed.

    Raises ``RecordingFileError`` with ``origin`` and the cause where it is none.
    """
    return _records(lambda: convert({"resourceSpans": [resource_spans]}), origin, events=True)


def _records(decode: Callable[[], Traces], origin: str, *, events: bool) -> list[SpanRecord]:
    try:
        found = _spans_of(decode())
        return [
            _span(span, resource, scope, origin, _events(span.events or (), keep=events))
            for resource, scope, span in found
        ]
    except UnreadableError as error:
        raise RecordingFileError(f"{origin}: {error}") from error
    except RecursionError as error:
        raise RecordingFileError(f"{origin}: nested too deeply to be a trace") from error


def _decode_fast(line: bytes) -> Traces | None:
    """Return None where the line needs a closer look, as one with snake_case names does."""
    try:
        traces = _decoder.decode(line)
    except ValueError:  # msgspec's errors, and those of text that is not Unicode
        return None
    spans = [span for _, _, span in _spans_of(traces)]
    return traces if spans and all(span.trace_id and span.span_id for span in spans) else None


def _spans_of(traces: Traces) -> Iterator[tuple[ResourceSpans, ScopeSpans, Span]]:
    for resource in traces.resource_spans or ():
        for scopes in (resource.scope_spans, resource.instrumentation_library_spans):
            for scope in scopes or ():
                for span in scope.spans or ():
                    yield resource, scope, span


def _span(
    span: Span, of: ResourceSpans, scope: ScopeSpans, origin: str, events: Sequence[EventRecord]
) -> SpanRecord:
    library = scope.scope or scope.instrumentation_library
    status = span.status or Status()
    return SpanRecord(
        trace_id=_id(span.trace_id, 16, "traceId"),
        span_id=_id(span.span_id, 8, "spanId"),
        parent_span_id=_id(span.parent_span_id, 8, "parentSpanId").replace("0" * 16, ""),
        name=span.name or "",
        start_ns=_time(span.start_time_unix_nano, "startTimeUnixNano"),
        end_ns=_time(span.end_time_unix_nano, "endTimeUnixNano"),
        attributes=_attributes(span.attributes),
        events=events,
        status=_STATUS.get(status.code or 0, "unset"),
        status_message=status.message or "",
        resource=_attributes(of.resource.attributes if of.resource else None),
        scope=(library.name if library else None) or "",
        origin=origin,
    )


def _events(events: Iterable[Event], *, keep: bool) -> Sequence[EventRecord]:
    if keep:
        return [
            EventRecord(
                name=event.name or "",
                time_ns=_time(event.time_unix_nano, "timeUnixNano"),
                attributes=_attributes(event.attributes),
            )
            for event in events
        ]
    for event in events:
        _time(event.time_unix_nano, "timeUnixNano")
        for pair in event.attributes or ():
            if pair.value is not None and pair.value.string_value is None:
                _value(pair.value, 0)
    return ()


def _attributes(attributes: Iterable[KeyValue] | None, nesting: int = 0) -> Attributes:
    return {pair.key or "": _value(pair.value, nesting) for pair in attributes or ()}


def _value(value: AnyValue | None, nesting: int) -> AttributeValue:
    if value is None:
        return None
    if value.string_value is not None:
        return value.string_value
    if value.int_value is not None:
        return _int(value.int_value, "intValue")
    if value.double_value is not None:
        return _float(value.double_value)
    if value.bool_value is not None:
        return value.bool_value
    if value.bytes_value is not None:
        return _bytes(value.bytes_value)
    return _nested(value, nesting + 1)


def _nested(value: AnyValue, nesting: int) -> AttributeValue:
    if nesting > MAX_NESTING:
        raise UnreadableError(f"an attribute is nested more than {MAX_NESTING} levels deep")
    if value.array_value is not None:
        return [_value(item, nesting) for item in value.array_value.values or ()]
    if value.kvlist_value is not None:
        return _attributes(value.kvlist_value.values, nesting)
    return None


def _int(value: Int64, field: str) -> int:
    try:
        return int(value or 0)
    except (ValueError, OverflowError) as error:
        raise UnreadableError(f"{field}: {shown(str(value))} is no integer") from error


def _time(value: Int64, field: str) -> int:
    time = _int(value, field)
    if not 0 <= time <= _MAX_UINT64:
        raise UnreadableError(f"{field}: {shown(str(value))} is no time in nanoseconds")
    return time


def _float(value: float | str) -> float:
    try:
        return float(value)
    except ValueError as error:
        raise UnreadableError(f"doubleValue: {shown(str(value))} is no number") from error


def _bytes(text: str) -> bytes:
    standard = text.translate({ord("-"): "+", ord("_"): "/"}).rstrip("=")
    try:
        return base64.b64decode(standard + "=" * (-len(standard) % 4), validate=True)
    except (ValueError, binascii.Error) as error:
        raise UnreadableError(f"bytesValue: {shown(text)} is not base64") from error


def _id(text: str | None, size: int, field: str) -> str:
    """Return the id in lower-case hex; base64, as protobuf's own JSON has it, is told by length."""
    if not text:
        return ""
    try:
        raw = bytes.fromhex(text) if len(text) == 2 * size else _bytes(text)
    except (ValueError, UnreadableError):
        raw = b""
    if len(raw) != size:
        raise UnreadableError(f"{field}: {shown(text)} is not {2 * size} hex digits")
    return raw.hex()
