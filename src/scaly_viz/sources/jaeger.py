"""Owns reading from Jaeger by its API v3 (https://www.jaegertracing.io/docs/latest/apis/)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from functools import partial

import msgspec

from scaly_viz import attributes as a
from scaly_viz.errors import BackendError
from scaly_viz.sources.address import Address
from scaly_viz.sources.found_trace import FoundTrace
from scaly_viz.sources.http import Body, HttpClient, NoApiError, StatusError
from scaly_viz.sources.lines import Report
from scaly_viz.sources.trace_stream import traces
from scaly_viz.span_record import SpanRecord

_RENDER = f"{a.SPAN_RENDER} "
_PASS = f"{a.SPAN_PASS} "
_STEPS = (a.SPAN_EXPRESSION_GRAPH, a.SPAN_NORMALIZE, a.SPAN_LOWER, a.SPAN_EMIT, a.SPAN_PAYLOAD)
_MANY_OPERATIONS = 50
_NO_ROUTE = (404, 405, 501)
_OWN_SERVICES = ("jaeger",)  # which traces its own queries


class _Services(msgspec.Struct):
    services: list[str] | None = None


class _Operation(msgspec.Struct):
    name: str = ""


class _Operations(msgspec.Struct):
    operations: list[_Operation] | None = None


class _Summary(msgspec.Struct):
    """As Jaeger 2.19 and later have it; ``traceID`` is an earlier name."""

    trace_id: str = msgspec.field(default="", name="traceId")
    trace_id_before: str = msgspec.field(default="", name="traceID")
    start: str | int = msgspec.field(default=0, name="minStartTimeUnixNano")
    end: str | int = msgspec.field(default=0, name="maxEndTimeUnixNano")
    span_count: int = msgspec.field(default=0, name="spanCount")


class _Summaries(msgspec.Struct):
    summaries: list[_Summary] | None = None
    result: _Summaries | None = None


class Jaeger:
    """Jaeger, whatever its storage. Its search answers whole traces, or their summaries from 2.19 on."""

    narrowest_ns = 10**6
    widest_ns = 1 << 62
    hint = (
        "Jaeger cuts no attribute: look for OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT or"
        " OTEL_SPAN_EVENT_COUNT_LIMIT where it was recorded, for truncate_all or a memory_limiter in a"
        " Collector, and for max_traces of Jaeger's memory storage"
    )

    def __init__(self, address: Address, client: HttpClient, report: Report) -> None:
        self._address = address
        self._client = client
        self._report = report
        self._has_summaries: bool | None = None

    def searches(self) -> Sequence[Callable[[int, int, int], Iterator[FoundTrace]]]:
        """Return a search for each service with recordings, or one for each function where it has others."""
        return [partial(self._find, query) for query in self._queries()]

    def trace(self, trace_id: str) -> list[SpanRecord]:
        """Return the spans of the trace's recordings."""
        try:
            with self._get(f"/api/v3/traces/{trace_id}", {"raw_traces": "true"}) as body:
                found = traces(body, str(self._address), self._report)
                return [span for trace in found for span in trace.spans]
        except StatusError as error:
            if error.status == 404 and error.reason:
                return []
            raise

    def _queries(self) -> Iterator[dict[str, str]]:
        for service in self._address.services or self._services():
            if self._address.services:
                yield {"query.service_name": service}
                continue
            names = self._operations(service)
            ours = [n for n in names if n == a.SPAN_EXPRESSION_GRAPH or n.startswith(_RENDER)]
            is_shared = any(not n.startswith((_RENDER, _PASS)) and n not in _STEPS for n in names)
            if is_shared and len(ours) <= _MANY_OPERATIONS:
                for name in ours:
                    yield {"query.service_name": service, "query.operation_name": name}
            elif ours:
                yield {"query.service_name": service}

    def _services(self) -> list[str]:
        with self._get("/api/v3/services", {}) as body:
            services = self._decoded(body, _Services).services or []
        return [service for service in services if service not in _OWN_SERVICES]

    def _operations(self, service: str) -> list[str]:
        with self._get("/api/v3/operations", {"service": service}) as body:
            operations = self._decoded(body, _Operations).operations or []
        return [operation.name for operation in operations]

    def _find(
        self, query: Mapping[str, str], begin_ns: int, end_ns: int, limit: int
    ) -> Iterator[FoundTrace]:
        parameters = {
            **query,
            "query.start_time_min": _time(begin_ns),
            "query.start_time_max": _time(end_ns),
            "query.num_traces": str(limit),
        }
        if self._has_summaries is not False:
            summaries = self._summaries(parameters)
            if summaries is not None:
                yield from summaries
                return
        try:
            # Raw: without the corrections of clocks that suit the page.
            with self._get("/api/v3/traces", {**parameters, "query.raw_traces": "true"}) as body:
                for trace in traces(body, str(self._address), self._report):
                    yield FoundTrace(trace.trace_id, trace.start_ns, trace.spans, is_whole=True)
        except StatusError as error:
            if not (error.status == 404 and error.reason):  # how it says that it found none
                raise

    def _summaries(self, parameters: Mapping[str, str]) -> list[FoundTrace] | None:
        """Return what the search for summaries finds, None where this Jaeger has no such search."""
        # The name of the parameter changed in the release that brought summaries.
        both = {**parameters, "query.searchDepth": parameters["query.num_traces"]}
        try:
            with self._get("/api/v3/trace-summaries", both) as body:
                answer = self._decoded(body, _Summaries)
        except NoApiError:
            self._has_summaries = False
            return None
        except StatusError as error:
            if error.status == 404 and "traces" in error.reason:
                return []
            if error.status not in _NO_ROUTE:
                raise
            self._has_summaries = False
            return None
        self._has_summaries = True
        summaries = (answer.result or answer).summaries or []
        found = [(s.trace_id or s.trace_id_before, s) for s in summaries]
        return [
            FoundTrace(id_.lower().zfill(32), _integer(s.start), mark=f"{s.span_count} {s.end}")
            for id_, s in found
            if id_
        ]

    def _get(self, path: str, parameters: Mapping[str, str]) -> AbstractContextManager[Body]:
        return self._client.get(path, parameters)

    def _decoded[T](self, body: Body, kind: type[T]) -> T:
        try:
            return msgspec.json.decode(body.read_all(), type=kind)
        except ValueError as error:  # msgspec's errors, and those of text that is not Unicode
            raise BackendError(
                f"{self._address}: not an answer of Jaeger's API: {error}"
            ) from error


def _time(moment_ns: int) -> str:
    """Return the time as RFC 3339 has it, to the nanosecond."""
    seconds, rest = divmod(moment_ns, 10**9)
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.{rest:09}Z"


def _integer(text: str | int) -> int:
    return int(text) if isinstance(text, int) or text.isdecimal() else 0
