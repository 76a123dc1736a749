"""Owns the servers that the pages name: a real Jaeger and Collector stand where the examples say that one is."""

from __future__ import annotations

import re
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from backends.servers import collector, free_ports, jaeger

from .page import Page

_EXAMPLES = {
    "query": ("http://127.0.0.1:16686", "http://localhost:16686", "http://jaeger:16686"),
    "http": ("http://127.0.0.1:4318", "http://localhost:4318", "http://jaeger:4318"),
    "grpc": ("http://127.0.0.1:4317", "http://localhost:4317", "http://jaeger:4317"),
    "collector": ("http://collector:4318", "http://127.0.0.1:4338", "https://otlp.vendor.example"),
}
_ANY = re.compile("|".join(re.escape(each) for names in _EXAMPLES.values() for each in names))
_VIEWER_PORT = 8000


def needs_backends(page: Page) -> bool:
    """Tell whether something that is run names a backend."""
    return any(
        block.language in ("console", "python", "hidden shell") and _ANY.search(block.code)
        for block in page.blocks
        if "not run" not in block.orders and not block.made_by_a_tool
    )


@contextmanager
def running_backends(folder: Path) -> Generator[dict[str, str]]:
    """Start both; yield where they are, by the addresses that the pages have for them."""
    with jaeger(folder / "jaeger") as store, collector(folder / "collector", store) as agent:
        real = {name: f"http://127.0.0.1:{port}" for name, port in store.ports.items()}
        real["collector"] = agent.otlp_http
        yield {example: real[name] for name, names in _EXAMPLES.items() for example in names}


def viewer_addresses() -> tuple[int, dict[str, str]]:
    """Return a free port for the viewer, and what of a page it replaces."""
    port = free_ports("viewer")["viewer"]
    examples = (f"127.0.0.1:{_VIEWER_PORT}", f"--port {_VIEWER_PORT}")
    return port, {each: each.replace(str(_VIEWER_PORT), str(port)) for each in examples}
