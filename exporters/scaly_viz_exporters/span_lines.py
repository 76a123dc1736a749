"""Owns one finished span as one line of OTLP JSON, and the way back to the SDK's span.

Written with the official encoder. Read strictly, as we write it; ``scaly_viz.sources`` reads what
other tools write.
"""

from __future__ import annotations

import base64
import functools
import json
import logging
import re
from collections.abc import Iterable, Mapping, Sequence

import msgspec
from opentelemetry.exporter.otlp.json.common.trace_encoder import encode_spans
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import Event, ReadableSpan
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import Link, SpanContext, SpanKind, TraceState
from opentelemetry.trace.status import Status, StatusCode
from opentelemetry.util.types import AnyValue

_MAX_INT64 = 2**63 - 1
_IS_REMOTE = 0x200  # SPAN_FLAGS_CONTEXT_IS_REMOTE_MASK of trace.proto

# Quotes inside JSON strings are escaped, so this matches only the encoder's own fields.
_LONG_INT = re.compile(r'"intValue":\s*"(-?[0-9]{19,})"')

_log = logging.getLogger("scaly_viz")


# Where both of our exporters are on, each is given a span after the other: it is encoded once.
@functools.lru_cache(maxsize=1)
def line_of(span: ReadableSpan) -> bytes:
    """Return ``span`` as one line of OTLP JSON, with its line end."""
    # As its to_json() writes it, without the spaces.
    text = json.dumps(encode_spans([span]).to_dict(), separators=(",", ":"))
    text = _LONG_INT.sub(_int64_or_text, text)
    # The encoder writes ASCII today; should it stop, lone surrogates remain valid escapes.
    return text.encode("utf-8", "backslashreplace") + b"\n"


def lines_of(spans: Iterable[ReadableSpan]) -> list[bytes]:
    """Return the lines of ``spans``; one that cannot be encoded is told and left out."""
    return [line for span in spans if (line := _line_or_none(span))]


def _line_or_none(span: ReadableSpan) -> bytes | None:
    try:
        return line_of(span)
    except Exception:  # one span, nested too deeply say, must not cost the others
        _log.exception("span %r cannot be written as OTLP JSON and is left out", span.name)
        return None


def _int64_or_text(match: re.Match[str]) -> str:
    # https://opentelemetry.io/docs/specs/otel/common/attribute-type-mapping/#integer-values
    fits = -_MAX_INT64 - 1 <= int(match[1]) <= _MAX_INT64
    return match[0] if fits else match[0].replace('"intValue"', '"stringValue"', 1)


class LineError(ValueError):
    """A line that is no OTLP JSON as ``line_of`` writes it."""


class SpanOfLine(ReadableSpan):
    """A finished span that was read from a line."""

    dropped: tuple[int, int, int] = (0, 0, 0)

    @property
    def dropped_attributes(self) -> int:
        """How many attributes its writer left out."""
        return self.dropped[0]

    @property
    def dropped_events(self) -> int:
        """How many events its writer left out."""
        return self.dropped[1]

    @property
    def dropped_links(self) -> int:
        """How many links its writer left out."""
        return self.dropped[2]


class _Value(msgspec.Struct, rename="camel", frozen=True, gc=False):
    string_value: str | None = None
    bool_value: bool | None = None
    int_value: int | str | None = None
    double_value: float | str | None = None
    bytes_value: str | None = None
    array_value: _Values | None = None
    kvlist_value: _Pairs | None = None


class _Values(msgspec.Struct, frozen=True, gc=False):
    values: list[_Value] = []


class _Pair(msgspec.Struct, frozen=True, gc=False):
    key: str = ""
    value: _Value = _Value()


class _Pairs(msgspec.Struct, frozen=True, gc=False):
    values: list[_Pair] = []


class _Event(msgspec.Struct, rename="camel", frozen=True, gc=False):
    name: str = ""
    time_unix_nano: int | str = 0
    attributes: list[_Pair] = []
    dropped_attributes_count: int = 0


class _Link(msgspec.Struct, rename="camel", frozen=True, gc=False):
    trace_id: str = ""
    span_id: str = ""
    trace_state: str = ""
    attributes: list[_Pair] = []
    dropped_attributes_count: int = 0
    flags: int = 0


class _Status(msgspec.Struct, frozen=True, gc=False):
    code: int = 0
    message: str = ""


class _Span(msgspec.Struct, rename="camel", frozen=True, gc=False):
    trace_id: str
    span_id: str
    trace_state: str = ""
    parent_span_id: str = ""
    flags: int = 0
    name: str = ""
    kind: int = 1
    start_time_unix_nano: int | str = 0
    end_time_unix_nano: int | str = 0
    attributes: list[_Pair] = []
    dropped_attributes_count: int = 0
    events: list[_Event] = []
    dropped_events_count: int = 0
    links: list[_Link] = []
    dropped_links_count: int = 0
    status: _Status = _Status()


class _ScopeSpans(msgspec.Struct, rename="camel", frozen=True, gc=False):
    scope: msgspec.Raw = msgspec.Raw(b"{}")
    spans: list[_Span] = []
    schema_url: str = ""


class _ResourceSpans(msgspec.Struct, rename="camel", frozen=True, gc=False):
    resource: msgspec.Raw = msgspec.Raw(b"{}")
    scope_spans: list[_ScopeSpans] = []
    schema_url: str = ""


class _Traces(msgspec.Struct, rename="camel", frozen=True, gc=False):
    resource_spans: list[_ResourceSpans]


class _Resource(msgspec.Struct, frozen=True, gc=False):
    attributes: list[_Pair] = []


class _Scope(msgspec.Struct, frozen=True, gc=False):
    name: str = ""
    version: str = ""
    attributes: list[_Pair] = []


_traces = msgspec.json.Decoder(_Traces)


def spans_of(line: bytes) -> list[ReadableSpan]:
    """Return the spans of ``line``.

    Raises:
        LineError: it is no OTLP JSON in the form that ``line_of`` writes.
    """
    try:
        traces = _traces.decode(line)
        return [
            _span(span, _resource(bytes(of.resource), of.schema_url), _scope_of(scope))
            for of in traces.resource_spans
            for scope in of.scope_spans
            for span in scope.spans
        ]
    except (ValueError, RecursionError) as error:  # msgspec's errors are ValueErrors, too
        raise LineError(f"not OTLP JSON: {error}") from error


@functools.lru_cache(maxsize=32)
def _resource(data: bytes, schema_url: str) -> Resource:
    resource = msgspec.json.decode(data, type=_Resource)
    return Resource(_attributes(resource.attributes), schema_url)


def _scope_of(scope: _ScopeSpans) -> InstrumentationScope | None:
    return _scope(bytes(scope.scope), scope.schema_url)


@functools.lru_cache(maxsize=32)
def _scope(data: bytes, schema_url: str) -> InstrumentationScope | None:
    scope = msgspec.json.decode(data, type=_Scope)
    if not scope.name and not scope.attributes:
        return None
    return InstrumentationScope(
        scope.name, scope.version or None, schema_url or None, _attributes(scope.attributes)
    )


def _span(span: _Span, resource: Resource, scope: InstrumentationScope | None) -> ReadableSpan:
    trace_id = int(span.trace_id, 16)
    parent = None
    if span.parent_span_id:
        is_remote = bool(span.flags & _IS_REMOTE)
        parent = SpanContext(trace_id, int(span.parent_span_id, 16), is_remote)
    code = StatusCode(span.status.code)
    made = SpanOfLine(
        name=span.name,
        context=_context(span.trace_id, span.span_id, span.trace_state),
        parent=parent,
        resource=resource,
        attributes=_attributes(span.attributes),
        events=[_event(event) for event in span.events],
        links=[_link(link) for link in span.links],
        kind=SpanKind(max(span.kind - 1, 0)),
        status=Status(code, span.status.message if code is StatusCode.ERROR else None),
        start_time=int(span.start_time_unix_nano),
        end_time=int(span.end_time_unix_nano),
        instrumentation_scope=scope,
    )
    made.dropped = (
        span.dropped_attributes_count,
        span.dropped_events_count,
        span.dropped_links_count,
    )
    return made


def _context(trace_id: str, span_id: str, state: str, *, is_remote: bool = False) -> SpanContext:
    made = TraceState.from_header([state]) if state else None
    return SpanContext(int(trace_id, 16), int(span_id, 16), is_remote, trace_state=made)


class _EventOfLine(Event):
    dropped = 0

    @property
    def dropped_attributes(self) -> int:
        return self.dropped


def _event(event: _Event) -> Event:
    attributes = _attributes(event.attributes)
    made = _EventOfLine(event.name, attributes, int(event.time_unix_nano))
    made.dropped = event.dropped_attributes_count
    return made


class _LinkOfLine(Link):
    dropped = 0

    @property
    def dropped_attributes(self) -> int:
        return self.dropped


def _link(link: _Link) -> Link:
    is_remote = bool(link.flags & _IS_REMOTE)
    context = _context(link.trace_id, link.span_id, link.trace_state, is_remote=is_remote)
    made = _LinkOfLine(context, _attributes(link.attributes))
    made.dropped = link.dropped_attributes_count
    return made


def _attributes(pairs: Sequence[_Pair]) -> Mapping[str, AnyValue]:
    return {pair.key: _value(pair.value) for pair in pairs}


def _value(value: _Value) -> AnyValue:
    if value.string_value is not None:
        return value.string_value
    if value.int_value is not None:
        return int(value.int_value)
    if value.bool_value is not None:
        return value.bool_value
    if value.double_value is not None:
        return float(value.double_value)
    if value.bytes_value is not None:
        return base64.b64decode(value.bytes_value, validate=True)
    if value.array_value is not None:
        return [_value(item) for item in value.array_value.values]
    if value.kvlist_value is not None:
        return {pair.key: _value(pair.value) for pair in value.kvlist_value.values}
    return None
