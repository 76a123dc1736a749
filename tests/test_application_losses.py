"""An application's provider that drops, cuts, refuses or raises: what is lost is told, recordings are complete."""

from __future__ import annotations

from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import (
    Span,
    SpanLimits,
    SpanProcessor,
    TracerProvider,
    _disable_tracer_configurator,
)
from opentelemetry.sdk.trace.export import BatchSpanProcessor
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

import scaly_viz
from applications import Application, remote, render_sine
from logged import warnings_of
from scaly_viz import attributes as a
from scaly_viz.frontend.session import SESSION


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

    (warning,) = warnings_of(caplog, "scaly_viz")
    assert f"its sampler {name}" in warning
    assert "OTEL_TRACES_SAMPLER=parentbased_always_on" in warning

    source = render_sine()
    render_sine()

    assert [r["steps"][-1]["code"] for r in scaly_viz.recordings()] == [source, source]
    assert len(warnings_of(caplog, "scaly_viz")) == 1


def test_what_a_sampler_drops_by_its_parent_is_told_when_it_happens(
    caplog: pytest.LogCaptureFixture,
) -> None:
    app = Application(sampler=DEFAULT_ON)
    scaly_viz.configure(tracer_provider=app.provider)
    assert warnings_of(caplog, "scaly_viz") == []

    with trace.use_span(trace.NonRecordingSpan(remote(sampled=False))):
        render_sine()
    render_sine()

    assert len(scaly_viz.recordings()) == 2
    assert app.recordings() == scaly_viz.recordings()[1:]
    (warning,) = warnings_of(caplog, "scaly_viz")
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
    render_sine()
    (complete,) = scaly_viz.recordings()
    scaly_viz.clear_recordings()
    app = Application(span_limits=SpanLimits(**{limit: value}))
    scaly_viz.configure(tracer_provider=app.provider)

    render_sine()

    (recording,) = scaly_viz.recordings()
    assert recording["steps"] == complete["steps"]
    (warning,) = warnings_of(caplog, "scaly_viz")
    assert "recordings may not come whole through the application's tracer provider" in warning
    assert said in warning


def test_limits_of_the_environment_are_told(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT", "1000")
    scaly_viz.configure(tracer_provider=Application().provider)

    source = render_sine()

    assert scaly_viz.recordings()[0]["steps"][-1]["code"] == source
    (warning,) = warnings_of(caplog, "scaly_viz")
    assert "its limit of 1,000 characters" in warning
    assert "unset OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT" in warning
    assert "OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT" not in warning


def test_a_processor_that_changes_spans_is_told(caplog: pytest.LogCaptureFixture) -> None:
    class Redacting(SpanProcessor):
        def on_start(self, span: Span, parent_context: Context | None = None) -> None:
            span.set_attribute(a.FUNCTION_NAME, "[redacted]")

    app = Application()
    app.provider.add_span_processor(Redacting())
    scaly_viz.configure(tracer_provider=app.provider)

    render_sine()

    assert scaly_viz.recordings()[0]["function"] == "sine"
    (warning,) = warnings_of(caplog, "scaly_viz")
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

    assert (
        any("OTEL_BSP_MAX_EXPORT_BATCH_SIZE=4" in text for text in warnings_of(caplog, "scaly_viz"))
        is told
    )


def test_a_small_queue_is_told(caplog: pytest.LogCaptureFixture) -> None:
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(
        BatchSpanProcessor(InMemorySpanExporter(), max_queue_size=8, max_export_batch_size=4)
    )

    scaly_viz.configure(tracer_provider=provider)
    provider.shutdown()

    (warning,) = warnings_of(caplog, "scaly_viz")
    assert "a queue of 8 spans overflows" in warning


def test_a_provider_without_processors_is_told(caplog: pytest.LogCaptureFixture) -> None:
    scaly_viz.configure(tracer_provider=TracerProvider(shutdown_on_exit=False))

    (warning,) = warnings_of(caplog, "scaly_viz")
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

    source = render_sine()

    assert scaly_viz.recordings()[0]["steps"][-1]["code"] == source
    SESSION.pipeline().flush(1.0)
    raised = ["foreign" in text for text in warnings_of(caplog, "scaly_viz")]
    assert raised == ([] if where == "shutdown" else [True])


def test_a_tracer_that_raises_costs_a_warning_and_nothing_else(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Broken(trace.TracerProvider):
        def get_tracer(self, *_: object, **__: object) -> trace.Tracer:
            raise RuntimeError("no tracer today")

    scaly_viz.configure(tracer_provider=Broken())

    source = render_sine()

    assert scaly_viz.recordings()[0]["steps"][-1]["code"] == source
    (warning,) = warnings_of(caplog, "scaly_viz")
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

    source = render_sine()

    assert scaly_viz.recordings()[0]["steps"][-1]["code"] == source
    warnings = warnings_of(caplog, "scaly_viz")
    assert any("'object' object has no attribute 'end'" in text for text in warnings)
    assert len(warnings) == len(set(warnings)) < 10


def test_a_provider_of_the_api_alone_is_told_and_recordings_are_complete(
    caplog: pytest.LogCaptureFixture,
) -> None:
    scaly_viz.configure(tracer_provider=trace.NoOpTracerProvider())

    source = render_sine()
    render_sine()

    assert scaly_viz.recordings()[0]["steps"][-1]["code"] == source
    (warning,) = warnings_of(caplog, "scaly_viz")
    assert "tracer_provider is a NoOpTracerProvider, which makes no spans" in warning


def test_a_disabled_tracer_is_told_and_recordings_are_complete(
    caplog: pytest.LogCaptureFixture,
) -> None:
    app = Application(_tracer_configurator=_disable_tracer_configurator)
    scaly_viz.configure(tracer_provider=app.provider)

    with trace.use_span(trace.NonRecordingSpan(remote(sampled=True))):
        source = render_sine()

    assert scaly_viz.recordings()[0]["steps"][-1]["code"] == source
    (warning,) = warnings_of(caplog, "scaly_viz")
    assert "makes no spans of the scope scaly_viz" in warning
