"""Owns finished spans of the real SDK, for exporters to export."""

from __future__ import annotations

from typing import Any

from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

type Value = str | bool | int | float | bytes | list[Value] | dict[str, Value] | None
"""An attribute value of the SDK: any depth, any mixture."""


def made(*names: str, **attributes: Any) -> list[ReadableSpan]:
    """Return spans of these names, each with these attributes."""
    memory = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(memory))
    tracer = provider.get_tracer("test")
    for name in names:
        tracer.start_span(name, attributes=attributes).end()
    return list(memory.get_finished_spans())
