# /// script
# requires-python = ">=3.12"
# dependencies = ["opentelemetry-instrumentation-flask", "scaly-viz[scaly]"]
# [tool.uv.sources]
# scaly-viz = { path = "../.." }
# ///
"""A service that compiles on request; its traces say which request compiled what."""

from __future__ import annotations

import json
import logging
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import scaly as sc
from flask import Flask, Response
from opentelemetry.instrumentation.flask import FlaskInstrumentor
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from scaly.codegen.aot import render_c_source
from werkzeug.serving import make_server

from scaly_viz.instrumentor import ScalyInstrumentor
from scaly_viz_exporters.json_file import JsonFileExporter

TRACES = Path(__file__).with_name("out") / "traces.jsonl"


def rollout(stages: int) -> str:
    """Return C that tells where a cart will be after each of ``stages``, by its forces."""

    @sc.function(sc.arg("x0", 2), sc.arg("force", stages), name=f"rollout_{stages}")
    def positions(x0: sc.Expr, force: sc.Expr) -> sc.Expr:
        x, found = x0, []
        for stage in range(stages):
            x = x + 0.1 * sc.stack([x[1], force[stage] - 0.2 * x[1]])
            found.append(x[0])
        return sc.stack(found)

    return render_c_source(positions)


def create_app() -> Flask:
    """Return the service. It knows nothing of tracing."""
    app = Flask(__name__)

    @app.post("/rollouts/<int:stages>")
    def compiled(stages: int) -> Response:
        """Answer with the C of a roll-out over so many stages."""
        return Response(rollout(stages), mimetype="text/x-c")

    return app


def traced(app: Flask) -> TracerProvider:
    """Trace ``app`` and what scaly renders for it, into one file; any exporter would do."""
    provider = TracerProvider(resource=Resource.create({"service.name": "rollouts"}))
    provider.add_span_processor(BatchSpanProcessor(JsonFileExporter(TRACES)))
    FlaskInstrumentor().instrument_app(app, tracer_provider=provider)
    ScalyInstrumentor().instrument(tracer_provider=provider)
    return provider


@contextmanager
def serving(app: Flask) -> Iterator[str]:
    """Serve ``app`` on a free port of this machine; yield its address."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = make_server("127.0.0.1", 0, app, threaded=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def spans() -> list[dict[str, Any]]:
    """Return the spans of the file, in the order in which they began."""
    found = [
        span
        for line in TRACES.read_text(encoding="utf-8").splitlines()
        for of_resource in json.loads(line)["resourceSpans"]
        for of_scope in of_resource["scopeSpans"]
        for span in of_scope["spans"]
    ]
    return sorted(found, key=lambda span: int(span["startTimeUnixNano"]))


def print_requests(found: list[dict[str, Any]]) -> None:
    """Print each request with the renders in it, and how long they took."""
    for span in found:
        inside = [other for other in found if other.get("parentSpanId") == span["spanId"]]
        ms = (int(span["endTimeUnixNano"]) - int(span["startTimeUnixNano"])) / 1e6
        if not span.get("parentSpanId"):
            print(f"{span['name']}: {ms:.0f} ms")
        elif span["name"].startswith("render "):
            print(f"  {span['name']}: {ms:.0f} ms, {len(inside)} steps")


def main() -> None:
    """Ask the service for two roll-outs, and print the traces."""
    TRACES.unlink(missing_ok=True)
    app = create_app()
    provider = traced(app)
    with serving(app) as url:
        for stages in (2, 30):
            asked = urllib.request.Request(f"{url}/rollouts/{stages}", method="POST")
            with urllib.request.urlopen(asked) as answer:
                print(f"{stages} stages: {len(answer.read()):,} bytes of C")
    provider.shutdown()
    print()
    print_requests(spans())
    print(f"\nscaly-viz serve {TRACES}")


if __name__ == "__main__":
    main()
