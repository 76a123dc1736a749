"""Owns checking environment variables: values that make no sense, and names that nobody reads."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from importlib.metadata import entry_points

from opentelemetry.sdk.environment_variables import (
    OTEL_EXPERIMENTAL_RESOURCE_DETECTORS,
    OTEL_RESOURCE_ATTRIBUTES,
    OTEL_SDK_DISABLED,
    OTEL_SERVICE_NAME,
)

from scaly_viz import resource, settings
from scaly_viz.cli.checks import Finding, Verdict
from scaly_viz.cli.output import listed
from scaly_viz_exporters import otlp_settings

_AREA = "environment"
_PREFIX = "SCALY_VIZ_"
_OTEL = "OTEL_"
# Beside those of the OTLP exporter: whoever reads them, what they say holds for recordings.
_READ = (
    OTEL_EXPERIMENTAL_RESOURCE_DETECTORS,
    "OTEL_PYTHON_DISABLED_INSTRUMENTATIONS",
    OTEL_RESOURCE_ATTRIBUTES,
    OTEL_SDK_DISABLED,
    OTEL_SERVICE_NAME,
)


def check() -> Iterator[Finding]:
    """Look at the variables that scaly-viz reads."""
    known = [variable.name for variable in settings.VARIABLES]
    found = sorted(name for name in os.environ if name.startswith(_PREFIX))
    unknown = [name for name in found if name not in known]
    for name in unknown:
        close = get_close_matches(name, known, 1)
        advice = f"is {close[0]} meant?" if close else f"known are: {', '.join(known)}"
        yield Finding(_AREA, Verdict.WARNING, f"{name} is set, and read by nobody", advice)
    with collected() as said:
        settings.read()
        settings.read_backend()
        otlp_settings.read()
    said += [*_resource()]
    for text in said:
        yield Finding(_AREA, Verdict.PROBLEM, text, "correct the variable, or unset it")
    otel = sorted(name for name in os.environ if name.startswith(_OTEL) and os.environ[name])
    ours = [name for name in otel if name in _READ or name.startswith(f"{_OTEL}EXPORTER_OTLP_")]
    good = [n for n in (*found, *ours) if n not in unknown and not any(n in text for text in said)]
    if good:
        yield Finding(_AREA, Verdict.OK, f"set, and understood: {', '.join(good)}")
    elif not found and not otel and not said:
        yield Finding(_AREA, Verdict.OK, "no variable is set, so every default holds")
    others = [name for name in otel if name not in ours]
    if others:
        text = f"set for OpenTelemetry, and not looked at here: {', '.join(others)}"
        yield Finding(_AREA, Verdict.NOTE, text)


def _resource() -> Iterator[str]:
    """Say what of the variables for a resource OpenTelemetry will leave out."""
    pairs = os.environ.get(OTEL_RESOURCE_ATTRIBUTES, "").split(",")
    bad = [pair.strip() for pair in pairs if pair.strip() and "=" not in pair]
    if bad:
        yield f"{OTEL_RESOURCE_ATTRIBUTES}: {listed(bad)!r} is no key=value, and left out"
    asked = os.environ.get(OTEL_EXPERIMENTAL_RESOURCE_DETECTORS, "").split(",")
    known = {"*", *(entry.name for entry in entry_points(group=resource.GROUP))}
    unknown = [name.strip() for name in asked if name.strip() and name.strip() not in known]
    if unknown:
        yield f"{OTEL_EXPERIMENTAL_RESOURCE_DETECTORS}: {listed(unknown)!r} is unknown, and left out"


class _Collector(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.texts: dict[str, None] = {}

    def emit(self, record: logging.LogRecord) -> None:
        self.texts[record.getMessage()] = None


@contextmanager
def collected() -> Iterator[list[str]]:
    """Yield what is warned of in the block, once it has ended; nobody else hears of it."""
    log = logging.getLogger("scaly_viz")
    collector, texts = _Collector(), list[str]()
    propagates = log.propagate
    log.addHandler(collector)
    log.propagate = False
    try:
        yield texts
    finally:
        log.propagate = propagates
        log.removeHandler(collector)
        texts += collector.texts
