"""Owns reading from Grafana Tempo by its HTTP API (https://grafana.com/docs/tempo/latest/api_docs/).

There is no Tempo to test with: what is tested is that answers as these pages show them are understood.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import msgspec

from scaly_viz import attributes as a
from scaly_viz.assembling import assemble
from scaly_viz.errors import BackendError, RecordingFileError
from scaly_viz.sources.address import Address
from scaly_viz.sources.found_trace import FoundTrace
from scaly_viz.sources.http import HttpClient, NoApiError, StatusError
from scaly_viz.sources.lines import Report
from scaly_viz.sources.otlp_json import decode_line
from scaly_viz.span_record import Attributes, SpanRecord

# More spans than Tempo answers by default (query_frontend.search.max_spans_per_span_set) is an error.
_SPANS = 100
_RESOURCE = ("host.name", "process.pid")
_SPAN = (
    a.RECORDING_ID,
    a.SCHEMA,
    a.FUNCTION_NAME,
    a.LABEL,
    a.LABEL + a.JSON_SUFFIX,
    a.RECORDING_STEPS,
    a.ERROR,
    a.COMPILER_VERSION,
    a.FILE_PATH,
    a.LINE_NUMBER,
    a.STEP_NAME,
    a.STEP_INDEX,
    a.GRAPH_NODES,
    a.CODE_BYTES,
)
_SELECT = ", ".join(
    (
        "name",
        "status",
        "statusMessage",
        *(f"span.{key}" for key in _SPAN),
        *(f"resource.{key}" for key in _RESOURCE),
    )
)


class _SearchSpan(msgspec.Struct, rename="camel"):
    span_id: str = msgspec.field(default="", name="spanID")
    name: str = ""
    start_time_unix_nano: str | int = 0
    duration_nanos: str | int = 0
    attributes: msgspec.Raw = msgspec.Raw(b"[]")


class _SpanSet(msgspec.Struct):
    spans: list[_SearchSpan] | None = None
    matched: int = 0


class _SearchTrace(msgspec.Struct, rename="camel"):
    trace_id: str = msgspec.field(default="", name="traceID")
    start_time_unix_nano: str | int = 0
    duration_ms: int = 0
    span_sets: list[_SpanSet] | None = None
    span_set: _SpanSet | None = None


class _SearchAnswer(msgspec.Struct):
    traces: list[_SearchTrace] | None = None


class _TraceAnswer(msgspec.Struct, rename="camel"):
    """Of both versions: ``trace`` in version 2, the fields of a trace themselves in version 1."""

    trace: _TraceAnswer | None = None
    resource_spans: msgspec.Raw = msgspec.Raw()
    batches: msgspec.Raw = msgspec.Raw()
    status: str | int = "COMPLETE"
    message: str = ""


class Tempo:
    """Tempo. Its search answers the attributes that a list needs, without payloads."""

    narrowest_ns = 2 * 10**9  # it counts in seconds
    widest_ns = 160 * 3600 * 10**9  # query_frontend.search.max_duration is 168 h by default
    hint = (
        "Tempo cuts attributes at distributor.max_attribute_bytes (2,048 unless set; 524288 is"
        " enough) and refuses spans beyond max_bytes_per_trace (5 MB; 15000000 is enough) or"
        " max_recv_msg_size_mib of its receiver (4; 16 is enough)"
    )

    def __init__(self, address: Address, client: HttpClient, report: Report) -> None:
        self._address = address
        self._client = client
        self._report = report

    def searches(self) -> Sequence[Callable[[int, int, int], Iterator[FoundTrace]]]:
        """Return one search, for all spans of recordings."""
        return [self._find]

    def trace(self, trace_id: str) -> list[SpanRecord]:
        """Return the spans of the trace's recordings."""
        for path in (f"/api/v2/traces/{trace_id}", f"/api/traces/{trace_id}"):
            try:
                with self._client.get(path, {}) as body:
                    return self._spans(body.read_all())
            except StatusError as error:  # of version 2: no such trace, or no such version
                if error.status != 404:
                    raise
            except NoApiError:
                if "v2" not in path:
                    raise
        return []

    def _find(self, begin_ns: int, end_ns: int, limit: int) -> Iterator[FoundTrace]:
        parameters = {
            "q": self._query(),
            "start": str(begin_ns // 10**9),
            "end": str(-(-end_ns // 10**9)),
            "limit": str(limit),
            "spss": str(_SPANS),
        }
        with self._client.get("/api/search", parameters) as body:
            data = body.read_all()
        for trace in self._decoded(data, _SearchAnswer).traces or ():
            yield self._found(trace)

    def _query(self) -> str:
        services = [f"resource.service.name = {_quoted(name)}" for name in self._address.services]
        condition = f"span.{a.RECORDING_ID} != nil"
        if services:
            condition += f" && ({' || '.join(services)})"
        return f"{{ {condition} }} | select({_SELECT})"

    def _found(self, trace: _SearchTrace) -> FoundTrace:
        trace_id = trace.trace_id.lower().zfill(32)
        start_ns = _integer(trace.start_time_unix_nano)
        sets = trace.span_sets or ([trace.span_set] if trace.span_set else [])
        matched = sum(found.matched for found in sets)
        mark = f"{matched} {trace.duration_ms}"
        listed = [span for found in sets for span in found.spans or ()]
        spans = None
        if listed and len(listed) >= matched:
            spans = [self._record(span, trace_id) for span in listed]
            # Something may not have been selected, as by an older Tempo: the trace itself will tell.
            if not all(recording.complete for recording in assemble(spans)):
                spans = None
        return FoundTrace(trace_id, start_ns, spans or None, is_whole=False, mark=mark)

    def _record(self, span: _SearchSpan, trace_id: str) -> SpanRecord:
        attributes = dict(self._attributes(span))
        start_ns = _integer(span.start_time_unix_nano)
        status = str(attributes.pop("status", "unset"))
        return SpanRecord(
            trace_id=trace_id,
            span_id=span.span_id.lower().zfill(16),
            parent_span_id="",
            name=span.name or str(attributes.pop("name", "")),
            start_ns=start_ns,
            end_ns=start_ns + _integer(span.duration_nanos),
            resource={key: attributes.pop(key) for key in _RESOURCE if key in attributes},
            status=status,
            status_message=str(attributes.pop("statusMessage", "")),
            attributes=attributes,
            events=(),
            scope=a.SCOPE,
            origin=str(self._address),
        )

    def _attributes(self, span: _SearchSpan) -> Attributes:
        try:
            (record,) = decode_line(_ENVELOPE % bytes(span.attributes), str(self._address))
        except RecordingFileError as error:
            raise BackendError(str(error)) from error
        return record.resource

    def _spans(self, data: bytes) -> list[SpanRecord]:
        answer = self._decoded(data, _TraceAnswer)
        trace = answer.trace or answer
        batches = bytes(trace.resource_spans) or bytes(trace.batches)
        if str(answer.status) not in ("COMPLETE", "0"):
            self._report(
                f"{self._address}: it answers only a part of a trace: {answer.message[:200]!r};"
                " query_frontend.max_bytes_per_trace bounds what it answers"
            )
        if batches in (b"", b"null"):
            return []
        try:
            spans = decode_line(b'{"resourceSpans":%b}' % batches, str(self._address))
        except RecordingFileError as error:
            raise BackendError(str(error)) from error
        return [span for span in spans if a.RECORDING_ID in span.attributes]

    def _decoded[T](self, data: bytes, kind: type[T]) -> T:
        try:
            return msgspec.json.decode(data, type=kind)
        except (ValueError, RecursionError) as error:
            raise BackendError(f"{self._address}: not an answer of Tempo's API: {error}") from error


# A resource that has the attributes, as decoding is by resource and span.
_ENVELOPE = (
    b'{"resourceSpans":[{"resource":{"attributes":%b},"scopeSpans":[{"spans":[{"traceId":"'
    + b"0" * 32
    + b'","spanId":"'
    + b"0" * 16
    + b'"}]}]}]}'
)


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _integer(text: str | int) -> int:
    return int(text) if isinstance(text, int) or text.isdecimal() else 0
