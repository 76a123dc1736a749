"""Owns what becomes of recordings in an application's own pipeline: complete ones, or a warning that says why not."""

from __future__ import annotations

import asyncio
import contextvars
import re
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from opentelemetry import baggage, context, trace
from opentelemetry.context import Context
from opentelemetry.sdk.trace import (
    Span,
    SpanProcessor,
    TracerProvider,
)
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import scaly_viz
from applications import TESTS, Application, names_in, remote, render_sine, run_python
from logged import warnings_of
from programs.compat import STEPS
from scaly_viz import attributes as a
from scaly_viz import codec, provider_check, spans
from scaly_viz.frontend.session import SESSION
from scaly_viz.sources import load
from scaly_viz.store import record


def test_the_applications_exporter_gets_the_whole_recording_and_nothing_is_said(
    caplog: pytest.LogCaptureFixture,
) -> None:
    app = Application()
    scaly_viz.configure(tracer_provider=app.provider)

    source = render_sine()

    (recording,) = scaly_viz.recordings()
    assert recording["steps"][-1]["code"] == source
    assert app.recordings() == [recording]
    assert {s.resource.attributes["service.name"] for s in app.spans()} == {"application"}
    assert not scaly_viz.recording_path().exists()
    assert warnings_of(caplog, "scaly_viz") == []


def test_spans_have_the_same_ids_in_the_application_and_in_exporters_that_were_given() -> None:
    app = Application()
    scaly_viz.configure(tracer_provider=app.provider, exporters="json")

    render_sine()
    SESSION.drain()

    ours = load(scaly_viz.recording_path())[0].spans
    copies = [record(span) for span in app.spans()]
    ids = sorted((s.trace_id, s.span_id, s.parent_span_id, s.name) for s in copies)
    assert sorted((s.trace_id, s.span_id, s.parent_span_id, s.name) for s in ours) == ids
    assert len(ids) == 1 + STEPS
    assert {s.resource["service.name"] for s in ours} == {"application"}


def test_only_recordings_reach_exporters_that_were_given() -> None:
    app = Application()
    scaly_viz.configure(tracer_provider=app.provider, exporters="json")

    with app.provider.get_tracer("application").start_as_current_span("request"):
        render_sine()
    SESSION.drain()

    assert "request" not in names_in(scaly_viz.recording_path())
    assert len(app.spans()) == 2 + STEPS


def test_every_span_fits_the_limits_that_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    exporter = InMemorySpanExporter()
    scaly_viz.configure(exporters=[exporter])

    render_sine()
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
    render_sine()

    getattr(provider, method)()

    names = [span.name for span in exporter.get_finished_spans()]
    assert len(names) == 1 + STEPS
    assert names[-1] == "render sine"
    provider.shutdown()


def test_giving_the_same_provider_again_adds_nothing_to_it() -> None:
    app = Application()
    for _ in range(3):
        scaly_viz.configure(tracer_provider=app.provider)
        render_sine()

    assert len(scaly_viz.recordings()) == 3
    assert len(app.spans()) == 3 * (1 + STEPS)
    assert len(app.provider._active_span_processor._span_processors) == 2


def test_a_proxy_becomes_the_provider_that_the_application_sets_later() -> None:
    done = run_python("""
        import scaly_viz
        from opentelemetry import trace
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import SimpleSpanProcessor
        from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
        from test_application import render_sine

        scaly_viz.configure(tracer_provider=trace.get_tracer_provider())
        render_sine("before")
        assert len(scaly_viz.recordings()) == 1

        provider, exporter = TracerProvider(), InMemorySpanExporter()
        provider.add_span_processor(SimpleSpanProcessor(exporter))
        trace.set_tracer_provider(provider)
        render_sine("after")
        assert len(scaly_viz.recordings()) == 2
        print({s.name for s in exporter.get_finished_spans() if s.name.startswith("render")})
    """)

    assert done.stdout == "{'render after'}\n"
    (line,) = done.stderr.splitlines()
    assert "tracer_provider is a ProxyTracerProvider, which makes no spans: until" in line


@pytest.mark.parametrize("sampled", [True, False])
def test_our_own_pipeline_records_below_a_parent_of_a_request_whether_it_is_sampled_or_not(
    sampled: bool,
) -> None:
    with trace.use_span(trace.NonRecordingSpan(remote(sampled=sampled))):
        render_sine()
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
        run(render_sine)
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
        contextvars.Context().run(render_sine)
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
    render_sine()
    context.detach(token)
    SESSION.drain()

    assert seen == ["blue"] * (1 + STEPS)


def test_an_ended_process_and_a_forked_one_leave_all_in_the_applications_exporter(
    tmp_path: Path,
) -> None:
    run_python(f"""
        import multiprocessing
        import scaly_viz
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
        from scaly_viz_exporters.json_file import JsonFileExporter
        from test_application import render_sine

        scaly_viz.configure()
        render_sine("ours")
        provider = TracerProvider()
        provider.add_span_processor(BatchSpanProcessor(JsonFileExporter({str(tmp_path / "app.jsonl")!r})))
        scaly_viz.configure(tracer_provider=provider)
        child = multiprocessing.get_context("fork").Process(target=render_sine, args=("child",))
        child.start()
        child.join()
        assert child.exitcode == 0
        render_sine("last")
    """)

    kept = scaly_viz.load_recordings(tmp_path / "app.jsonl", strict=True)
    assert {r["function"] for r in kept} == {"child", "last"}
    assert [r["function"] for r in scaly_viz.load_recordings(strict=True)] == ["ours"]


def test_the_python_on_the_page_runs() -> None:
    page = (Path(TESTS).parent / "docs" / "instrumentation.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)

    assert len(blocks) == 3
    # The provider of the page has no processors, which is told.
    assert "it has no span processor" in run_python("".join(blocks)).stderr


def test_the_page_states_the_needs_that_are_checked() -> None:
    page = (Path(TESTS).parent / "docs" / "instrumentation.md").read_text(encoding="utf-8")
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
