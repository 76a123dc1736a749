"""Owns the promise that every program's recording comes back from real backends as it is in the local file."""

from __future__ import annotations

import http.client
import json
import time
import uuid
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.trace import (
    NonRecordingSpan,
    SpanContext,
    TraceFlags,
    set_span_in_context,
)

import scaly_viz
from cli.running import output_of, run, run_process
from programs import PROGRAMS
from scaly_viz.analysis.summary import summarize, summarize_steps
from scaly_viz.remote import Listing
from scaly_viz.sources import load
from scaly_viz.sources.address import parse_address

from . import rendering, servers

pytestmark = pytest.mark.backend

_RENDER_S = 240
_ARRIVAL_S = 60


@dataclass(frozen=True)
class Route:
    """Where recordings were written locally, and where they arrived."""

    local: Path
    source: str
    otlp: servers.Server

    def arrived(self) -> None:
        """Wait until all is there that is in the local file."""
        expected = {recording["id"] for recording in scaly_viz.load_recordings(self.local)}
        until = time.monotonic() + _ARRIVAL_S
        while self._there() != expected:
            assert time.monotonic() < until, f"{self.source} lacks {expected - self._there()}"
            time.sleep(0.1)

    def _there(self) -> set[str]:
        if self.source.startswith("jaeger:"):
            listing = Listing(parse_address(self.source))
            listing.refresh(_fail)
            return {s.id for s in listing.summaries() if s.status != "incomplete"}
        return {r.id for r in load(self.source, lambda _: None) if r.complete}


def _fail(text: str) -> None:
    raise AssertionError(text)


@pytest.fixture(scope="module")
def routes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Route]]:
    """Render all programs once, and ship what is recorded the other ways that spans may take."""
    folder = tmp_path_factory.mktemp("backends")
    local = folder / "local" / "recordings.jsonl"
    with ExitStack() as stack:
        memory = stack.enter_context(servers.jaeger(folder / "memory"))
        badger = stack.enter_context(
            servers.jaeger(folder / "badger", badger=True, base="/jaeger/ui")
        )
        behind = stack.enter_context(servers.jaeger(folder / "behind"))
        collector = stack.enter_context(servers.collector(folder / "collector", behind))
        process = rendering.start(local.parent, memory.otlp_http, "http/protobuf")
        out, err = process.communicate(timeout=_RENDER_S)
        assert (process.returncode, err) == (0, "")
        assert out.split() == [program.name for program in PROGRAMS]
        for to in (
            ("--to", badger.otlp_grpc, "--protocol", "grpc"),
            ("--to", collector.otlp_http),
        ):
            done = run_process("ship", local, *to, SCALY_VIZ_DIR=str(local.parent))
            assert (done.returncode, done.stderr) == (0, b"")
        written = str(collector.folder / "traces.jsonl")
        made = {
            "HTTP, Jaeger in memory": Route(local, memory.address, memory),
            "gRPC, Jaeger on Badger": Route(local, badger.address, badger),
            "Collector, Jaeger": Route(local, behind.address, collector),
            "Collector, file": Route(local, written, collector),
        }
        for route in made.values():
            route.arrived()
        traces = [recording.head.trace_id for recording in load(local)][:3]
        for server in (memory, badger, collector):
            for service in ("scaly", "shop"):
                _send_foreign(server.otlp_grpc, service, traces)
        _wait_for_foreign(Path(written))
        yield made


_NAMES = (
    "HTTP, Jaeger in memory",
    "gRPC, Jaeger on Badger",
    "Collector, Jaeger",
    "Collector, file",
)


@pytest.fixture(params=_NAMES)
def route(request: pytest.FixtureRequest, routes: dict[str, Route]) -> Route:
    return routes[request.param]


def test_every_program_comes_back_equal_from_among_spans_of_others(route: Route) -> None:
    local = scaly_viz.load_recordings(route.local)

    assert {recording["name"] for recording in local} >= {program.name for program in PROGRAMS}
    assert scaly_viz.load_recordings(route.source, strict=True) == local


def test_short_forms_are_those_of_the_local_file(route: Route) -> None:
    local, there = load(route.local), load(route.source)

    assert [summarize(recording) for recording in there] == [*map(summarize, local)]
    assert [summarize_steps(recording) for recording in there] == [*map(summarize_steps, local)]


@pytest.mark.parametrize("name", _NAMES[:3])
def test_lists_are_those_of_the_local_file(routes: dict[str, Route], name: str) -> None:
    route = routes[name]
    local = json.loads(output_of("list", "--json", "--recording-path", route.local))

    for _ in range(2):
        listed = run("list", "--json", route.source)
        assert (listed.exit_code, listed.stderr) == (0, "")
        assert json.loads(listed.stdout) == local


def test_every_line_is_a_request_that_a_receiver_accepts_and_doubles_count_once(
    routes: dict[str, Route],
) -> None:
    route = routes["HTTP, Jaeger in memory"]

    connection = http.client.HTTPConnection("127.0.0.1", route.otlp.ports["http"], timeout=30)
    try:
        for line in route.local.read_bytes().splitlines():
            connection.request("POST", "/v1/traces", line, {"Content-Type": "application/json"})
            answer = connection.getresponse()
            assert (answer.status, json.loads(answer.read())) == (200, {"partialSuccess": {}})
    finally:
        connection.close()

    local, there = load(route.local), load(route.source)
    assert [summarize(recording) for recording in there] == [*map(summarize, local)]
    assert [r.to_dict() for r in there[-5:]] == [r.to_dict() for r in local[-5:]]


def _send_foreign(endpoint: str, service: str, traces: list[str]) -> None:
    """Send spans of another program: in traces of their own, and in those of recordings."""
    provider = TracerProvider(resource=Resource({"service.name": service}), shutdown_on_exit=False)
    exporter = OTLPSpanExporter(endpoint=endpoint, insecure=True)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracer = provider.get_tracer("shop")
    for trace in (uuid.uuid4().hex, *traces):
        context = SpanContext(int(trace, 16), 1, is_remote=True, trace_flags=TraceFlags(1))
        parent = set_span_in_context(NonRecordingSpan(context))
        with tracer.start_as_current_span("foreign", parent, attributes={"x": [1, 2]}) as span:
            span.add_event("scaly.assembly", {"scaly.payload.encoding": "text"})
    provider.shutdown()


def _wait_for_foreign(path: Path) -> None:
    until = time.monotonic() + _ARRIVAL_S
    while path.read_bytes().count(b'"foreign"') < 8:
        assert time.monotonic() < until, f"{path} lacks spans"
        time.sleep(0.1)
