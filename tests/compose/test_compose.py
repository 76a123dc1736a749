"""Owns what can be checked of compose.yaml without a container engine: its schema, and what it promises."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import Any

import pytest

from .files import COMPOSE, read_yaml

type Service = dict[str, Any]

_FILE: dict[str, Any] = read_yaml("compose.yaml")
SERVICES: dict[str, Service] = _FILE["services"]
_SERVERS = {name: service for name, service in SERVICES.items() if name != "prepare"}
_PROFILES = {"jaeger", "tempo", "collector"}


def _mounts(service: Service) -> list[tuple[str, str]]:
    return [(mount.split(":")[0], mount.split(":")[1]) for mount in service["volumes"]]


def test_the_file_follows_the_compose_specification() -> None:
    check = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec"]

    seen = subprocess.run(
        [*check, COMPOSE / "compose.yaml"], capture_output=True, text=True, check=False
    )

    assert seen.returncode == 0, seen.stdout + seen.stderr


def test_every_service_belongs_to_a_profile_so_that_nothing_starts_unasked() -> None:
    assert {p for service in SERVICES.values() for p in service["profiles"]} == _PROFILES
    assert all(service["profiles"] for service in SERVICES.values())


@pytest.mark.parametrize("name", SERVICES)
def test_what_a_service_waits_for_is_in_each_of_its_profiles(name: str) -> None:
    for needed in SERVICES[name].get("depends_on", {}):
        assert set(SERVICES[name]["profiles"]) <= set(SERVICES[needed]["profiles"])


@pytest.mark.parametrize("name", SERVICES)
def test_images_are_pinned_to_one_release(name: str) -> None:
    assert re.fullmatch(r"[\w./-]+:\d+\.\d+\.\d+(-musl)?", SERVICES[name]["image"])


def test_ports_are_open_on_the_loopback_interface_only_and_never_twice() -> None:
    ports = [port for service in SERVICES.values() for port in service.get("ports", ())]

    assert all(re.fullmatch(r"127\.0\.0\.1:\d+:\d+", port) for port in ports)
    hosts = [port.split(":")[1] for port in ports]
    assert sorted(set(hosts)) == sorted(hosts)
    assert {"4317", "4318", "16686"} <= set(hosts)


@pytest.mark.parametrize("name", _SERVERS)
def test_every_server_has_a_health_check_that_runs_in_its_image(name: str) -> None:
    service = _SERVERS[name]
    test: list[str] = service["healthcheck"]["test"]

    # Only Grafana's image has a wget; the others get busybox from the volume that prepare fills.
    program = {"grafana": "wget"}.get(name, "/tools/busybox")
    assert test[:2] == ["CMD", program]
    assert ("tools", "/tools") in _mounts(service) or name == "grafana"
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/\S*", test[-1])


@pytest.mark.parametrize("name", SERVICES)
def test_what_a_service_mounts_exists_or_is_a_volume(name: str) -> None:
    for source, _ in _mounts(SERVICES[name]):
        if source.startswith("./"):
            assert (COMPOSE / source).exists(), source
        else:
            assert source in _FILE["volumes"]


def test_every_volume_is_used_by_a_server() -> None:
    used = {source for service in _SERVERS.values() for source, _ in _mounts(service)}

    assert set(_FILE["volumes"]) <= used


@pytest.mark.parametrize("name", ["jaeger", "tempo", "collector"])
def test_servers_that_are_not_root_own_their_volume(name: str) -> None:
    prepare = SERVICES["prepare"]

    assert (name, f"/data/{name}") in _mounts(prepare)
    assert re.search(rf"chown 10001:10001 .*/data/{name}\b", prepare["command"][-1])
    assert SERVICES[name]["depends_on"]["prepare"] == {
        "condition": "service_completed_successfully"
    }


@pytest.mark.parametrize("name", ["jaeger", "tempo", "collector"])
def test_a_server_is_given_the_configuration_that_is_mounted(name: str) -> None:
    (argument,) = SERVICES[name]["command"]
    configuration = argument.split("=")[1]

    assert configuration in [target for _, target in _mounts(SERVICES[name])]
