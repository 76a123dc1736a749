"""Owns the figures of single recordings: renders three programs, prints what each recording has as JSON."""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))


def programs() -> dict[str, Callable[[], Any]]:
    """Return three programs by size: saturations of a vector, a pendulum's MPC, a cart-pole's NMPC."""
    from programs import PROGRAMS, cartpole

    by_name = {program.name: program.build for program in PROGRAMS}
    return {"small": by_name["saturation"], "medium": by_name["mpc_ipopt"], "large": cartpole.build}


def figures(name: str) -> dict[str, float]:
    """Render the program of that size once, and return the figures of its recording."""
    from scaly.codegen.aot import render_c_source

    import scaly_viz
    from scaly_viz import attributes as a

    kept = InMemorySpanExporter()
    scaly_viz.configure(exporters=["json", kept])
    render_c_source(scaly_viz.visualize(programs()[name]()))
    scaly_viz.recordings()
    scaly_viz.configure(exporters=["none"])  # which flushes what the exporters before it hold
    spans: Sequence[ReadableSpan] = kept.get_finished_spans()
    message = encode_spans(spans).SerializeToString()
    bodies = [e for s in spans for e in s.events if a.PAYLOAD_BODY in (e.attributes or {})]
    return {
        "spans": len(spans),
        "bodies": len(bodies),
        "raw": len(message),
        "wire": len(gzip.compress(message)),
        "disk": scaly_viz.recording_path().stat().st_size,
    }


if __name__ == "__main__":
    print(json.dumps(figures(sys.argv[1])))
