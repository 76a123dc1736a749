"""Owns what spans say of the process and the machine: by OpenTelemetry's detectors, whatever they do."""

from __future__ import annotations

import os
import socket
from importlib.metadata import EntryPoint, entry_points

import pytest
from opentelemetry.sdk.resources import Resource, ResourceDetector

from logged import warnings_of
from scaly_viz import resource


@pytest.mark.parametrize(
    ("environment", "name"),
    [
        ({}, "scaly"),
        ({"OTEL_SERVICE_NAME": ""}, "scaly"),
        ({"OTEL_RESOURCE_ATTRIBUTES": "service.name="}, "scaly"),
        ({"OTEL_SERVICE_NAME": "controller"}, "controller"),
        ({"OTEL_RESOURCE_ATTRIBUTES": "service.name=plant,team=blue"}, "plant"),
        (
            {"OTEL_SERVICE_NAME": "controller", "OTEL_RESOURCE_ATTRIBUTES": "service.name=plant"},
            "controller",
        ),
    ],
)
def test_the_service_is_scaly_unless_the_environment_names_it(
    environment: dict[str, str], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for key, value in environment.items():
        monkeypatch.setenv(key, value)

    assert resource.detect().attributes["service.name"] == name


def test_process_and_host_are_detected() -> None:
    attributes = resource.detect().attributes

    assert attributes["host.name"] == socket.gethostname()
    assert attributes["host.arch"] == os.uname().machine
    assert attributes["process.pid"] == os.getpid()
    assert "process.command_args" not in attributes
    assert "os.type" not in attributes


def test_what_the_environment_says_of_the_host_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_RESOURCE_ATTRIBUTES", "host.name=runner-7")

    assert resource.detect().attributes["host.name"] == "runner-7"


@pytest.mark.parametrize("listed", ["os", " os , ", "*", "*,os"])
def test_further_detectors_are_asked_for_by_name(
    listed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_EXPERIMENTAL_RESOURCE_DETECTORS", listed)

    attributes = resource.detect().attributes

    assert {"os.type", "host.name", "process.pid"} <= set(attributes)
    assert ("service.instance.id" in attributes) is ("*" in listed)


def test_an_unknown_detector_is_told_with_the_known_ones(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("OTEL_EXPERIMENTAL_RESOURCE_DETECTORS", "hots,os")

    attributes = resource.detect().attributes

    assert {"os.type", "host.name"} <= set(attributes)
    (warning,) = warnings_of(caplog)
    assert "resource detector 'hots'" in warning
    assert "known: host, os, otel, process" in warning


class _Failing(ResourceDetector):
    def detect(self) -> Resource:
        raise OSError("no such machine")


class _Answering(ResourceDetector):
    def detect(self) -> Resource:
        return Resource({"cloud.region": "mars", "host.name": "known better"})


def test_a_detector_that_fails_is_told_and_the_others_count(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    entries = [
        EntryPoint("failing", f"{__name__}:_Failing", resource.GROUP),
        EntryPoint("missing", "a_package_that_is_not_there:Detector", resource.GROUP),
        EntryPoint("cloud", f"{__name__}:_Answering", resource.GROUP),
    ]
    known = entry_points(group=resource.GROUP)
    monkeypatch.setattr(resource, "entry_points", lambda group: [*known, *entries])
    monkeypatch.setenv("OTEL_EXPERIMENTAL_RESOURCE_DETECTORS", "failing,missing,cloud")

    attributes = resource.detect().attributes

    assert attributes["cloud.region"] == "mars"
    assert attributes["host.name"] == "known better"
    assert attributes["service.name"] == "scaly"
    failing, missing = warnings_of(caplog)
    assert "'failing' failed and is left out: OSError: no such machine" in failing
    assert "'missing' failed and is left out: ModuleNotFoundError" in missing
