"""Owns where spans go: named exporters, objects, plugins of other packages."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest
import scaly as sc
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
from scaly.codegen.aot import render_c_source

import scaly_viz
from logged import warnings_of
from programs.compat import arg, function
from scaly_viz import pipeline
from scaly_viz.frontend.session import SESSION


def _render() -> str:
    @function(arg("x", 3), outputs=arg("y"), name="sine")
    def sine(x: sc.Expr) -> sc.Expr:
        return x.sin() * x

    source: str = render_c_source(scaly_viz.visualize(sine))
    SESSION.drain()
    return source


def test_none_keeps_recordings_in_memory_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCALY_VIZ_EXPORTERS", "none")

    _render()

    assert len(scaly_viz.recordings()) == 1
    assert not scaly_viz.recording_dir().exists()


def test_console_prints_the_spans_before_the_process_ends() -> None:
    code = f"import sys; sys.path[:0] = {sys.path!r}; import test_pipeline; test_pipeline._render()"
    environment = os.environ | {"SCALY_VIZ_EXPORTERS": "json, console"}

    output = subprocess.run(
        [sys.executable, "-c", code],
        check=True,
        capture_output=True,
        text=True,
        env=environment,
        cwd=Path(__file__).parent,
    )

    assert '"name": "render sine"' in output.stdout
    assert output.stderr == ""
    assert len(scaly_viz.load_recordings(strict=True)) == 1


def test_an_exporter_of_another_package_is_found_by_its_name(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    entry = EntryPoint("plugin", f"{__name__}:CollectingExporter", pipeline.GROUP)
    known = pipeline._known()
    monkeypatch.setattr(pipeline, "_known", lambda: (*known, entry))
    monkeypatch.setenv("SCALY_VIZ_EXPORTERS", "plugin")
    CollectingExporter.names.clear()

    _render()
    scaly_viz.configure(exporters="none")

    assert CollectingExporter.names[-1] == "render sine"
    assert "emit C" in CollectingExporter.names


class CollectingExporter(SpanExporter):
    """What another package might register."""

    names: list[str] = []  # noqa: RUF012  # shared on purpose: the pipeline makes the instance

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        self.names.extend(span.name for span in spans)
        return SpanExportResult.SUCCESS


class FailingExporter(SpanExporter):
    """Reports failure without a reason."""

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        return SpanExportResult.FAILURE


def test_an_exporter_that_fails_costs_one_warning(caplog: pytest.LogCaptureFixture) -> None:
    scaly_viz.configure(exporters=["json", FailingExporter()])

    _render()
    scaly_viz.configure(exporters="none")

    (warning,) = warnings_of(caplog)
    assert "exporter FailingExporter lost" in warning
    assert "it reported a failure" in warning
    assert len(scaly_viz.load_recordings(strict=True)) == 1


def test_an_unknown_name_is_told_with_the_known_ones(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SCALY_VIZ_EXPORTERS", "jsom")

    _render()

    (warning,) = warnings_of(caplog)
    assert warning.startswith("exporter 'jsom' is unknown and left out; known: ")
    assert {"console", "json", "none", "otlp"} <= set(warning.rpartition(": ")[2].split(", "))
    assert len(scaly_viz.recordings()) == 1


def test_a_directory_given_in_code_wins_over_the_environment(tmp_path: Path) -> None:
    scaly_viz.configure(directory=tmp_path / "given")
    assert scaly_viz.recording_path() == tmp_path / "given" / "recordings.jsonl"

    _render()

    assert len(scaly_viz.load_recordings(strict=True)) == 1
    assert (tmp_path / "given" / "recordings.jsonl").exists()


def test_a_change_of_the_environment_holds_for_the_next_render(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    _render()
    monkeypatch.setenv("SCALY_VIZ_DIR", str(tmp_path / "other"))
    _render()

    assert len(scaly_viz.load_recordings()) == 1
    assert scaly_viz.recording_path() == tmp_path / "other" / "recordings.jsonl"


def test_the_resource_names_service_process_and_host(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_SERVICE_NAME", "controller")
    scaly_viz.configure()

    _render()

    line = scaly_viz.recording_path().read_text().splitlines()[0]
    resource: dict[str, Any] = {
        item["key"]: item["value"]
        for item in json.loads(line)["resourceSpans"][0]["resource"]["attributes"]
    }
    assert resource["service.name"] == {"stringValue": "controller"}
    assert {"host.name", "process.pid", "process.runtime.version"} <= set(resource)
    assert not {"process.command_line", "process.command_args"} & set(resource)


def test_a_disabled_sdk_records_nothing_and_says_so(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("OTEL_SDK_DISABLED", "true")
    scaly_viz.configure()

    _render()

    assert scaly_viz.recordings() == []
    (warning,) = warnings_of(caplog)
    assert "OTEL_SDK_DISABLED=true" in warning


def test_a_disabled_sdk_has_no_other_fault_in_an_application(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("OTEL_SDK_DISABLED", "true")
    scaly_viz.configure(tracer_provider=TracerProvider())

    _render()

    (warning,) = warnings_of(caplog)
    assert warning == "OTEL_SDK_DISABLED=true: no render is recorded"


@pytest.mark.parametrize("value", ["many", "-1", "0"])
def test_a_bad_setting_is_told_and_its_default_used(
    value: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    from scaly_viz import settings

    monkeypatch.setenv("SCALY_VIZ_MAX_BYTES", value)

    assert settings.read().max_bytes == 2 * 1024**3
    assert f"SCALY_VIZ_MAX_BYTES={value!r} is not a positive number of bytes" in caplog.text


def test_the_memory_budget_keeps_the_newest_recordings(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    from scaly_viz.store import SpanStore

    store = SpanStore(60_000)
    monkeypatch.setattr(SESSION, "_store", store)
    scaly_viz.configure(exporters="none")

    for _ in range(4):
        _render()

    assert 1 <= len(scaly_viz.recordings()) < 4
    assert caplog.text.count("forgets this process's oldest recordings") == 1
