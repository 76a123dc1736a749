"""Owns the promise that a backend which comes and goes costs no recording, and shows none twice."""

from __future__ import annotations

import subprocess
import time
from collections import Counter
from pathlib import Path

import pytest
import requests

import scaly_viz
from programs import PROGRAMS
from scaly_viz.remote import Listing
from scaly_viz.sources.address import parse_address

from . import rendering, servers

pytestmark = pytest.mark.backend

_NAMES = [program.name for program in PROGRAMS if program.solver is None][:12]
_ARRIVAL_S = 120


def _render_next(process: subprocess.Popen[str], name: str) -> None:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("\n")
    process.stdin.flush()
    assert process.stdout.readline() == f"{name}\n"


def _ids(path: Path) -> set[str]:
    return {recording["id"] for recording in scaly_viz.load_recordings(path)}


def _listed(address: str) -> list[str]:
    listing = Listing(parse_address(address))
    listing.refresh(lambda _: None)
    return [s.id for s in listing.summaries() if s.status != "incomplete"]


@pytest.mark.parametrize(
    ("protocol", "end"), [("http/protobuf", servers.Server.kill), ("grpc", servers.Server.stop)]
)
def test_a_backend_that_goes_and_comes_back_has_everything_once(
    tmp_path: Path, protocol: str, end: object
) -> None:
    with servers.jaeger(tmp_path / "badger", badger=True) as jaeger:
        endpoint = jaeger.otlp_grpc if protocol == "grpc" else jaeger.otlp_http
        local = tmp_path / "local"
        environ = {"OTEL_EXPORTER_OTLP_TIMEOUT": "5"}
        process = rendering.start(local, endpoint, protocol, ["--step", *_NAMES], **environ)
        with process:
            for i, name in enumerate(_NAMES):
                if i == len(_NAMES) // 3:
                    assert callable(end)
                    end(jaeger)
                if i == 2 * len(_NAMES) // 3:
                    jaeger.start()
                _render_next(process, name)
            _, _ = process.communicate(timeout=120)
            assert process.returncode == 0
        # What still waits is delivered by whichever process comes next.
        _, complaints = rendering.start(local, endpoint, protocol, _NAMES[:1]).communicate(
            timeout=120
        )
        assert complaints == ""

        expected = _ids(local / "recordings.jsonl")
        until = time.monotonic() + _ARRIVAL_S
        while {*_listed(jaeger.address)} != expected:
            assert time.monotonic() < until, expected - {*_listed(jaeger.address)}
            time.sleep(0.2)

        assert Counter(_listed(jaeger.address)) == Counter(expected)
        assert scaly_viz.load_recordings(jaeger.address, strict=True) == scaly_viz.load_recordings(
            local / "recordings.jsonl"
        )
        assert requests.get(f"{jaeger.url}/api/v3/services", timeout=30).json() == {
            "services": ["scaly"]
        }
