"""Owns the configurations of Jaeger and the Collector, each run by the real program."""

from __future__ import annotations

import contextlib
import json
import signal
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import scaly.passes.program as program_passes
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExportResult
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import scaly_viz
from programs import PROGRAMS
from scaly_viz import attributes as a

from .files import read_yaml
from .running import Collector, Jaeger, Recording, load, post, spans_of, wait_until
from .test_page import TEXT, write_trace

pytestmark = pytest.mark.backend

_BODY = "x" * 60_000


@pytest.fixture
def lines(recording_folder: Path) -> list[str]:
    """Return the file of three renders: one fails, one is small, one is less so."""
    for program in PROGRAMS:
        if program.name in ("high_rank", "slices", "nested_calls"):
            with contextlib.suppress(Exception):
                program.render(scaly_viz.visualize(program.build()))
    scaly_viz.recordings()
    return (recording_folder / "recordings.jsonl").read_text().splitlines()


@pytest.fixture
def recordings(recording_folder: Path, lines: list[str]) -> list[Recording]:
    """Return the recordings of ``lines``."""
    recordings = load(recording_folder / "recordings.jsonl")
    assert len(recordings) == 3
    return recordings


def _made(spans: int, bodies: int) -> tuple[ReadableSpan, ...]:
    """Return spans with that many payload bodies of full length each."""
    kept = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(kept))
    for _ in range(spans):
        with provider.get_tracer(a.SCOPE).start_as_current_span("made") as span:
            for _ in range(bodies):
                span.add_event("scaly.graph", {a.PAYLOAD_BODY: _BODY})
    provider.shutdown()
    return kept.get_finished_spans()


def _trace_ids(spans: Iterable[ReadableSpan]) -> list[str]:
    return [f"{span.context.trace_id:032x}" for span in spans if span.context]


def _bodies(resources: list[dict[str, Any]]) -> list[str]:
    return [
        attribute["value"]["stringValue"]
        for resource in resources
        for scope in resource["scopeSpans"]
        for span in scope["spans"]
        for event in span["events"]
        for attribute in event["attributes"]
    ]


def test_jaeger_gives_back_equal_what_it_acknowledged_before_it_was_killed(
    tmp_path: Path, lines: list[str], recordings: list[Recording]
) -> None:
    with Jaeger(tmp_path / "jaeger") as jaeger:
        for line in lines:
            post(jaeger.otlp_url, line)
        jaeger.stop(signal.SIGKILL)

    with Jaeger(tmp_path / "jaeger") as jaeger:
        assert jaeger.recordings(tmp_path, lines) == recordings


def test_the_page_of_backends_shows_what_jaeger_gives_back() -> None:
    assert write_trace.with_blocks(TEXT, write_trace.shown()) == TEXT


def test_jaeger_takes_a_message_over_the_default_limit_of_grpc(tmp_path: Path) -> None:
    spans = _made(spans=10, bodies=12)

    with Jaeger(tmp_path / "jaeger") as jaeger:
        exporter = OTLPSpanExporter(endpoint=f"http://127.0.0.1:{jaeger.grpc}", timeout=30)
        assert exporter.export(spans) is SpanExportResult.SUCCESS
        exporter.shutdown()

        for trace_id in _trace_ids(spans):
            assert _bodies(jaeger.spans(trace_id)) == [_BODY] * 12


def test_jaeger_takes_a_recording_whose_texts_are_endless(
    tmp_path: Path, recording_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: object) -> None:
        raise ValueError("é{[" * 100_000)

    monkeypatch.setattr(program_passes, "PASS_PIPELINE", (("fail", fail),))
    function = scaly_viz.visualize(PROGRAMS[0].build(), label="label, " * 30_000)
    with pytest.raises(ValueError, match="é"):
        PROGRAMS[0].render(function)
    scaly_viz.recordings()
    path = recording_folder / "recordings.jsonl"
    lines = path.read_text().splitlines()

    with Jaeger(tmp_path / "jaeger") as jaeger:
        for line in lines:
            post(jaeger.otlp_url, line)
        assert jaeger.recordings(tmp_path, lines) == load(path)


def test_the_agent_outlives_a_kill_and_a_backend_that_comes_late(
    tmp_path: Path, lines: list[str], recordings: list[Recording]
) -> None:
    jaeger = Jaeger(tmp_path / "jaeger")
    with Collector(tmp_path / "agent", jaeger.otlp_url) as agent:
        for line in lines:
            post(agent.otlp_url, line)
        agent.stop(signal.SIGKILL)

    with Collector(tmp_path / "agent", jaeger.otlp_url), jaeger:
        assert jaeger.recordings(tmp_path, lines) == recordings


def test_the_agent_cuts_what_it_got_in_one_message_for_a_backend_with_the_usual_limit(
    tmp_path: Path,
) -> None:
    spans = _made(spans=10, bodies=12)
    usual = {"receivers": {"otlp": {"protocols": {"http": {"max_request_body_size": 4 << 20}}}}}

    with (
        Jaeger(tmp_path / "jaeger", usual) as jaeger,
        Collector(tmp_path / "agent", jaeger.otlp_url) as agent,
    ):
        exporter = OTLPSpanExporter(endpoint=f"http://127.0.0.1:{agent.grpc}", timeout=30)
        assert exporter.export(spans) is SpanExportResult.SUCCESS
        exporter.shutdown()

        for trace_id in _trace_ids(spans):
            wait_until(partial(jaeger.spans, trace_id), "the span was stored")
            assert _bodies(jaeger.spans(trace_id)) == [_BODY] * 12


def _sampling(path: Path) -> dict[str, Any]:
    """Return an overlay that decides quickly, by budgets of test size, and writes what is kept."""
    policies = read_yaml("collector/tail-sampling.yaml")["processors"]["tail_sampling"]["policies"]
    by_name = {policy["name"]: policy for policy in policies}
    del by_name["a share of the rest"]  # which is drawn by lot
    by_name["grown"]["numeric_attribute"]["min_value"] = 8_500
    quick = {"decision_wait": "30s", "decision_wait_after_root_received": "100ms"}
    return {
        "processors": {"tail_sampling": quick | {"policies": [*by_name.values()]}},
        "exporters": {"file": {"path": str(path), "flush_interval": "50ms"}},
        "service": {"pipelines": {"traces": {"exporters": ["file"]}}},
    }


def _kept(path: Path) -> dict[str, set[str]]:
    if not path.exists():
        return {}
    whole, _, _ = path.read_text().rpartition("\n")  # behind it is what is just being written
    return spans_of(whole.splitlines())


def test_sampling_keeps_whole_recordings_even_where_their_parts_come_late(
    tmp_path: Path, lines: list[str], recordings: list[Recording]
) -> None:
    sent = spans_of(lines)
    by_function = {
        line_attribute(line, a.FUNCTION_NAME): next(iter(spans_of([line]))) for line in lines
    }
    path = tmp_path / "kept.jsonl"
    roots = [line for line in lines if line_attribute(line, a.RECORDING_STEPS) is not None]
    wanted = {by_function["high_rank"], by_function["slices"]}

    # slices is kept for its C, which is in its last step; the root alone would not do.
    code = [line for line in lines if line_attribute(line, a.CODE_BYTES) is not None]
    with Collector(
        tmp_path / "agent", files=["collector/tail-sampling.yaml"], overlay=_sampling(path)
    ) as agent:
        first = [*code, *roots]
        for line in first:
            post(agent.otlp_url, line)
        wait_until(lambda: set(_kept(path)) == wanted, "the decisions were made")
        for line in lines:
            if line not in first:
                post(agent.otlp_url, line)
        wait_until(
            lambda: _kept(path) == {trace: sent[trace] for trace in wanted},
            "the rest followed its decision",
        )

    assert load(path) == [each for each in recordings if each["function"] != "level23"]


def test_a_vendor_gets_the_spans_without_payloads_and_the_backend_gets_all(
    tmp_path: Path,
    lines: list[str],
    recordings: list[Recording],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("VENDOR_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setenv("VENDOR_KEY", "secret")
    whole, trimmed = tmp_path / "whole.jsonl", tmp_path / "trimmed.jsonl"
    overlay = {
        "exporters": {
            "file": {"path": str(whole), "flush_interval": "50ms"},
            "file/vendor": {"path": str(trimmed), "flush_interval": "50ms"},
        },
        "service": {
            "pipelines": {
                "traces": {"exporters": ["file"]},
                "traces/vendor": {"exporters": ["file/vendor"]},
            }
        },
    }

    with Collector(tmp_path / "agent", files=["collector/vendor.yaml"], overlay=overlay) as agent:
        for line in lines:
            post(agent.otlp_url, line)

    assert load(whole) == recordings
    assert spans_of(trimmed.read_text().splitlines()) == spans_of(lines)
    assert "scaly.payload." not in trimmed.read_text()
    assert "exception.stacktrace" in trimmed.read_text()


def line_attribute(line: str, key: str) -> object:
    """Return the value of an attribute of the span in ``line``, None where it has no such."""
    (resource,) = json.loads(line)["resourceSpans"]
    ((span,),) = (scope["spans"] for scope in resource["scopeSpans"])
    for attribute in span["attributes"]:
        if attribute["key"] == key:
            (value,) = attribute["value"].values()
            return value
    return None
