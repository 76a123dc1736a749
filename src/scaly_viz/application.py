"""Owns an application's own TracerProvider: which one it is, what it does to recordings, and what it is spared."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any
from weakref import WeakSet

from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor
from opentelemetry.sdk.trace import TracerProvider as SdkTracerProvider
from opentelemetry.trace import (
    NoOpTracerProvider,
    ProxyTracerProvider,
    Span,
    SpanContext,
    Tracer,
    TracerProvider,
    get_tracer_provider,
)

from scaly_viz import attributes as a
from scaly_viz import log, provider_check
from scaly_viz._version import __version__

type Drain = Callable[[float], bool]

_SHUTDOWN_S = 10.0
_PREPARED: WeakSet[SdkTracerProvider] = WeakSet()


class Application:
    """A provider that the application gave, or its global one where it gave none.

    What the provider loses of recordings, or raises, is told once a cause and goes no further.
    """

    def __init__(self, given: TracerProvider | None, drain: Drain) -> None:
        if given is not None and not callable(getattr(given, "get_tracer", None)):
            raise TypeError(
                f"tracer_provider: expected a TracerProvider of OpenTelemetry, got {given!r}"
            )
        self._given = given
        self._drain = drain
        self._told: set[str] = set()

    def provider(self) -> TracerProvider | None:
        """Return the provider to use now; None where none was given and no global one is set.

        A proxy stands for the global one, from the moment that there is one.
        """
        if self._given is not None and not isinstance(self._given, ProxyTracerProvider):
            return self._given
        current = self.attempt("finding the global tracer provider", get_tracer_provider)
        if current is None or isinstance(current, ProxyTracerProvider | NoOpTracerProvider):
            return self._given
        return current

    def prepare(self, provider: TracerProvider) -> None:
        """Have ``provider`` write out what has ended before it is flushed, and tell what it will lose."""
        if isinstance(provider, SdkTracerProvider):
            self.attempt("looking at its configuration", self._tell_configuration, provider)
            self.attempt("adding a span processor", _put_first, provider, self._drain)

    def tracer(self, provider: TracerProvider) -> Tracer | None:
        """Return the tracer for a recording that begins."""
        if isinstance(provider, ProxyTracerProvider | NoOpTracerProvider):
            self._tell(
                "nothing",
                "tracer_provider is a %s, which makes no spans: until the application sets a"
                " provider of OpenTelemetry's SDK, recordings are only in recordings() and in"
                " exporters given to configure()",
                type(provider).__name__,
            )
        return self.attempt("making a tracer", provider.get_tracer, a.SCOPE, __version__)

    def resource(self, provider: TracerProvider | None) -> Resource | None:
        """Return the resource of ``provider``, None where it shows none."""
        if not isinstance(provider, SdkTracerProvider):
            return None
        return self.attempt("reading its resource", attrgetter("resource"), provider)

    def started(self, name: str, copy: Span, ids: SpanContext | None) -> None:
        """Take note of whether ``copy`` is on its way to the exporters; ``ids`` are its own, if any."""
        provider = self.provider()
        if not isinstance(provider, SdkTracerProvider):
            return
        if ids is None:
            self._tell(
                "disabled",
                "the application's tracer provider makes no spans of the scope %s"
                " (recordings() has them): it or its tracer configurator is set to disable them",
                a.SCOPE,
            )
        elif not (copy.is_recording() and ids.trace_flags.sampled):
            self._tell(
                "sampler",
                "the application's sampler %s left out span %r and what belongs to it"
                " (recordings() has them): %s",
                provider.sampler.get_description(),
                name,
                provider_check.SAMPLER_ADVICE,
            )

    def ended(self, own: Span, copy: Span) -> None:
        """Compare ``copy`` with ``own``, and tell what it lost."""
        if isinstance(own, ReadableSpan) and isinstance(copy, ReadableSpan):
            for key, sentence in provider_check.losses_of_span(own, copy):
                self._tell(
                    key,
                    "the application's tracer provider lost a part of a recording"
                    " (recordings() has it): %s",
                    sentence,
                )

    def attempt[**P, R](
        self, what: str, call: Callable[P, R], *args: P.args, **kwargs: P.kwargs
    ) -> R | None:
        """Return ``call(*args, **kwargs)``, or None where what is behind it raises."""
        try:
            return call(*args, **kwargs)
        except Exception as error:
            cause = log.said(error)
            log.debug("the application's tracer provider failed", error=error)
            self._tell(
                f"{what}: {type(error).__name__}",
                "the application's tracer provider failed at %s: %s (said once for this cause;"
                " recordings() has what its exporters may lack, and the compile goes on)",
                what,
                cause,
            )
            return None

    def _tell_configuration(self, provider: SdkTracerProvider) -> None:
        losses = [
            (key, sentence)
            for key, sentence in provider_check.losses_by_configuration(provider)
            if key not in self._told
        ]
        if losses:
            self._told.update(key for key, _ in losses)
            log.warn(
                "recordings may not come whole through the application's tracer provider"
                " (recordings() has them whole): %s",
                "; ".join(sentence for _, sentence in losses if sentence),
            )

    def _tell(self, key: str, message: str, *arguments: object) -> None:
        if key not in self._told:
            self._told.add(key)
            log.warn(message, *arguments)


class _DrainFirst(SpanProcessor):
    """Has recordings that wait to be encoded become spans before other processors flush or shut down."""

    def __init__(self, drain: Drain) -> None:
        self._drain = drain

    def shutdown(self) -> None:
        """Write out what has ended: later spans would be refused."""
        self._drain(_SHUTDOWN_S)

    def force_flush(self, timeout_millis: int = 30000) -> bool:
        """Write out what has ended."""
        return self._drain(timeout_millis / 1000)


def _put_first(provider: SdkTracerProvider, drain: Drain) -> None:
    if provider in _PREPARED:
        return
    _PREPARED.add(provider)
    processor = _DrainFirst(drain)
    everyone: Any = getattr(provider, "_active_span_processor", None)
    lock, others = getattr(everyone, "_lock", None), getattr(everyone, "_span_processors", None)
    if lock is None or not isinstance(others, tuple):
        # The SDK offers only the last place: what has not ended before is then not flushed.
        provider.add_span_processor(processor)
        return
    with lock:
        everyone._span_processors = (processor, *everyone._span_processors)
