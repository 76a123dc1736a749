"""Owns docs/backends.md: what it shows of a trace is what a real Jaeger answers, and what it names exists."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

from scaly_viz import attributes as a

from .files import COMPOSE, read_json
from .test_compose import SERVICES

_ROOT = Path(__file__).parents[2]
_SPEC = importlib.util.spec_from_file_location("write_trace", _ROOT / "tools/write_trace.py")
assert _SPEC
assert _SPEC.loader
write_trace = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(write_trace)

TEXT = (_ROOT / "docs/backends.md").read_text(encoding="utf-8")


def test_the_example_of_the_page_is_that_of_the_readme() -> None:
    readme = (_ROOT / "README.md").read_text(encoding="utf-8")
    (shared,) = re.findall(r"(@sc\.function.*?render_c_source\(step\))", readme, re.DOTALL)

    assert shared in write_trace.MODEL


def test_the_page_names_files_attributes_and_ports_that_exist() -> None:
    files = re.findall(r"`((?:compose|tools)/[\w./-]+\.\w+)`", TEXT)
    keys = re.findall(r"`?(?:span\.)?(scaly\.(?:\w+\.)+\w+)", TEXT)
    ports = re.findall(r"127\.0\.0\.1:(\d+)", TEXT)

    assert [file for file in files if not (_ROOT / file).exists()] == []
    assert set(keys) - {attribute.key for attribute in a.ATTRIBUTES} <= {"scaly.codegen.aot"}
    published = {
        port.split(":")[1] for service in SERVICES.values() for port in service.get("ports", ())
    }
    assert set(ports) <= published


def test_the_page_names_the_versions_that_compose_starts() -> None:
    for name, release in (("jaeger", "2.13"), ("tempo", "2.10"), ("grafana", "12.4")):
        assert f"{name.title()}" in TEXT
        assert SERVICES[name]["image"].split(":")[1].startswith(release + ".")
        assert release in TEXT


def test_the_page_names_the_dashboard() -> None:
    title = read_json("grafana/dashboards/scaly-viz.json")["title"]

    assert f"*{title}*" in TEXT
    assert (COMPOSE / "grafana").is_dir()
