"""Owns applications with a provider of their own, in this process or another, and what reaches their exporters."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import scaly as sc
from opentelemetry import trace
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import (
    ReadableSpan,
    TracerProvider,
)
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from scaly.codegen.aot import render_c_source

import scaly_viz
from programs.compat import arg, function
from scaly_viz import attributes as a
from scaly_viz.assembling import assemble
from scaly_viz.store import record

TESTS = str(Path(__file__).parent)


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


def render_sine(name: str = "sine") -> str:
    @function(arg("x", 3), outputs=arg("y"), name=name)
    def sine(x: sc.Expr) -> sc.Expr:
        return x.sin() * x

    source: str = render_c_source(scaly_viz.visualize(sine))
    return source


def names_in(path: Path) -> list[str]:
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [line["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["name"] for line in lines]


def run_python(code: str) -> subprocess.CompletedProcess[str]:
    prelude = f"import sys; sys.path.insert(0, {TESTS!r})\n"
    done = subprocess.run(
        [sys.executable, "-c", prelude + textwrap.dedent(code)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done


def remote(*, sampled: bool) -> trace.SpanContext:
    flags = trace.TraceFlags(trace.TraceFlags.SAMPLED if sampled else 0)
    return trace.SpanContext(0xABC << 64, 0xDEF, is_remote=True, trace_flags=flags)
