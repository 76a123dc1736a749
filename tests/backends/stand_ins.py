"""Owns stand-ins for backends that cannot be had: Tempo, newer Jaegers, and servers that misbehave.

What they answer has the shape that the projects' documentation shows.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from scaly_viz import attributes as a

type Document = dict[str, Any]  # JSON


@dataclass(frozen=True, slots=True)
class Request:
    """What was asked for."""

    path: str
    query: dict[str, str]
    headers: dict[str, str]


@dataclass(frozen=True, slots=True)
class Answer:
    """What is answered. A ``promised`` length beyond that of the body breaks the answer off."""

    body: bytes | Document = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    promised: int = 0

    @property
    def data(self) -> bytes:
        """The body's bytes."""
        return self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()


type Answers = Callable[[Request], Answer]

HTML = Answer(b"<!doctype html><title>Sign in</title>", headers={"Content-Type": "text/html"})


@dataclass
class StandIn:
    """A server at ``url``; ``asked`` are the requests so far."""

    url: str
    asked: list[Request]

    def paths(self) -> list[str]:
        """Return the paths that were asked for since the last call."""
        paths = [request.path for request in self.asked]
        self.asked.clear()
        return paths


@contextmanager
def standing_in(answers: Answers) -> Iterator[StandIn]:
    """Serve ``answers`` on a free loopback port."""
    asked: list[Request] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            headers = {name.lower(): value for name, value in self.headers.items()}
            asked.append(Request(parts.path, dict(parse_qsl(parts.query)), headers))
            answer = answers(asked[-1])
            self.send_response(answer.status)
            sent = {"Content-Type": "application/json"} | answer.headers
            for name, value in sent.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(answer.promised or len(answer.data)))
            self.end_headers()
            self.wfile.write(answer.data)

        def log_message(self, format: str, *args: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = False

        def handle_error(self, request: object, client_address: object) -> None:
            pass  # of a client that went away

    with Server(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield StandIn(f"http://127.0.0.1:{server.server_address[1]}", asked)
        finally:
            server.shutdown()
            thread.join()


def resources_of(path: Path) -> list[Document]:
    """Return the ``resourceSpans`` of the lines of ``path``, one span each."""
    lines = path.read_text("utf-8").splitlines()
    return [resource for line in lines for resource in json.loads(line)["resourceSpans"]]


def span_of(resource: Document) -> Document:
    """Return its only span."""
    span: Document = resource["scopeSpans"][0]["spans"][0]
    return span


def by_trace(resources: Sequence[Document]) -> dict[str, list[Document]]:
    """Return the resources of each trace."""
    traces: dict[str, list[Document]] = {}
    for resource in resources:
        traces.setdefault(span_of(resource)["traceId"], []).append(resource)
    return traces


def _start(resources: Sequence[Document]) -> int:
    return min(int(span_of(resource)["startTimeUnixNano"]) for resource in resources)


@dataclass
class JaegerStandIn:
    """A Jaeger that has ``resources``: with ``summaries``, one of 2.19 or later."""

    resources: list[Document]
    summaries: bool = False
    operations: Sequence[str] = ("render f", "pass")

    def __call__(self, request: Request) -> Answer:
        """Answer a request."""
        traces = by_trace(self.resources)
        path = request.path
        if path == "/api/v3/services":
            return Answer({"services": ["scaly", "jaeger"]})
        if path == "/api/v3/operations":
            return Answer({"operations": [{"name": n, "spanKind": ""} for n in self.operations]})
        if path == "/api/v3/traces":
            return self._whole([r for rs in self._found(request, traces) for r in rs])
        if path.startswith("/api/v3/traces/"):
            return self._whole(traces.get(path.rpartition("/")[2], []))
        if path == "/api/v3/trace-summaries" and self.summaries:
            return Answer({"summaries": [_summary(rs) for rs in self._found(request, traces)]})
        return HTML

    def _found(self, request: Request, traces: dict[str, list[Document]]) -> list[list[Document]]:
        limit = int(request.query["query.num_traces"])
        begin, end = request.query["query.start_time_min"], request.query["query.start_time_max"]
        found = [rs for rs in traces.values() if _time(begin) <= _start(rs) <= _time(end)]
        return found[:limit]

    def _whole(self, resources: list[Document]) -> Answer:
        if not resources:
            return Answer({"error": {"httpCode": 404, "message": "No traces found"}}, 404)
        # As 1.76 has it, whose answers are plain text by name.
        return Answer(
            {"result": {"resourceSpans": resources}}, headers={"Content-Type": "text/plain"}
        )


def _time(text: str) -> int:
    moment, _, rest = text.removesuffix("Z").partition(".")
    seconds = datetime.fromisoformat(moment).replace(tzinfo=UTC).timestamp()
    return int(seconds) * 10**9 + int(rest)


def _summary(resources: list[Document]) -> Document:
    return {
        "traceId": span_of(resources[0])["traceId"],
        "rootServiceName": "scaly",
        "rootOperationName": "render f",
        "minStartTimeUnixNano": str(_start(resources)),
        "maxEndTimeUnixNano": max(span_of(r)["endTimeUnixNano"] for r in resources),
        "spanCount": len(resources),
        "errorSpanCount": 0,
        "orphanSpanCount": 0,
        "services": [{"name": "scaly", "spanCount": len(resources), "errorSpanCount": 0}],
    }


@dataclass
class TempoStandIn:
    """A Tempo that has ``resources``; without ``version_2`` one before 2.7, whose traces have ``batches``."""

    resources: list[Document]
    version_2: bool = True
    status: str = "COMPLETE"
    spans_per_set: int = 100

    def __call__(self, request: Request) -> Answer:
        """Answer a request."""
        path, traces = request.path, by_trace(self.resources)
        trace = traces.get(path.rpartition("/")[2])
        if path == "/api/search":
            start, end = (int(request.query[key]) * 10**9 for key in ("start", "end"))
            found = [rs for rs in traces.values() if start <= _start(rs) < end]
            limit = int(request.query["limit"])
            return Answer({"traces": [self._found(rs, request) for rs in found[:limit]]})
        if path.startswith("/api/v2/traces/") and self.version_2 and trace:
            answer: Document = {"trace": {"resourceSpans": trace}, "metrics": {}}
            if self.status != "COMPLETE":
                answer |= {"status": self.status, "message": "trace exceeds max size"}
            return Answer(answer)
        if path.startswith("/api/traces/") and trace:
            return Answer({"batches": trace})
        return Answer(b"404 page not found", 404, {"Content-Type": "text/plain"})

    def _found(self, resources: list[Document], request: Request) -> Document:
        query = request.query["q"]
        selected = query.partition("select(")[2].rstrip(")").split(", ")
        keys = {key.partition(".")[2] for key in selected if "." in key}
        spans = [_search_span(resource, keys) for resource in resources]
        shown = spans[: min(self.spans_per_set, int(request.query["spss"]))]
        return {
            "traceID": span_of(resources[0])["traceId"].lstrip("0"),
            "rootServiceName": "scaly",
            "rootTraceName": "render f",
            "startTimeUnixNano": str(_start(resources)),
            "durationMs": 557,
            "spanSets": [{"spans": shown, "matched": len(spans)}],
        }


def _search_span(resource: Document, keys: set[str]) -> Document:
    span = span_of(resource)
    code = span.get("status", {}).get("code", 0)
    attributes = [
        *(
            p
            for p in (*span["attributes"], *resource["resource"]["attributes"])
            if p["key"] in keys
        ),
        {"key": "status", "value": {"stringValue": {0: "unset", 2: "error"}[code]}},
        {
            "key": "statusMessage",
            "value": {"stringValue": span.get("status", {}).get("message", "")},
        },
    ]
    start, end = int(span["startTimeUnixNano"]), int(span["endTimeUnixNano"])
    return {
        "spanID": span["spanId"],
        "name": span["name"],
        "startTimeUnixNano": str(start),
        "durationNanos": str(end - start),
        "attributes": attributes,
    }


def cut(resources: Sequence[Document], most: int) -> None:
    """Cut the bodies of payloads, as a limit on attributes does."""
    for resource in resources:
        for event in span_of(resource).get("events", ()):
            for pair in event["attributes"]:
                if pair["key"] == a.PAYLOAD_BODY:
                    pair["value"]["stringValue"] = pair["value"]["stringValue"][:most]
