"""Owns the form of OTLP JSON: the structs of a trace, and what puts a document of other tools in order for them.

Field names may be in camelCase or snake_case, 64-bit integers strings or numbers, any field null or
unknown. https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

import msgspec

from scaly_viz.span_record import JsonValue

_SHOWN_KEYS = 5
_SHOWN_LETTERS = 40
_OTHER_SIGNALS = {"resourceLogs", "resourceMetrics", "resourceProfiles"}

type Int64 = int | float | str | None


class AnyValue(msgspec.Struct, rename="camel", gc=False):
    """An attribute's value: the first field that is set."""

    string_value: str | None = None
    bool_value: bool | None = None
    int_value: Int64 = None
    double_value: float | str | None = None
    bytes_value: str | None = None
    array_value: ArrayValue | None = None
    kvlist_value: KeyValueList | None = None


class ArrayValue(msgspec.Struct, gc=False):
    """A list as a value."""

    values: list[AnyValue] | None = None


class KeyValue(msgspec.Struct, gc=False):
    """One attribute."""

    key: str | None = None
    value: AnyValue | None = None


class KeyValueList(msgspec.Struct, gc=False):
    """A map as a value."""

    values: list[KeyValue] | None = None


class Event(msgspec.Struct, rename="camel", gc=False):
    """An event of a span."""

    name: str | None = None
    time_unix_nano: Int64 = None
    attributes: list[KeyValue] | None = None


class Status(msgspec.Struct, gc=False):
    """How a span ended; ``code`` by number or name."""

    code: int | str | None = None
    message: str | None = None


class Span(msgspec.Struct, rename="camel", gc=False):
    """A span."""

    trace_id: str | None = None
    span_id: str | None = None
    parent_span_id: str | None = None
    name: str | None = None
    start_time_unix_nano: Int64 = None
    end_time_unix_nano: Int64 = None
    attributes: list[KeyValue] | None = None
    status: Status | None = None
    events: list[Event] | None = None


class Scope(msgspec.Struct, gc=False):
    """The instrumentation scope of spans."""

    name: str | None = None


class ScopeSpans(msgspec.Struct, rename="camel", gc=False):
    """Spans of one scope, under its name of today or of before 2022."""

    scope: Scope | None = None
    instrumentation_library: Scope | None = None
    spans: list[Span] | None = None


class Resource(msgspec.Struct, gc=False):
    """What made the spans."""

    attributes: list[KeyValue] | None = None


class ResourceSpans(msgspec.Struct, rename="camel", gc=False):
    """Spans of one resource, under their name of today or of before 2022."""

    resource: Resource | None = None
    scope_spans: list[ScopeSpans] | None = None
    instrumentation_library_spans: list[ScopeSpans] | None = None


class Traces(msgspec.Struct, rename="camel", gc=False):
    """A document."""

    resource_spans: list[ResourceSpans] | None = None


class UnreadableError(Exception):
    """Why a line cannot be read, without where."""


def convert(document: JsonValue) -> Traces:
    """Return ``document``, as ``json`` reads it, in typed structs; it may be changed.

    Raises:
        UnreadableError: it is no trace.
    """
    document = _camel_cased(document)
    if not isinstance(document, dict):
        raise UnreadableError(f"not OTLP traces: {_json_kind(document)} instead of an object")
    if document and "resourceSpans" not in document and not _OTHER_SIGNALS & document.keys():
        raise UnreadableError(f"not OTLP traces: no resourceSpans, but {_some_keys(document)}")
    try:
        return msgspec.convert(document, Traces)
    except msgspec.ValidationError as error:
        raise UnreadableError(f"not OTLP traces: {_in_words(error)}") from error
    except UnicodeEncodeError as error:
        raise UnreadableError("not OTLP traces: a name that is no Unicode text") from error


def parse(line: bytes) -> JsonValue:
    """Return the JSON of ``line``.

    Raises:
        UnreadableError: it is no JSON.
    """
    try:
        value: JsonValue = json.loads(line.decode())
    except UnicodeDecodeError as error:
        raise UnreadableError(f"not JSON: not UTF-8 text at byte {error.start}") from error
    except json.JSONDecodeError as error:
        line_number = f"line {error.lineno} " if error.lineno > 1 else ""
        # Some of its messages end with the word themselves.
        cause = f"{error.msg.removesuffix(' at')} at {line_number}column {error.colno}"
        raise UnreadableError(f"not JSON: {cause}") from error
    except ValueError as error:  # an integer of thousands of digits
        raise UnreadableError(f"not OTLP traces: {str(error).partition(';')[0]}") from error
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
    return f"the keys {', '.join(map(shown, first))}" + (", ..." if more else "")


def shown(text: str) -> str:
    """Quote text from a file so that it can neither flood nor steer a terminal."""
    return ascii(text if len(text) <= _SHOWN_LETTERS else text[:_SHOWN_LETTERS] + "...")


def _in_words(error: msgspec.ValidationError) -> str:
    what, _, where = str(error).replace(" | null", "").partition(" - at `$.")
    kinds = {"str": "string", "int": "integer", "float": "number", "bool": "boolean"}
    what = re.sub(r"`|\b(str|int|float|bool)\b", lambda match: kinds.get(match[0], ""), what)
    return f"{where.rstrip('`') or 'the document'}: {what[:1].lower()}{what[1:]}"
