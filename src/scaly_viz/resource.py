"""Owns the resource of our own spans: service, process and host, as OpenTelemetry's detectors see them."""

from __future__ import annotations

import os
from collections.abc import Iterable
from importlib.metadata import entry_points

from opentelemetry.sdk.environment_variables import OTEL_EXPERIMENTAL_RESOURCE_DETECTORS
from opentelemetry.sdk.resources import SERVICE_NAME, Resource, ResourceDetector

from scaly_viz import log

GROUP = "opentelemetry_resource_detector"
_SERVICE = Resource({SERVICE_NAME: "scaly"})
_FIRST = ("host", "process")
# It reads OTEL_RESOURCE_ATTRIBUTES and OTEL_SERVICE_NAME, which win.
_LAST = "otel"


def detect() -> Resource:
    """Return what is known of this process; a detector that fails is told and left out.

    Detectors run one after the other: the SDK's own way starts threads, which a process that ends
    cannot.
    """
    detectors = {entry.name: entry for entry in entry_points(group=GROUP)}
    resource = _SERVICE
    for name in _names(detectors):
        if name not in detectors:
            log.warn(
                "resource detector %r of %s is unknown and left out; known: %s",
                name,
                OTEL_EXPERIMENTAL_RESOURCE_DETECTORS,
                ", ".join(sorted(detectors)),
            )
            continue
        try:
            detector: ResourceDetector = detectors[name].load()()
            resource = resource.merge(detector.detect())
        except Exception as error:
            log.debug("resource detector %s failed", name, error=error)
            log.warn("resource detector %r failed and is left out: %s", name, log.said(error))
    return resource if resource.attributes.get(SERVICE_NAME) else resource.merge(_SERVICE)


def _names(known: Iterable[str]) -> Iterable[str]:
    """Return whom to ask, in order: a later one wins, as in the SDK."""
    listed = os.environ.get(OTEL_EXPERIMENTAL_RESOURCE_DETECTORS, "").split(",")
    asked = [name.strip() for name in listed if name.strip()]
    if "*" in asked:
        place = asked.index("*")
        asked[place : place + 1] = sorted({*known} - {*asked, *_FIRST, _LAST})
    first = [name for name in _FIRST if name not in asked]
    last = [] if _LAST in asked else [_LAST]
    return dict.fromkeys((*first, *asked, *last))
