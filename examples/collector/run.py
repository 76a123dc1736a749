# /// script
# requires-python = ">=3.12"
# dependencies = ["scaly-viz[scaly]"]
# [tool.uv.sources]
# scaly-viz = { path = "../.." }
# ///
"""Send a recording through a Collector to Jaeger, read it back from there, and see that it is the same.

The servers are those of compose/: the programs that JAEGER and COLLECTOR name, or that are on the PATH,
with that configuration; else the images, by Docker.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import scaly as sc
from scaly.codegen.aot import render_c_source

import scaly_viz

COMPOSE = Path(__file__).parents[2] / "compose"
READY_S = 120.0
OTHERWISE = "JAEGER and COLLECTOR may name programs instead: a jaeger, and an otelcol-contrib"


@sc.function(sc.arg("x", 3), sc.arg("u", 2))
def unicycle(x: sc.Expr, u: sc.Expr) -> sc.Expr:
    """Position and heading a stage later, by speed and turn rate."""
    return x + 0.1 * sc.stack([u[0] * x[2].cos(), u[0] * x[2].sin(), u[1]])


@dataclass(frozen=True)
class Servers:
    """Where the Collector takes OTLP/HTTP, and where Jaeger's page and API are."""

    collector: str
    jaeger: str


@contextmanager
def by_docker() -> Iterator[Servers]:
    """Run the servers of compose/compose.yaml; they stop at the end, and keep what they stored."""
    version = subprocess.run(["docker", "compose", "version"], capture_output=True, check=False)
    if version.returncode != 0:
        raise SystemExit(f"this docker has no compose; {OTHERWISE}")
    compose = ["docker", "compose", "--file", str(COMPOSE / "compose.yaml")]
    compose += ["--profile", "jaeger", "--profile", "collector"]
    if subprocess.run([*compose, "up", "--detach", "--wait"], check=False).returncode != 0:
        raise SystemExit(f"docker could not run the servers; {OTHERWISE}")
    try:
        yield Servers("http://127.0.0.1:4338", "http://127.0.0.1:16686")
    finally:
        subprocess.run([*compose, "stop"], check=True)


@contextmanager
def by_programs(jaeger: str, collector: str) -> Iterator[Servers]:
    """Run the programs on free ports, in a folder that goes with them."""
    page, page_grpc, *jaeger_ports = free_ports(5)
    own_ports = free_ports(3)
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        badger = {"directories": {"keys": f"{folder}/keys", "values": f"{folder}/values"}}
        jaeger_extensions = {
            "healthcheckv2": {"http": {"endpoint": at(jaeger_ports[2])}},
            "jaeger_storage": {"backends": {"recordings": {"badger": badger}}},
            "jaeger_query": {"http": {"endpoint": at(page)}, "grpc": {"endpoint": at(page_grpc)}},
        }
        queue = f"{folder}/queue"
        collector_extensions = {
            "health_check": {"endpoint": at(own_ports[2])},
            "file_storage": {"directory": queue, "compaction": {"directory": queue}},
        }
        stack.enter_context(
            running(
                [jaeger, "--config", str(COMPOSE / "jaeger" / "jaeger.yaml")],
                overlay(jaeger_ports[0], jaeger_ports[1], jaeger_extensions),
                f"http://{at(jaeger_ports[2])}/status",
            )
        )
        os.environ["BACKEND"] = f"http://{at(jaeger_ports[0])}"
        stack.enter_context(
            running(
                [collector, "--config", str(COMPOSE / "collector" / "collector.yaml")],
                overlay(own_ports[0], own_ports[1], collector_extensions),
                f"http://{at(own_ports[2])}/",
            )
        )
        yield Servers(f"http://{at(own_ports[0])}", f"http://{at(page)}")


def overlay(http: int, grpc: int, extensions: dict[str, Any]) -> str:
    """Return what is laid over a configuration of compose/: ports and folders, and less to say."""
    protocols = {"http": {"endpoint": at(http)}, "grpc": {"endpoint": at(grpc)}}
    telemetry = {"metrics": {"level": "none"}, "logs": {"level": "error"}}
    layer = {
        "receivers": {"otlp": {"protocols": protocols}},
        "extensions": extensions,
        "service": {"telemetry": telemetry},
    }
    return f"yaml:{json.dumps(layer)}"


@contextmanager
def running(command: Sequence[str], layer: str, health: str) -> Iterator[None]:
    """Run a server until the end of the block, which begins when the server is well."""
    with tempfile.TemporaryFile("w+") as log:
        process = subprocess.Popen([*command, "--config", layer], stdout=log, stderr=log)
        try:
            until(lambda: process.poll() is not None or answers(health), f"{command[0]} was well")
            if process.poll() is not None:
                log.seek(0)
                raise SystemExit(f"{command[0]} ended:\n{log.read()}")
            yield
        finally:
            process.terminate()
            process.wait()


def answers(url: str) -> bool:
    """Tell whether a server says that it is well."""
    try:
        with urllib.request.urlopen(url, timeout=5) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


def until[T](ask: Callable[[], T], what: str) -> T:
    """Ask until the answer is true."""
    end = time.monotonic() + READY_S
    while not (answer := ask()):
        if time.monotonic() > end:
            raise SystemExit(f"waited {READY_S:.0f} s in vain until {what}")
        time.sleep(0.1)
    return answer


def free_ports(count: int) -> list[int]:
    """Return ports of this machine that nobody uses."""
    with ExitStack() as stack:
        opened = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)]
        return [each.getsockname()[1] for each in opened]


def at(port: int) -> str:
    """Return the address of ``port`` on this machine."""
    return f"127.0.0.1:{port}"


def servers() -> AbstractContextManager[Servers]:
    """Return the servers, by whatever this machine has to run them with."""
    jaeger = shutil.which(os.environ.get("JAEGER") or "jaeger")
    collector = shutil.which(os.environ.get("COLLECTOR") or "otelcol-contrib")
    if jaeger and collector:
        return by_programs(jaeger, collector)
    if shutil.which("docker"):
        return by_docker()
    raise SystemExit(f"there is no docker here; {OTHERWISE}")


def send_and_read_back(servers: Servers) -> None:
    """Record a render, send it through the Collector, and read it from Jaeger once it is there."""
    os.environ["OTEL_EXPORTER_OTLP_ENDPOINT"] = servers.collector
    scaly_viz.configure(exporters="json,otlp")
    render_c_source(scaly_viz.visualize(unicycle, label="through a Collector"))
    scaly_viz.flush()
    (sent,) = scaly_viz.recordings()
    print(f"sent       {sent['id']}: {len(sent['steps'])} steps, to {servers.collector}")

    source = f"jaeger:{servers.jaeger}"
    warnings.simplefilter("ignore", scaly_viz.RecordingWarning)  # some spans come later than others

    def arrived() -> list[dict[str, Any]]:
        found = scaly_viz.load_recordings(source)
        return [each for each in found if each["id"] == sent["id"] and not each.get("incomplete")]

    (stored,) = until(arrived, "Jaeger had the recording")
    print(f"read back  {stored['id']}: {len(stored['steps'])} steps, from {source}")
    if stored != sent:
        raise SystemExit("it is NOT the same")
    print("the same")


def main() -> None:
    """Keep the servers until Enter is pressed, so that there is time to look around."""
    with servers() as running_servers:
        send_and_read_back(running_servers)
        print(f"\nscaly-viz serve jaeger:{running_servers.jaeger}")
        if sys.stdin.isatty():
            input("\nEnter stops the servers ")


if __name__ == "__main__":
    main()
