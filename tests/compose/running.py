"""Owns running Jaeger and the Collector with the very files of compose/: only ports and folders differ."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
import urllib.error
import urllib.request
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Self

import scaly_viz
from backends.servers import free_ports, program

from .files import COMPOSE

type Recording = dict[str, Any]

_DEADLINE_S = 60.0


def wait_until(true: Callable[[], object], what: str) -> None:
    """Wait for what only another process can tell."""
    deadline = time.monotonic() + _DEADLINE_S
    while not true():
        assert time.monotonic() < deadline, f"waited in vain until {what}"
        time.sleep(0.05)


class Server(ABC):
    """One server of compose.yaml, from its configuration and what a test lays over it."""

    variable: str
    """Name of the environment variable that holds the path of the program."""

    def __init__(self, folder: Path, files: Iterable[str], overlay: Mapping[str, Any]) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        ports = free_ports("grpc", "http", "health")
        self.grpc, self.http, self.health = ports.values()
        self._log = folder / f"{self.variable.lower()}.log"
        receivers = {
            "grpc": {"endpoint": f"127.0.0.1:{self.grpc}"},
            "http": {"endpoint": f"127.0.0.1:{self.http}"},
        }
        common = {
            "receivers": {"otlp": {"protocols": receivers}},
            # Both would serve them on the port 8888.
            "service": {"telemetry": {"metrics": {"level": "none"}}},
        }
        self._command = [program(self.variable)]
        for name in files:
            self._command += ["--config", str(COMPOSE / name)]
        for layer in (common, overlay):
            self._command += ["--config", f"yaml:{json.dumps(layer)}"]
        self._environment = dict(os.environ)
        self._process: subprocess.Popen[bytes] | None = None

    @property
    @abstractmethod
    def health_url(self) -> str:
        """What the health check asks, with the port of this run."""

    @property
    def otlp_url(self) -> str:
        """Where OTLP/HTTP is taken."""
        return f"http://127.0.0.1:{self.http}"

    @property
    def pid(self) -> int:
        """Id of the running process."""
        assert self._process is not None
        return self._process.pid

    def start(self) -> Self:
        """Start the server, and wait until its health check says that it is well."""
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                self._command, stdout=log, stderr=log, env=self._environment
            )
        wait_until(self._well, "the server was well:\n" + self._log.read_text())
        return self

    def stop(self, how: signal.Signals = signal.SIGTERM) -> None:
        """End the server, and wait for its end."""
        if self._process is not None:
            self._process.send_signal(how)
            self._process.wait(_DEADLINE_S)
            self._process = None

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _well(self) -> bool:
        assert self._process is not None
        assert self._process.poll() is None, self._log.read_text()
        try:
            with urllib.request.urlopen(self.health_url, timeout=5) as answer:
                return bool(answer.status == 200)
        except OSError:
            return False


class Jaeger(Server):
    """Jaeger with Badger in ``folder``; a second one on the same folder finds what the first stored."""

    variable = "JAEGER"

    def __init__(self, folder: Path, overlay: Mapping[str, Any] | None = None) -> None:
        self.ui = free_ports("ui")["ui"]
        super().__init__(folder, ["jaeger/jaeger.yaml"], overlay or {})
        directories = {"keys": str(folder / "keys"), "values": str(folder / "values")}
        extensions = {
            "healthcheckv2": {"http": {"endpoint": f"127.0.0.1:{self.health}"}},
            "jaeger_storage": {
                "backends": {"recordings": {"badger": {"directories": directories}}}
            },
            "jaeger_query": {
                "http": {"endpoint": f"127.0.0.1:{self.ui}"},
                "grpc": {"endpoint": "127.0.0.1:0"},
            },
        }
        self._command += ["--config", f"yaml:{json.dumps({'extensions': extensions})}"]

    @property
    def health_url(self) -> str:
        """What the health check asks, with the port of this run."""
        return f"http://127.0.0.1:{self.health}/status"

    def spans(self, trace_id: str) -> list[dict[str, Any]]:
        """Return what is stored of a trace, as OTLP JSON's resourceSpans."""
        url = f"http://127.0.0.1:{self.ui}/api/v3/traces/{trace_id}"
        try:
            with urllib.request.urlopen(url, timeout=30) as answer:
                resources: list[dict[str, Any]] = json.load(answer)["result"]["resourceSpans"]
                return resources
        except urllib.error.HTTPError as error:
            error.close()
            return []

    def recordings(self, folder: Path, lines: Iterable[str]) -> list[Recording]:
        """Return the recordings that ``lines`` hold, read back, once all their spans are stored."""
        path = folder / "jaeger.jsonl"
        with path.open("w") as file:
            for trace, ids in spans_of(lines).items():
                file.write(json.dumps({"resourceSpans": self._all_of(trace, ids)}) + "\n")
        return load(path)

    def _all_of(self, trace_id: str, ids: set[str]) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []

        def complete() -> bool:
            found[:] = self.spans(trace_id)
            return {span["spanId"] for span in _spans(found)} >= ids

        wait_until(complete, f"all spans of {trace_id} were stored")
        return found


class Collector(Server):
    """The Collector as an agent, its queue in ``folder``, that sends to ``backend``."""

    variable = "COLLECTOR"

    def __init__(
        self,
        folder: Path,
        backend: str = "http://127.0.0.1:9",
        files: Iterable[str] = (),
        overlay: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(folder, ["collector/collector.yaml", *files], overlay or {})
        queue = str(folder / "queue")
        extensions = {
            "health_check": {"endpoint": f"127.0.0.1:{self.health}"},
            "file_storage": {"directory": queue, "compaction": {"directory": queue}},
        }
        self._command += ["--config", f"yaml:{json.dumps({'extensions': extensions})}"]
        self._environment["BACKEND"] = backend

    @property
    def health_url(self) -> str:
        """What the health check asks, with the port of this run."""
        return f"http://127.0.0.1:{self.health}/"


def post(url: str, line: str) -> None:
    """Send one line of a recording file as an OTLP/HTTP JSON message."""
    request = urllib.request.Request(
        f"{url}/v1/traces", line.encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        assert json.load(answer) in ({}, {"partialSuccess": {}})


def load(path: Path) -> list[Recording]:
    """Return the recordings of a file, in the order of their ids."""
    return sorted(scaly_viz.load_recordings(path, strict=True), key=lambda each: str(each["id"]))


def spans_of(lines: Iterable[str]) -> dict[str, set[str]]:
    """Return the ids of the spans in ``lines``, by trace."""
    found: dict[str, set[str]] = {}
    for line in lines:
        for span in _spans(json.loads(line)["resourceSpans"]):
            found.setdefault(span["traceId"], set()).add(span["spanId"])
    return found


def _spans(resources: Iterable[dict[str, Any]]) -> Iterable[dict[str, Any]]:
    return (
        span
        for resource in resources
        for scope in resource["scopeSpans"]
        for span in scope["spans"]
    )
