"""Owns the proof of ``scaly_viz.testing``, and with it one whole recording as a readable snapshot."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path

import scaly as sc
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from scaly.codegen.aot import render_c_source

import scaly_viz
from programs.compat import arg, function
from scaly_viz.testing import CountingIds, SteppingClock, deterministic, snapshot

# scaly's passes, and so its steps, differ between versions.
_WHOLE_RECORDING = Path(__file__).parent / "snapshots" / f"sine-scaly-{version('scaly')}.txt"


def _render_the_sine() -> None:
    @function(arg("x", 3), outputs=arg("y"), name="sine")
    def sine(x: sc.Expr) -> sc.Expr:
        return x.sin() * x

    render_c_source(scaly_viz.visualize(sine, label="the sine"))


def _exporter() -> InMemorySpanExporter:
    exporter = InMemorySpanExporter()
    scaly_viz.configure(exporters=[exporter])
    return exporter


def test_a_whole_recording_is_what_the_snapshot_says(tmp_path: Path) -> None:
    exporter = _exporter()

    with deterministic():
        _render_the_sine()

    seen = tmp_path / "seen.txt"
    seen.write_text(snapshot(exporter.get_finished_spans()), encoding="utf-8")
    assert _WHOLE_RECORDING.exists(), f"read {seen}, and if it is right, copy it there"
    assert seen.read_text(encoding="utf-8") == _WHOLE_RECORDING.read_text(encoding="utf-8")


def test_two_recordings_of_a_render_have_the_same_snapshot() -> None:
    exporter = _exporter()
    snapshots = []

    for _ in range(2):
        exporter.clear()
        with deterministic():
            _render_the_sine()
        snapshots.append(snapshot(exporter.get_finished_spans()))

    assert snapshots[0] == snapshots[1]


def test_times_and_ids_are_those_that_were_given() -> None:
    exporter = _exporter()

    with deterministic(SteppingClock(1_000_000_000, 5), CountingIds()):
        _render_the_sine()

    (root,) = (span for span in exporter.get_finished_spans() if span.parent is None)
    assert root.context is not None
    assert (root.context.trace_id, root.context.span_id) == (2, 1)
    assert root.start_time is not None
    assert 1_000_000_000 < root.start_time < 1_000_000_100
    assert scaly_viz.recordings()[-1]["id"] == f"{1:032x}"


def test_outside_of_the_block_times_and_ids_are_the_systems() -> None:
    exporter = _exporter()

    with deterministic():
        pass
    _render_the_sine()
    scaly_viz.flush()

    (root,) = (span for span in exporter.get_finished_spans() if span.parent is None)
    assert root.context is not None
    assert root.context.trace_id > 1_000_000
    assert root.start_time is not None
    assert root.start_time > 1_500_000_000_000_000_000
