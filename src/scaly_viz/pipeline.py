"""Owns the way from spans to exporters: our own TracerProvider, its processors, and what fails in them."""

from __future__ import annotations

import os
import random
import socket
from collections.abc import Callable, Sequence
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

from opentelemetry.sdk.environment_variables import OTEL_SDK_DISABLED
from opentelemetry.sdk.resources import (
    OTELResourceDetector,
    ProcessResourceDetector,
    Resource,
)
from opentelemetry.sdk.trace import ReadableSpan, SpanLimits, TracerProvider
from opentelemetry.sdk.trace.export import (
    BatchSpanProcessor,
    SimpleSpanProcessor,
    SpanExporter,
    SpanExportResult,
)
from opentelemetry.sdk.trace.id_generator import IdGenerator
from opentelemetry.sdk.trace.sampling import ALWAYS_ON
from opentelemetry.trace import Tracer
from opentelemetry.trace import TracerProvider as AnyTracerProvider

from scaly_viz import attributes as a
from scaly_viz import log
from scaly_viz._version import __version__
from scaly_viz.log import said
from scaly_viz.settings import FILE_NAME, OUTBOX_NAME, Settings
from scaly_viz.store import SpanStore, StoreProcessor

GROUP = "opentelemetry_traces_exporter"
# Our own exporters go through the same door as everybody's, under these names.
_SHORT_NAMES = {"json": "scaly_json", "otlp": "scaly_otlp"}
_BATCH_SPANS = 4
_QUEUE_SPANS = 1 << 16

type Exporter = str | SpanExporter


class _SystemIds(IdGenerator):
    """Ids from the operating system: the SDK's own generator would advance the user's ``random`` state."""

    _random = random.SystemRandom()

    def generate_span_id(self) -> int:
        return self._random.randrange(1, 1 << 64)

    def generate_trace_id(self) -> int:
        return self._random.randrange(1, 1 << 128)


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
    """One configuration: where spans are made, kept and sent."""

    def __init__(
        self,
        settings: Settings,
        store: SpanStore,
        exporters: Sequence[Exporter] | None = None,
        provider: AnyTracerProvider | None = None,
    ) -> None:
        self.settings = settings
        self._store = store
        self._exporters = exporters
        self._given = provider
        self._provider = self._given_provider(provider) if provider else self._own_provider()

    @property
    def tracer(self) -> Tracer:
        """The tracer that recordings use."""
        return self._provider.get_tracer(a.SCOPE, __version__)

    def flush(self, timeout_s: float) -> bool:
        """Wait until exporters have what they were given, at most ``timeout_s`` seconds each."""
        if isinstance(self._provider, TracerProvider):
            return self._provider.force_flush(int(timeout_s * 1000))
        return True

    def close(self, timeout_s: float) -> None:
        """Flush, and end what runs for our own provider; an application's goes on."""
        self.flush(timeout_s)
        if self._given is None and isinstance(self._provider, TracerProvider):
            self._provider.shutdown()

    def _own_provider(self) -> TracerProvider:
        if os.environ.get(OTEL_SDK_DISABLED, "").strip().lower() == "true":
            log.warn("%s=true: no render is recorded", OTEL_SDK_DISABLED)
        provider = TracerProvider(
            sampler=ALWAYS_ON,
            resource=_resource(),
            shutdown_on_exit=False,
            id_generator=_SystemIds(),
            span_limits=_no_limits(),
        )
        names = self.settings.exporters if self._exporters is None else self._exporters
        self._add_processors(provider, names)
        return provider

    def _given_provider(self, provider: AnyTracerProvider) -> AnyTracerProvider:
        if isinstance(provider, TracerProvider):
            self._add_processors(provider, self._exporters or ())
        else:
            log.warn(
                "tracer_provider=%r is no SDK TracerProvider: recordings() stays empty", provider
            )
        return provider

    def _add_processors(self, provider: TracerProvider, exporters: Sequence[Exporter]) -> None:
        provider.add_span_processor(StoreProcessor(self._store))
        for exporter in exporters:
            if exporter == "none":
                continue
            name = exporter if isinstance(exporter, str) else type(exporter).__name__
            made = self._make(exporter) if isinstance(exporter, str) else exporter
            if made is None:
                continue
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


def _resource() -> Resource:
    resource = Resource.get_empty()
    detectors: tuple[Callable[[], Resource], ...] = (
        lambda: Resource({"service.name": "scaly"}),
        lambda: Resource({"host.name": socket.gethostname()}),
        ProcessResourceDetector().detect,
        OTELResourceDetector().detect,
    )
    for detect in detectors:
        resource = resource.merge(detect())
    return resource
