"""Renders of the real scaly through the exporter ``otlp``: what arrives is what the local file has."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from scaly_viz_exporters.span_lines import spans_of

from .receivers import GrpcReceiver, HttpReceiver, grpc_receiver, http_receiver, waiting

RENDER = """
import multiprocessing, os, sys
import scaly_viz
from programs.compat import arg, function
from scaly.codegen.aot import render_c_source

def render(name):
    @function(arg("x", 3), outputs=arg("y"), name=name)
    def sine(x):
        return x.sin() * x
    render_c_source(scaly_viz.visualize(sine))

if __name__ == "__main__":
    exec(sys.argv[1])
"""


@pytest.fixture(params=["http/protobuf", "grpc", pytest.param("http/json", marks=pytest.mark.slow)])
def receiver(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[HttpReceiver | GrpcReceiver]:
    """A receiver of each protocol, that the environment leads to."""
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_PROTOCOL", request.param)
    monkeypatch.setenv("SCALY_VIZ_EXPORTERS", "json,otlp")
    with http_receiver() as over_http, grpc_receiver() as over_grpc:
        over_grpc_url = f"http://{over_grpc.address}"
        url = over_grpc_url if request.param == "grpc" else over_http.url
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", url)
        yield over_grpc if request.param == "grpc" else over_http


def run(script: Path, code: str) -> str:
    """Run ``code`` in a process that can render; return what it says on standard error."""
    script.write_text(RENDER)
    paths = [str(Path(__file__).parents[1]), *sys.path]
    done = subprocess.run(
        [sys.executable, script, code],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)},
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stderr


def spans(*requests: ExportTraceServiceRequest) -> list[bytes]:
    """Return each span with its resource and scope, as protobuf."""
    return [
        b"".join(part.SerializeToString() for part in (of.resource, scope.scope, span))
        for request in requests
        for of in request.resource_spans
        for scope in of.scope_spans
        for span in scope.spans
    ]


def local(folder: Path) -> list[bytes]:
    lines = (folder / "recordings.jsonl").read_bytes().splitlines()
    return spans(*(encode_spans(spans_of(line)) for line in lines))


def test_a_short_program_delivers_its_recordings_before_it_ends(
    receiver: HttpReceiver | GrpcReceiver, recording_folder: Path, tmp_path: Path
) -> None:
    assert run(tmp_path / "s.py", "render('one'); render('two')") == ""
    assert spans(*(received.request for received in receiver.received)) == local(recording_folder)
    assert waiting(recording_folder / "outbox") == []


def test_children_of_multiprocessing_deliver_theirs(
    receiver: HttpReceiver | GrpcReceiver, recording_folder: Path, tmp_path: Path
) -> None:
    code = """
for method in ('fork', 'spawn'):
    render(f'parent before {method}')
    child = multiprocessing.get_context(method).Process(target=render, args=[method])
    child.start()
    child.join()
    assert child.exitcode == 0
render('parent again')
"""
    run(tmp_path / "s.py", code)
    arrived = spans(*(received.request for received in receiver.received))
    assert sorted(arrived) == sorted(local(recording_folder))
    assert waiting(recording_folder / "outbox") == []


def test_with_the_backend_down_the_program_ends_well_and_the_outbox_has_it_all(
    monkeypatch: pytest.MonkeyPatch, recording_folder: Path, tmp_path: Path
) -> None:
    monkeypatch.setenv("SCALY_VIZ_EXPORTERS", "json,otlp")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
    said = run(tmp_path / "s.py", "render('one'); render('two')")
    assert said == (
        "otlp: http://127.0.0.1:9/v1/traces: Connection refused; spans wait in"
        f" {recording_folder}/outbox until this or a later process, or scaly-viz ship, delivers them\n"
    )
    files = sorted((recording_folder / "outbox").glob("*.jsonl"))
    kept = [line for file in files for line in file.read_bytes().splitlines()]
    assert sorted(kept) == sorted((recording_folder / "recordings.jsonl").read_bytes().splitlines())
