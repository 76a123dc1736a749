"""Owns what becomes of recordings in an application's own pipeline: complete ones, or a warning that says why not."""

from __future__ import annotations

import asyncio
import contextvars
import json
import logging
import re
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import scaly as sc
from opentelemetry import baggage, context, trace
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import (
    ReadableSpan,
    Span,
    SpanLimits,
    SpanProcessor,
    TracerProvider,
    _disable_tracer_configurator,
)
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import (
    ALWAYS_OFF,
    DEFAULT_ON,
    Decision,
    ParentBased,
    Sampler,
    StaticSampler,
    TraceIdRatioBased,
)
from scaly.codegen.aot import render_c_source

import scaly_viz
from programs.compat import IS_A1, arg, function
from scaly_viz import attributes as a
from scaly_viz import codec, provider_check, spans
from scaly_viz.assembling import assemble
from scaly_viz.frontend.session import SESSION
from scaly_viz.sources import load
from scaly_viz.store import record

_STEPS = 17 if IS_A1 else 18
_TESTS = str(Path(__file__).parent)


class Application:
    """An application with a provider of its own, and what reaches its exporter."""

    def __init__(self, **options: Any) -> None:
        self.exporter = InMemorySpanExporter()
        self.provider = TracerProvider(
            resource=Resource({"service.name": "application"}), shutdown_on_exit=False, **options
        )
        self.provider.add_span_processor(SimpleSpanProcessor(self.exporter))

    def spans(self) -> tuple[ReadableSpan, ...]:
        """Return what has reached the exporter."""
        return self.exporter.get_finished_spans()

    def root(self) -> ReadableSpan:
        """Return the root span of the only recording that has reached the exporter."""
        (root,) = (s for s in self.spans() if a.RECORDING_STEPS in (s.attributes or {}))
        return root

    def recordings(self) -> list[Any]:
        """Return the recordings that the exporter has, put together by the reader."""
        return [r.to_dict() for r in assemble([record(span) for span in self.spans()])]


def _render(name: str = "sine") -> str:
    @function(arg("x", 3), outputs=arg("y"), name=name)
    def sine(x: sc.Expr) -> sc.Expr:
        return x.sin() * x

    source: str = render_c_source(scaly_viz.visualize(sine))
    return source


def _names(path: Path) -> list[str]:
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [line["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["name"] for line in lines]


def _warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [
        r.getMessage()
        for r in caplog.records
        if r.name == "scaly_viz" and r.levelno >= logging.WARNING
    ]


def _run(code: str) -> subprocess.CompletedProcess[str]:
    prelude = f"import sys; sys.path.insert(0, {_TESTS!r})\n"
    done = subprocess.run(
        [sys.executable, "-c", prelude + textwrap.dedent(code)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done


def test_the_applications_exporter_gets_the_whole_recording_and_nothing_is_said(
    caplog: pytest.LogCaptureFixture,
) -> None:
    app = Application()
    scaly_viz.configure(tracer_provider=app.provider)

    source = _render()

    (recording,) = scaly_viz.recordings()
    assert recording["steps"][-1]["code"] == source
    assert app.recordings() == [recording]
    assert {s.resource.attributes["service.name"] for s in app.spans()} == {"application"}
    assert not scaly_viz.recording_path().exists()
    assert _warnings(caplog) == []


def test_spans_have_the_same_ids_in_the_application_and_in_exporters_that_were_given() -> None:
    app = Application()
    scaly_viz.configure(tracer_provider=app.provider, exporters="json")

    _render()
    SESSION.drain()

    ours = load(scaly_viz.recording_path())[0].spans
    copies = [record(span) for span in app.spans()]
    ids = sorted((s.trace_id, s.span_id, s.parent_span_id, s.name) for s in copies)
    assert sorted((s.trace_id, s.span_id, s.parent_span_id, s.name) for s in ours) == ids
    assert len(ids) == 1 + _STEPS
    assert {s.resource["service.name"] for s in ours} == {"application"}


def test_only_recordings_reach_exporters_that_were_given() -> None:
    app = Application()
    scaly_viz.configure(tracer_provider=app.provider, exporters="json")

    with app.provider.get_tracer("application").start_as_current_span("request"):
        _render()
    SESSION.drain()

    assert "request" not in _names(scaly_viz.recording_path())
    assert len(app.spans()) == 2 + _STEPS


@pytest.mark.parametrize(
    ("sampler", "name"),
    [
        (ALWAYS_OFF, "AlwaysOffSampler"),
        (ParentBased(ALWAYS_OFF), "ParentBased"),
        (TraceIdRatioBased(0.999), "TraceIdRatioBased{0.999}"),
        (StaticSampler(Decision.RECORD_ONLY), "AlwaysOnSampler"),
    ],
)
def test_a_sampler_that_drops_is_told_at_once_and_recordings_are_complete(
    sampler: Sampler, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    scaly_viz.configure(tracer_provider=Application(sampler=sampler).provider)

    (warning,) = _warnings(caplog)
    assert f"its sampler {name}" in warning
    assert "OTEL_TRACES_SAMPLER=parentbased_always_on" in warning

    source = _render()
    _render()

    assert [r["steps"][-1]["code"] for r in scaly_viz.recordings()] == [source, source]
    assert len(_warnings(caplog)) == 1


def test_what_a_sampler_drops_by_its_parent_is_told_when_it_happens(
    caplog: pytest.LogCaptureFixture,
) -> None:
    app = Application(sampler=DEFAULT_ON)
    scaly_viz.configure(tracer_provider=app.provider)
    assert _warnings(caplog) == []

    with trace.use_span(trace.NonRecordingSpan(_remote(sampled=False))):
        _render()
    _render()

    assert len(scaly_viz.recordings()) == 2
    assert app.recordings() == scaly_viz.recordings()[1:]
    (warning,) = _warnings(caplog)
    assert "left out span 'render sine'" in warning


@pytest.mark.parametrize(
    ("limit", "value", "said"),
    [
        ("max_events", 1, "OTEL_SPAN_EVENT_COUNT_LIMIT"),
        ("max_span_attributes", 5, "OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT"),
        ("max_event_attributes", 3, "OTEL_EVENT_ATTRIBUTE_COUNT_LIMIT"),
        ("max_attribute_length", 50, "OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT"),
        ("max_span_attribute_length", 10, "OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT"),
    ],
)
def test_limits_that_are_too_small_are_told_with_what_to_change(
    limit: str, value: int, said: str, caplog: pytest.LogCaptureFixture
) -> None:
    scaly_viz.configure(exporters="none")
    _render()
    (complete,) = scaly_viz.recordings()
    scaly_viz.clear_recordings()
    app = Application(span_limits=SpanLimits(**{limit: value}))
    scaly_viz.configure(tracer_provider=app.provider)

    _render()

    (recording,) = scaly_viz.recordings()
    assert recording["steps"] == complete["steps"]
    (warning,) = _warnings(caplog)
    assert "recordings may not come whole through the application's tracer provider" in warning
    assert said in warning


def test_limits_of_the_environment_are_told(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT", "1000")
    scaly_viz.configure(tracer_provider=Application().provider)

    source = _render()

    assert scaly_viz.recordings()[0]["steps"][-1]["code"] == source
    (warning,) = _warnings(caplog)
    assert "its limit of 1,000 characters" in warning
    assert "unset OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT" in warning
    assert "OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT" not in warning


def test_every_span_fits_the_limits_that_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    exporter = InMemorySpanExporter()
    scaly_viz.configure(exporters=[exporter])

    _render()
    SESSION.drain()
    scaly_viz.configure(exporters="none")

    for span in exporter.get_finished_spans():
        assert len(span.events) <= provider_check.EVENTS
        assert len(span.attributes or {}) <= provider_check.SPAN_ATTRIBUTES
        for event in span.events:
            assert len(event.attributes or {}) <= provider_check.EVENT_ATTRIBUTES
    known = [attribute.where for attribute in a.ATTRIBUTES]
    assert len(known) - known.count("event") <= provider_check.SPAN_ATTRIBUTES
    assert spans.TEXT_BYTES <= provider_check.SPAN_TEXT
    assert known.count("event") + 1 <= provider_check.EVENT_ATTRIBUTES


def test_a_processor_that_changes_spans_is_told(caplog: pytest.LogCaptureFixture) -> None:
    class Redacting(SpanProcessor):
        def on_start(self, span: Span, parent_context: Context | None = None) -> None:
            span.set_attribute(a.FUNCTION_NAME, "[redacted]")

    app = Application()
    app.provider.add_span_processor(Redacting())
    scaly_viz.configure(tracer_provider=app.provider)

    _render()

    assert scaly_viz.recordings()[0]["function"] == "sine"
    (warning,) = _warnings(caplog)
    assert (
        f"{a.FUNCTION_NAME} of span 'expression graph' was changed by a span processor" in warning
    )


@pytest.mark.parametrize(("spans", "told"), [(512, True), (4, False)])
def test_batches_that_a_receiver_would_refuse_are_told(
    spans: int, told: bool, caplog: pytest.LogCaptureFixture
) -> None:
    provider = TracerProvider(shutdown_on_exit=False)
    # Nothing is sent: no span is made.
    exporter = OTLPSpanExporter(endpoint="http://127.0.0.1:9/v1/traces")
    provider.add_span_processor(BatchSpanProcessor(exporter, max_export_batch_size=spans))

    scaly_viz.configure(tracer_provider=provider)
    provider.shutdown()

    assert any("OTEL_BSP_MAX_EXPORT_BATCH_SIZE=4" in text for text in _warnings(caplog)) is told


def test_a_small_queue_is_told(caplog: pytest.LogCaptureFixture) -> None:
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(
        BatchSpanProcessor(InMemorySpanExporter(), max_queue_size=8, max_export_batch_size=4)
    )

    scaly_viz.configure(tracer_provider=provider)
    provider.shutdown()

    (warning,) = _warnings(caplog)
    assert "a queue of 8 spans overflows" in warning


def test_a_provider_without_processors_is_told(caplog: pytest.LogCaptureFixture) -> None:
    scaly_viz.configure(tracer_provider=TracerProvider(shutdown_on_exit=False))

    (warning,) = _warnings(caplog)
    assert "it has no span processor" in warning


@pytest.mark.parametrize("where", ["on_start", "_on_ending", "on_end", "force_flush", "shutdown"])
def test_a_processor_that_raises_costs_a_warning_and_nothing_else(
    where: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("foreign")

    processor = SpanProcessor()
    monkeypatch.setattr(processor, where, fail)
    app = Application()
    app.provider.add_span_processor(processor)
    scaly_viz.configure(tracer_provider=app.provider)

    source = _render()

    assert scaly_viz.recordings()[0]["steps"][-1]["code"] == source
    SESSION.pipeline().flush(1.0)
    raised = ["foreign" in text for text in _warnings(caplog)]
    assert raised == ([] if where == "shutdown" else [True])


def test_a_tracer_that_raises_costs_a_warning_and_nothing_else(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Broken(trace.TracerProvider):
        def get_tracer(self, *_: object, **__: object) -> trace.Tracer:
            raise RuntimeError("no tracer today")

    scaly_viz.configure(tracer_provider=Broken())

    source = _render()

    assert scaly_viz.recordings()[0]["steps"][-1]["code"] == source
    (warning,) = _warnings(caplog)
    assert "no tracer today" in warning


def test_a_provider_whose_spans_are_none_costs_a_warning_a_cause_and_nothing_else(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Odd(TracerProvider):
        def get_tracer(self, *_: object, **__: object) -> Any:
            tracer = trace.NoOpTracer()
            tracer.start_span = lambda *_, **__: object()  # type: ignore[method-assign, assignment]  # odd on purpose
            return tracer

    scaly_viz.configure(tracer_provider=Odd(shutdown_on_exit=False))

    source = _render()

    assert scaly_viz.recordings()[0]["steps"][-1]["code"] == source
    warnings = _warnings(caplog)
    assert any("'object' object has no attribute 'end'" in text for text in warnings)
    assert len(warnings) == len(set(warnings)) < 10


@pytest.mark.parametrize("thing", ["global", 7, InMemorySpanExporter()])
def test_what_is_no_provider_is_refused(thing: Any) -> None:
    with pytest.raises(TypeError, match="expected a TracerProvider of OpenTelemetry, got"):
        scaly_viz.configure(tracer_provider=thing)


@pytest.mark.parametrize("method", ["force_flush", "shutdown"])
def test_an_application_that_flushes_right_after_a_render_sends_all_of_it(method: str) -> None:
    exporter = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(exporter))
    scaly_viz.configure(tracer_provider=provider)
    _render()

    getattr(provider, method)()

    names = [span.name for span in exporter.get_finished_spans()]
    assert len(names) == 1 + _STEPS
    assert names[-1] == "render sine"
    provider.shutdown()


def test_giving_the_same_provider_again_adds_nothing_to_it() -> None:
    app = Application()
    for _ in range(3):
        scaly_viz.configure(tracer_provider=app.provider)
        _render()

    assert len(scaly_viz.recordings()) == 3
    assert len(app.spans()) == 3 * (1 + _STEPS)
    assert len(app.provider._active_span_processor._span_processors) == 2


def test_a_proxy_becomes_the_provider_that_the_application_sets_later() -> None:
    done = _run("""
        import scaly_viz
        from opentelemetry import trace
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import SimpleSpanProcessor
        from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
        from test_application import _render

        scaly_viz.configure(tracer_provider=trace.get_tracer_provider())
        _render("before")
        assert len(scaly_viz.recordings()) == 1

        provider, exporter = TracerProvider(), InMemorySpanExporter()
        provider.add_span_processor(SimpleSpanProcessor(exporter))
        trace.set_tracer_provider(provider)
        _render("after")
        assert len(scaly_viz.recordings()) == 2
        print({s.name for s in exporter.get_finished_spans() if s.name.startswith("render")})
    """)

    assert done.stdout == "{'render after'}\n"
    (line,) = done.stderr.splitlines()
    assert "tracer_provider is a ProxyTracerProvider, which makes no spans: until" in line


def test_a_provider_of_the_api_alone_is_told_and_recordings_are_complete(
    caplog: pytest.LogCaptureFixture,
) -> None:
    scaly_viz.configure(tracer_provider=trace.NoOpTracerProvider())

    source = _render()
    _render()

    assert scaly_viz.recordings()[0]["steps"][-1]["code"] == source
    (warning,) = _warnings(caplog)
    assert "tracer_provider is a NoOpTracerProvider, which makes no spans" in warning


def test_a_disabled_tracer_is_told_and_recordings_are_complete(
    caplog: pytest.LogCaptureFixture,
) -> None:
    app = Application(_tracer_configurator=_disable_tracer_configurator)
    scaly_viz.configure(tracer_provider=app.provider)

    with trace.use_span(trace.NonRecordingSpan(_remote(sampled=True))):
        source = _render()

    assert scaly_viz.recordings()[0]["steps"][-1]["code"] == source
    (warning,) = _warnings(caplog)
    assert "makes no spans of the scope scaly_viz" in warning


def _remote(*, sampled: bool) -> trace.SpanContext:
    flags = trace.TraceFlags(trace.TraceFlags.SAMPLED if sampled else 0)
    return trace.SpanContext(0xABC << 64, 0xDEF, is_remote=True, trace_flags=flags)


@pytest.mark.parametrize("sampled", [True, False])
def test_our_own_pipeline_records_below_a_parent_of_a_request_whether_it_is_sampled_or_not(
    sampled: bool,
) -> None:
    with trace.use_span(trace.NonRecordingSpan(_remote(sampled=sampled))):
        _render()
    SESSION.drain()

    ((spans),) = [r.spans for r in load(scaly_viz.recording_path())]
    root = next(s for s in spans if a.RECORDING_STEPS in s.attributes)
    assert {s.trace_id for s in spans} == {f"{0xABC << 64:032x}"}
    assert root.parent_span_id == f"{0xDEF:016x}"
    assert len(scaly_viz.load_recordings(strict=True)) == 1


def _in_this_context(render: Callable[[], object]) -> None:
    render()


def _in_a_thread(render: Callable[[], object]) -> None:
    carried = contextvars.copy_context()
    thread = threading.Thread(target=carried.run, args=(render,))
    thread.start()
    thread.join()


def _in_a_task(render: Callable[[], object]) -> None:
    async def main() -> None:
        async def child() -> None:
            await asyncio.to_thread(render)

        await asyncio.create_task(child())

    asyncio.run(main())


@pytest.mark.parametrize("run", [_in_this_context, _in_a_thread, _in_a_task])
def test_a_render_in_a_request_belongs_to_the_requests_trace(
    run: Callable[[Callable[[], object]], None],
) -> None:
    app = Application()
    scaly_viz.configure(tracer_provider=app.provider)
    tracer = app.provider.get_tracer("application")

    with tracer.start_as_current_span("request") as request:
        run(_render)
        assert trace.get_current_span() is request
    SESSION.drain()

    root = app.root()
    assert root.parent == request.get_span_context()
    assert {s.context.trace_id for s in app.spans() if s.context} == {root.context.trace_id}


def test_a_thread_without_the_requests_context_starts_a_trace_of_its_own() -> None:
    app = Application()
    scaly_viz.configure(tracer_provider=app.provider)

    with app.provider.get_tracer("application").start_as_current_span("request"):
        # An empty context, as a thread has it that nobody gave one.
        contextvars.Context().run(_render)
    SESSION.drain()

    assert app.root().parent is None


def test_processors_see_the_baggage_of_the_caller() -> None:
    seen: list[object] = []

    class Baggage(SpanProcessor):
        def on_start(self, span: Span, parent_context: Context | None = None) -> None:
            seen.append(baggage.get_baggage("tenant", parent_context))

    app = Application()
    app.provider.add_span_processor(Baggage())
    scaly_viz.configure(tracer_provider=app.provider)

    token = context.attach(baggage.set_baggage("tenant", "blue"))
    _render()
    context.detach(token)
    SESSION.drain()

    assert seen == ["blue"] * (1 + _STEPS)


def test_an_ended_process_and_a_forked_one_leave_all_in_the_applications_exporter(
    tmp_path: Path,
) -> None:
    _run(f"""
        import multiprocessing
        import scaly_viz
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
        from scaly_viz_exporters.json_file import JsonFileExporter
        from test_application import _render

        scaly_viz.configure()
        _render("ours")
        provider = TracerProvider()
        provider.add_span_processor(BatchSpanProcessor(JsonFileExporter({str(tmp_path / "app.jsonl")!r})))
        scaly_viz.configure(tracer_provider=provider)
        child = multiprocessing.get_context("fork").Process(target=_render, args=("child",))
        child.start()
        child.join()
        assert child.exitcode == 0
        _render("last")
    """)

    kept = scaly_viz.load_recordings(tmp_path / "app.jsonl", strict=True)
    assert {r["function"] for r in kept} == {"child", "last"}
    assert [r["function"] for r in scaly_viz.load_recordings(strict=True)] == ["ours"]


def test_the_python_on_the_page_runs() -> None:
    page = (Path(_TESTS).parent / "docs" / "instrumentation.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)

    assert len(blocks) == 3
    # The provider of the page has no processors, which is told.
    assert "it has no span processor" in _run("".join(blocks)).stderr


def test_the_page_states_the_needs_that_are_checked() -> None:
    page = (Path(_TESTS).parent / "docs" / "instrumentation.md").read_text(encoding="utf-8")
    rows = dict(
        re.findall(r"^\| .*`(OTEL_\w+)`.*? \| (?:unset, or )?([\d]+)\b", page, re.MULTILINE)
    )

    assert rows == {
        "OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT": str(codec.BODY_CHARS),
        "OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT": str(provider_check.SPAN_TEXT),
        "OTEL_SPAN_EVENT_COUNT_LIMIT": str(provider_check.EVENTS),
        "OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT": str(provider_check.SPAN_ATTRIBUTES),
        "OTEL_EVENT_ATTRIBUTE_COUNT_LIMIT": str(provider_check.EVENT_ATTRIBUTES),
        "OTEL_BSP_MAX_QUEUE_SIZE": str(provider_check.QUEUE_SPANS),
        "OTEL_BSP_MAX_EXPORT_BATCH_SIZE": str(provider_check.BATCH_SPANS),
    }
