"""Owns keeping the official exporters from logging and tracing what we send ourselves."""

from __future__ import annotations

import functools
import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from opentelemetry.context import _SUPPRESS_INSTRUMENTATION_KEY, attach, detach, set_value

_LOGGERS = (
    "opentelemetry.exporter.otlp.common.http",
    "opentelemetry.exporter.otlp.json.http.trace_exporter",
    "opentelemetry.exporter.otlp.proto.grpc.exporter",
    "opentelemetry.exporter.otlp.proto.http.trace_exporter",
    "opentelemetry.exporter.otlp.proto.common._internal",
    "opentelemetry.util.re",
    "urllib3.connectionpool",
)

_here = threading.local()


class _Elsewhere(logging.Filter):
    """Lets pass what other users of the same exporters have logged."""

    def filter(self, record: logging.LogRecord) -> bool:
        return not getattr(_here, "quiet", False)


@contextmanager
def quiet() -> Iterator[None]:
    """Send, in this thread, without the official exporters' log and without being traced."""
    _install()
    token = attach(set_value(_SUPPRESS_INSTRUMENTATION_KEY, True))
    _here.quiet = True
    try:
        yield
    finally:
        _here.quiet = False
        detach(token)


@functools.cache
def _install() -> None:
    for name in _LOGGERS:
        logging.getLogger(name).addFilter(_Elsewhere())
