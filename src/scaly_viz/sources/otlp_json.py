"""Owns the reading of OTLP JSON: one ``TracesData`` or ``ExportTraceServiceRequest`` to spans.

Tolerant, as other tools write it: field names in camelCase or snake_case, 64-bit integers as
strings or numbers, ids in hex or base64, nulls, unknown fields. The well-formed line takes the fast
way, straight into typed structs; every other is parsed by the standard library and put in order
first. https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import msgspec

from scaly_viz.errors import RecordingFileError
from scaly_viz.span_record import Attributes, AttributeValue, EventRecord, JsonValue, SpanRecord

MAX_NESTING = 200

_MAX_UINT64 = 2**64 - 1
_SHOWN_KEYS = 5
_SHOWN_LETTERS = 40
_OTHER_SIGNALS = {"resourceLogs", "resourceMetrics", "resourceProfiles"}
_STATUS = {
    0: "unset",
    1: "ok",
    2: "error",
    "STATUS_CODE_UNSET": "unset",
    "STATUS_CODE_OK": "ok",
    "STATUS_CODE_ERROR": "error",
}

type _Int64 = int | float | str | None


class _AnyValue(msgspec.Struct, rename="camel", gc=False):
    string_value: str | None = None
    bool_value: bool | None = None
    int_value: _Int64 = None
    double_value: float | str | None = None
    bytes_value: str | None = None
    array_value: _ArrayValue | None = None
    kvlist_value: _KeyValueList | None = None


class _ArrayValue(msgspec.Struct, gc=False):
    values: list[_AnyValue] | None = None


class _KeyValue(msgspec.Struct, gc=False):
    key: str | None = None
    value: _AnyValue | None = None


class _KeyValueList(msgspec.Struct, gc=False):
    values: list[_KeyValue] | None = None


class _Event(msgspec.Struct, rename="camel", gc=False):
    name: str | None = None
    time_unix_nano: _Int64 = None
    attributes: list[_KeyValue] | None = None


class _Status(msgspec.Struct, gc=False):
    code: int | str | None = None
    message: str | None = None


class _BareSpan(msgspec.Struct, rename="camel", gc=False):
    trace_id: str | None = None
    span_id: str | None = None
    parent_span_id: str | None = None
    name: str | None = None
    start_time_unix_nano: _Int64 = None
    end_time_unix_nano: _Int64 = None
    attributes: list[_KeyValue] | None = None
    status: _Status | None = None


class _Span(_BareSpan, rename="camel", gc=False):
    events: list[_Event] | None = None


class _Scope(msgspec.Struct, gc=False):
    name: str | None = None


class _ScopeSpans[S: _BareSpan](msgspec.Struct, rename="camel", gc=False):
    scope: _Scope | None = None
    instrumentation_library: _Scope | None = None
    spans: list[S] | None = None


class _Resource(msgspec.Struct, gc=False):
    attributes: list[_KeyValue] | None = None


class _ResourceSpans[S: _BareSpan](msgspec.Struct, rename="camel", gc=False):
    resource: _Resource | None = None
    scope_spans: list[_ScopeSpans[S]] | None = None
    instrumentation_library_spans: list[_ScopeSpans[S]] | None = None  # Collectors of before 2022


class _Traces[S: _BareSpan](msgspec.Struct, rename="camel", gc=False):
    resource_spans: list[_ResourceSpans[S]] | None = None


class _UnreadableError(Exception):
    """Why a line cannot be read, without where."""


_decoder = msgspec.json.Decoder(_Traces[_Span])
_bare_decoder = msgspec.json.Decoder(_Traces[_BareSpan])


def decode_line(line: bytes, origin: str, *, events: bool = True) -> list[SpanRecord]:
    """Return the spans of one OTLP JSON document; lines of other signals have none.

    Without ``events`` spans have none: payloads, nearly all of a line, are then passed over.

    Raises ``RecordingFileError`` with ``origin`` and the cause where the line is no such document.
    """
    if events:
        return _decode(line, origin, _decoder, _Traces[_Span])
    return _decode(line, origin, _bare_decoder, _Traces[_BareSpan])


def decode_resource(resource_spans: JsonValue, origin: str) -> list[SpanRecord]:
    """Return the spans of one ``ResourceSpans``, as ``json`` reads it; it may be changed.

    Raises ``RecordingFileError`` with ``origin`` and the cause where it is none.
    """
    return _records(lambda: _convert({"resourceSpans": [resource_spans]}, _Traces[_Span]), origin)


def _decode[S: _BareSpan](
    line: bytes, origin: str, decoder: msgspec.json.Decoder[_Traces[S]], form: type[_Traces[S]]
) -> list[SpanRecord]:
    return _records(lambda: _decode_fast(line, decoder) or _convert(_parse(line), form), origin)


def _records[S: _BareSpan](decode: Callable[[], _Traces[S]], origin: str) -> list[SpanRecord]:
    try:
        found = _spans_of(decode())
        return [_span(span, resource, scope, origin) for resource, scope, span in found]
    except _UnreadableError as error:
        raise RecordingFileError(f"{origin}: {error}") from error
    except RecursionError as error:
        raise RecordingFileError(f"{origin}: nested too deeply to be a trace") from error


def _decode_fast[S: _BareSpan](
    line: bytes, decoder: msgspec.json.Decoder[_Traces[S]]
) -> _Traces[S] | None:
    """Return None where the line needs a closer look, as one with snake_case names does."""
    try:
        traces = decoder.decode(line)
    except ValueError:  # msgspec's errors, and those of text that is not Unicode
        return None
    spans = [span for _, _, span in _spans_of(traces)]
    return traces if spans and all(span.trace_id and span.span_id for span in spans) else None


def _convert[S: _BareSpan](document: JsonValue, form: type[_Traces[S]]) -> _Traces[S]:
    document = _camel_cased(document)
    if not isinstance(document, dict):
        raise _UnreadableError(f"not OTLP traces: {_json_kind(document)} instead of an object")
    if document and "resourceSpans" not in document and not _OTHER_SIGNALS & document.keys():
        raise _UnreadableError(f"not OTLP traces: no resourceSpans, but {_some_keys(document)}")
    try:
        return msgspec.convert(document, form)
    except msgspec.ValidationError as error:
        raise _UnreadableError(f"not OTLP traces: {_in_words(error)}") from error
    except UnicodeEncodeError as error:
        raise _UnreadableError("not OTLP traces: a name that is no Unicode text") from error


def _parse(line: bytes) -> JsonValue:
    try:
        value: JsonValue = json.loads(line.decode())
    except UnicodeDecodeError as error:
        raise _UnreadableError(f"not JSON: not UTF-8 text at byte {error.start}") from error
    except json.JSONDecodeError as error:
        line_number = f"line {error.lineno} " if error.lineno > 1 else ""
        cause = f"{error.msg} at {line_number}column {error.colno}"
        raise _UnreadableError(f"not JSON: {cause}") from error
    except ValueError as error:  # an integer of thousands of digits
        raise _UnreadableError(f"not OTLP traces: {str(error).partition(';')[0]}") from error
    return value


def _camel_cased(document: JsonValue) -> JsonValue:
    """Rename the fields of ``document`` in place, and put empty objects where a list has nulls.

    Every key in OTLP JSON is a field name: attributes travel as lists of keys and values.
    """
    pending = [document]
    while pending:
        value = pending.pop()
        if isinstance(value, dict):
            for name in [name for name in value if "_" in name]:
                value[_camel(name)] = value.pop(name)
            pending.extend(value.values())
        elif isinstance(value, list):
            value[:] = [{} if item is None else item for item in value]
            pending.extend(value)
    return document


def _camel(name: str) -> str:
    return re.sub("_([a-z])", lambda match: match[1].upper(), name)


def _json_kind(value: JsonValue) -> str:
    if isinstance(value, list):
        return "a list"
    if isinstance(value, str):
        return "a string"
    return "null" if value is None else "a boolean" if isinstance(value, bool) else "a number"


def _some_keys(document: Mapping[str, JsonValue]) -> str:
    first, more = list(document)[:_SHOWN_KEYS], len(document) > _SHOWN_KEYS
    return f"the keys {', '.join(map(_shown, first))}" + (", ..." if more else "")


def _shown(text: str) -> str:
    """Quote text from a file so that it can neither flood nor steer a terminal."""
    return ascii(text if len(text) <= _SHOWN_LETTERS else text[:_SHOWN_LETTERS] + "...")


def _in_words(error: msgspec.ValidationError) -> str:
    what, _, where = str(error).replace(" | null", "").partition(" - at `$.")
    kinds = {"str": "string", "int": "integer", "float": "number", "bool": "boolean"}
    what = re.sub(r"`|\b(str|int|float|bool)\b", lambda match: kinds.get(match[0], ""), what)
    return f"{where.rstrip('`') or 'the document'}: {what[:1].lower()}{what[1:]}"


def _spans_of[S: _BareSpan](
    traces: _Traces[S],
) -> Iterator[tuple[_ResourceSpans[S], _ScopeSpans[S], S]]:
    for resource in traces.resource_spans or ():
        for scopes in (resource.scope_spans, resource.instrumentation_library_spans):
            for scope in scopes or ():
                for span in scope.spans or ():
                    yield resource, scope, span


def _span[S: _BareSpan](
    span: S, of: _ResourceSpans[S], scope: _ScopeSpans[S], origin: str
) -> SpanRecord:
    library = scope.scope or scope.instrumentation_library
    status = span.status or _Status()
    return SpanRecord(
        trace_id=_id(span.trace_id, 16, "traceId"),
        span_id=_id(span.span_id, 8, "spanId"),
        parent_span_id=_id(span.parent_span_id, 8, "parentSpanId").replace("0" * 16, ""),
        name=span.name or "",
        start_ns=_time(span.start_time_unix_nano, "startTimeUnixNano"),
        end_ns=_time(span.end_time_unix_nano, "endTimeUnixNano"),
        attributes=_attributes(span.attributes),
        events=_events(span.events or ()) if isinstance(span, _Span) else (),
        status=_STATUS.get(status.code or 0, "unset"),
        status_message=status.message or "",
        resource=_attributes(of.resource.attributes if of.resource else None),
        scope=(library.name if library else None) or "",
        origin=origin,
    )


def _events(events: Iterable[_Event]) -> Sequence[EventRecord]:
    return [
        EventRecord(
            name=event.name or "",
            time_ns=_time(event.time_unix_nano, "timeUnixNano"),
            attributes=_attributes(event.attributes),
        )
        for event in events
    ]


def _attributes(attributes: Iterable[_KeyValue] | None, nesting: int = 0) -> Attributes:
    return {pair.key or "": _value(pair.value, nesting) for pair in attributes or ()}


def _value(value: _AnyValue | None, nesting: int) -> AttributeValue:
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


def _nested(value: _AnyValue, nesting: int) -> AttributeValue:
    if nesting > MAX_NESTING:
        raise _UnreadableError(f"an attribute is nested more than {MAX_NESTING} levels deep")
    if value.array_value is not None:
        return [_value(item, nesting) for item in value.array_value.values or ()]
    if value.kvlist_value is not None:
        return _attributes(value.kvlist_value.values, nesting)
    return None


def _int(value: _Int64, field: str) -> int:
    try:
        return int(value or 0)
    except (ValueError, OverflowError) as error:
        raise _UnreadableError(f"{field}: {_shown(str(value))} is no integer") from error


def _time(value: _Int64, field: str) -> int:
    time = _int(value, field)
    if not 0 <= time <= _MAX_UINT64:
        raise _UnreadableError(f"{field}: {_shown(str(value))} is no time in nanoseconds")
    return time


def _float(value: float | str) -> float:
    try:
        return float(value)
    except ValueError as error:
        raise _UnreadableError(f"doubleValue: {_shown(str(value))} is no number") from error


def _bytes(text: str) -> bytes:
    standard = text.translate({ord("-"): "+", ord("_"): "/"}).rstrip("=")
    try:
        return base64.b64decode(standard + "=" * (-len(standard) % 4), validate=True)
    except (ValueError, binascii.Error) as error:
        raise _UnreadableError(f"bytesValue: {_shown(text)} is not base64") from error


def _id(text: str | None, size: int, field: str) -> str:
    """Return the id in lower-case hex; base64, as protobuf's own JSON has it, is told by length."""
    if not text:
        return ""
    try:
        raw = bytes.fromhex(text) if len(text) == 2 * size else _bytes(text)
    except (ValueError, _UnreadableError):
        raw = b""
    if len(raw) != size:
        raise _UnreadableError(f"{field}: {_shown(text)} is not {2 * size} hex digits")
    return raw.hex()
