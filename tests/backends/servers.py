"""Owns real Jaegers and Collectors as tests start, stop and start them again: on free loopback ports."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

_READY_S = 60.0
_STOP_S = 30.0

_JAEGER = """
service:
  extensions: [jaeger_storage, jaeger_query]
  pipelines:
    traces:
      receivers: [otlp]
      exporters: [jaeger_storage_exporter]
  telemetry:
    metrics: {{level: none}}
    logs: {{level: warn}}
extensions:
  jaeger_query:
    base_path: {base}
    storage: {{traces: store}}
    http: {{endpoint: "127.0.0.1:{query}"}}
    grpc: {{endpoint: "127.0.0.1:{query_grpc}"}}
  jaeger_storage:
    backends:
      store: {storage}
receivers:
  otlp:
    protocols:
      http: {{endpoint: "127.0.0.1:{http}"}}
      grpc: {{endpoint: "127.0.0.1:{grpc}", max_recv_msg_size_mib: 16}}
exporters:
  jaeger_storage_exporter: {{trace_storage: store}}
"""
_MEMORY = "{memory: {max_traces: 100000}}"
_BADGER = (
    '{{badger: {{ephemeral: false, directories: {{keys: "{folder}/keys", values: "{folder}/values"}},'
    " ttl: {{spans: 720h}}}}}}"
)

_COLLECTOR = """
service:
  extensions: [file_storage]
  pipelines:
    traces:
      receivers: [otlp]
      processors: [memory_limiter, batch]
      exporters: [file, otlp]
  telemetry:
    metrics: {{level: none}}
    logs: {{level: warn}}
extensions:
  file_storage: {{directory: "{folder}/queue", create_directory: true}}
receivers:
  otlp:
    protocols:
      http: {{endpoint: "127.0.0.1:{http}"}}
      grpc: {{endpoint: "127.0.0.1:{grpc}", max_recv_msg_size_mib: 16}}
processors:
  memory_limiter: {{check_interval: 1s, limit_mib: 512}}
  batch: {{timeout: 200ms, send_batch_size: 16, send_batch_max_size: 16}}
exporters:
  file: {{path: "{folder}/traces.jsonl", flush_interval: 100ms}}
  otlp:
    endpoint: "127.0.0.1:{forward}"
    tls: {{insecure: true}}
    sending_queue: {{storage: file_storage}}
    retry_on_failure: {{initial_interval: 200ms, max_interval: 1s}}
"""


def program(variable: str) -> str:
    """Return the path of a backend, which ``make test`` builds and names in the environment."""
    path = shutil.which(os.environ.get(variable) or variable.lower())
    assert path, f"needs the path of a {variable.lower()} in {variable}: `make test-main` builds it"
    return path


@dataclass
class Server:
    """One process with a configuration, on ports and in a folder of its own that outlive it."""

    variable: str
    folder: Path
    ports: dict[str, int]
    config: str
    process: subprocess.Popen[bytes] | None = field(default=None, repr=False)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    @property
    def otlp_http(self) -> str:
        """Where it receives OTLP over HTTP."""
        return f"http://127.0.0.1:{self.ports['http']}"

    @property
    def otlp_grpc(self) -> str:
        """Where it receives OTLP over gRPC."""
        return f"http://127.0.0.1:{self.ports['grpc']}"

    def start(self) -> None:
        """Start it and wait until it answers."""
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / "config.yaml"
        path.write_text(self.config)
        log = self.folder / "log.txt"
        with log.open("ab") as file:
            self.process = subprocess.Popen(
                [program(self.variable), "--config", str(path)],
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=file,
            )
        until = time.monotonic() + _READY_S
        while not all(_listens(port) for port in self.ports.values()):
            assert self.process.poll() is None, log.read_text()[-2000:]
            assert time.monotonic() < until, log.read_text()[-2000:]
            time.sleep(0.05)

    def stop(self) -> None:
        """End it in order: what it holds is written."""
        if self.process is not None:
            self.process.terminate()
            self.process.wait(_STOP_S)
            self.process = None

    def kill(self) -> None:
        """End it at once."""
        if self.process is not None:
            self.process.kill()
            self.process.wait(_STOP_S)
            self.process = None


@dataclass
class Jaeger(Server):
    """A Jaeger."""

    base: str = "/"

    @property
    def address(self) -> str:
        """What scaly-viz reads it by."""
        return f"jaeger:{self.url}"

    @property
    def url(self) -> str:
        """Where its API is."""
        return f"http://127.0.0.1:{self.ports['query']}{self.base.rstrip('/')}"


def jaeger(folder: Path, *, badger: bool = False, base: str = "/") -> Jaeger:
    """Return a Jaeger that keeps traces in memory, or in ``folder`` with Badger; it is to be started."""
    ports = free_ports("query", "query_grpc", "http", "grpc")
    storage = _BADGER.format(folder=folder) if badger else _MEMORY
    config = _JAEGER.format(storage=storage, base=base, **ports)
    return Jaeger("JAEGER", folder, ports, config, base=base)


def collector(folder: Path, forward: Server) -> Server:
    """Return a Collector that writes ``traces.jsonl`` and passes traces on to ``forward``."""
    ports = free_ports("http", "grpc")
    config = _COLLECTOR.format(folder=folder, forward=forward.ports["grpc"], **ports)
    return Server("COLLECTOR", folder, ports, config)


def free_ports(*names: str) -> dict[str, int]:
    """Return ports that nobody uses, by names."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in names]
    ports = {name: opened.getsockname()[1] for name, opened in zip(names, sockets, strict=True)}
    for opened in sockets:
        opened.close()
    return ports


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
