"""Owns the way from spans to exporters: our own TracerProvider, its processors, and what fails in them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

from opentelemetry.sdk.environment_variables import OTEL_SDK_DISABLED
from opentelemetry.sdk.trace import ReadableSpan, SpanLimits, TracerProvider
from opentelemetry.sdk.trace.export import (
    BatchSpanProcessor,
    SimpleSpanProcessor,
    SpanExporter,
    SpanExportResult,
)
from opentelemetry.sdk.trace.sampling import ALWAYS_ON
from opentelemetry.trace import Tracer
from opentelemetry.trace import TracerProvider as AnyTracerProvider

from scaly_viz import attributes as a
from scaly_viz import log, resource
from scaly_viz._version import __version__
from scaly_viz.application import Application
from scaly_viz.ids import SystemIds
from scaly_viz.log import said
from scaly_viz.mirror import MirrorTracer
from scaly_viz.settings import FILE_NAME, OUTBOX_NAME, Settings
from scaly_viz.store import SpanStore, StoreProcessor

GROUP = "opentelemetry_traces_exporter"
# Our own exporters go through the same door as everybody's, under these names.
_SHORT_NAMES = {"json": "scaly_json", "otlp": "scaly_otlp"}
_ALIASES = {long: short for short, long in _SHORT_NAMES.items()}
_BATCH_SPANS = 4
_QUEUE_SPANS = 1 << 16

type Exporter = str | SpanExporter


class GuardedExporter(SpanExporter):
    """Passes spans to an exporter; tells once a cause what could not be exported, and why."""

    def __init__(self, name: str, exporter: SpanExporter) -> None:
        self._name = name
        self._exporter = exporter
        self._told: set[str] = set()

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Export ``spans``; never raises."""
        try:
            result = self._exporter.export(spans)
            cause = "it reported a failure"
        except Exception as error:
            log.debug("exporter %s failed", self._name, error=error)
            result = SpanExportResult.FAILURE
            cause = said(error)
        if result is not SpanExportResult.SUCCESS and cause not in self._told:
            self._told.add(cause)
            log.warn(
                "exporter %s lost %s: %s (said once for this cause; the compile goes on)",
                self._name,
                _what(spans),
                cause,
            )
        return result

    def shutdown(self) -> None:
        """Shut the exporter down."""
        self._exporter.shutdown()

    def force_flush(self, timeout_millis: int = 30000) -> bool:
        """Flush the exporter."""
        return self._exporter.force_flush(timeout_millis)


class _AtOnce(SimpleSpanProcessor):
    """Hands spans on as they end, which costs our own exporters little, and flushes them on request."""

    def __init__(self, exporter: SpanExporter) -> None:
        super().__init__(exporter)
        self._exporter = exporter

    def force_flush(self, timeout_millis: int = 30000) -> bool:
        """Flush the exporter, which the SDK's processor does not."""
        return self._exporter.force_flush(timeout_millis)


def _what(spans: Sequence[ReadableSpan]) -> str:
    names = dict.fromkeys(
        f"{span.name!r} of recording {(span.attributes or {}).get(a.RECORDING_ID, '?')}"
        for span in spans
    )
    return f"{len(spans)} span(s), first {next(iter(names), 'none')}"


class Pipeline:
    """One configuration: where spans are made, kept and sent.

    Spans are made by a provider of our own, which no limit and no sampler concerns. Where there is an
    ``application`` with a ``provider``, a copy of each goes through that one.
    """

    def __init__(
        self,
        settings: Settings,
        store: SpanStore,
        exporters: Sequence[Exporter],
        application: Application | None = None,
        provider: AnyTracerProvider | None = None,
    ) -> None:
        self.settings = settings
        self.provider = provider
        self.names: list[str] = []
        """The exporters in use, by name."""
        self._application = application
        self._store = store
        self._ids = SystemIds()
        self._own = self._own_provider(exporters)
        if application is not None and provider is not None:
            application.prepare(provider)

    @property
    def tracer(self) -> Tracer | MirrorTracer:
        """The tracer that recordings use."""
        own = self._own.get_tracer(a.SCOPE, __version__)
        if self._application is None or self.provider is None:
            return own
        copies = self._application.tracer(self.provider)
        return own if copies is None else MirrorTracer(own, self._ids, copies, self._application)

    def flush(self, timeout_s: float) -> bool:
        """Wait until exporters have what they were given, at most ``timeout_s`` seconds each."""
        timeout_ms = int(timeout_s * 1000)
        flushed = self._own.force_flush(timeout_ms)
        if self._application is not None and isinstance(self.provider, TracerProvider):
            flush = self.provider.force_flush
            flushed &= bool(self._application.attempt("flushing", flush, timeout_ms))
        return flushed

    def close(self, timeout_s: float) -> None:
        """Flush, and end what runs for our own provider; an application's goes on."""
        self._own.force_flush(int(timeout_s * 1000))
        self._own.shutdown()

    def _own_provider(self, exporters: Sequence[Exporter]) -> TracerProvider:
        if os.environ.get(OTEL_SDK_DISABLED, "").strip().lower() == "true":
            log.warn("%s=true: no render is recorded", OTEL_SDK_DISABLED)
        theirs = self._application and self._application.resource(self.provider)
        provider = TracerProvider(
            sampler=ALWAYS_ON,
            resource=theirs or resource.detect(),
            shutdown_on_exit=False,
            id_generator=self._ids,
            span_limits=_no_limits(),
        )
        self._add_processors(provider, exporters)
        return provider

    def _add_processors(self, provider: TracerProvider, exporters: Sequence[Exporter]) -> None:
        provider.add_span_processor(StoreProcessor(self._store))
        for exporter in exporters:
            if exporter == "none":
                continue
            made: SpanExporter | None
            if isinstance(exporter, str):
                name = _ALIASES.get(exporter, exporter)
                made = self._make(name)
            else:
                name, made = type(exporter).__name__, exporter
            if made is None:
                continue
            self.names.append(name)
            guarded = GuardedExporter(name, made)
            if name in _SHORT_NAMES:
                provider.add_span_processor(_AtOnce(guarded))
            else:
                provider.add_span_processor(
                    BatchSpanProcessor(
                        guarded, max_queue_size=_QUEUE_SPANS, max_export_batch_size=_BATCH_SPANS
                    )
                )

    def _make(self, name: str) -> SpanExporter | None:
        try:
            factory = _find(_entry_name(name))
            if factory is None:
                known = sorted({*_SHORT_NAMES, "none", *(e.name for e in _known())})
                log.warn("exporter %r is unknown and left out; known: %s", name, ", ".join(known))
                return None
            load = factory.load()
            exporter: SpanExporter = load(**_arguments(name, self.settings))
        except Exception as error:
            log.debug("exporter %s cannot be made", name, error=error)
            log.warn("exporter %r cannot be used and is left out: %s", name, said(error))
            return None
        return exporter


def _arguments(name: str, settings: Settings) -> dict[str, Path | int | None]:
    """Return what our own exporters are told; others find out for themselves."""
    # Without a home folder there is no default; they say so when they have something to write.
    folder = settings.directory
    if name == "json":
        path = None if folder is None else folder / FILE_NAME
        return {"path": path, "max_bytes": settings.max_bytes}
    if name == "otlp":
        outbox = None if folder is None else folder / OUTBOX_NAME
        return {"folder": outbox, "max_bytes": settings.outbox_max_bytes}
    return {}


def _entry_name(name: str) -> str:
    return _SHORT_NAMES.get(name, name)


def _known() -> Sequence[EntryPoint]:
    return tuple(entry_points(group=GROUP))


def _find(name: str) -> EntryPoint | None:
    return next((entry for entry in _known() if entry.name == name), None)


def _no_limits() -> SpanLimits:
    unset = SpanLimits.UNSET
    return SpanLimits(
        max_attributes=unset,
        max_events=unset,
        max_links=unset,
        max_span_attributes=unset,
        max_event_attributes=unset,
        max_link_attributes=unset,
        max_attribute_length=unset,
        max_span_attribute_length=unset,
    )
