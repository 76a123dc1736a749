"""Owns Grafana's provisioning: the dashboard parses, and asks for attributes that exist."""

from __future__ import annotations

import itertools
import re
from typing import Any

import pytest

from scaly_viz import attributes as a

from .files import COMPOSE, read_json, read_yaml
from .test_compose import SERVICES

_DASHBOARD: dict[str, Any] = read_json("grafana/dashboards/scaly-viz.json")
_PANELS: list[dict[str, Any]] = _DASHBOARD["panels"]
_QUERIES = [target["query"] for panel in _PANELS for target in panel["targets"]]
_KEYS = {attribute.key: attribute for attribute in a.ATTRIBUTES}

_STAGE = re.compile(
    r"count_over_time\(\)"
    r"|(?:max|avg|sum)_over_time\((?P<value>[\w.]+)\)"
    r"|quantile_over_time\((?P<quantile>[\w.]+)(?:, \.\d+)+\)"
    r"|select\([\w., ]+\)"
    r"|topk\(\d+\)"
)


def _panel(title: str) -> dict[str, Any]:
    (panel,) = [panel for panel in _PANELS if panel["title"] == title]
    return panel


def _query(title: str) -> str:
    (target,) = _panel(title)["targets"]
    return str(target["query"])


@pytest.mark.parametrize("query", _QUERIES)
def test_a_query_asks_for_attributes_that_recordings_have(query: str) -> None:
    keys = re.findall(r"\b(?:span|resource|event)\.([\w.]+)", query)

    assert keys
    assert set(keys) <= set(_KEYS)


@pytest.mark.parametrize("query", _QUERIES)
def test_a_query_is_a_filter_and_stages_of_traceql(query: str) -> None:
    filter_, *stages = query.split(" | ")

    assert re.fullmatch(r"\{ .+ \}", filter_)
    assert stages
    for stage in stages:
        assert _STAGE.fullmatch(stage.split(" by (")[0]), stage


@pytest.mark.parametrize("query", _QUERIES)
def test_only_numbers_are_added_up_and_only_names_are_grouped_by(query: str) -> None:
    values = re.findall(r"_over_time\(span\.([\w.]+)", query)
    groups = re.findall(r" by \(span\.([\w.]+)\)", query)

    assert all(_KEYS[key].type in ("int", "double") for key in values)
    assert all(_KEYS[key].type == "string" for key in groups)


def test_the_dashboard_shows_what_it_is_there_for() -> None:
    root = f"span.{a.RECORDING_STEPS} >= 0"

    assert root in _query("Renders over time")
    assert f"by (span.{a.FUNCTION_NAME})" in _query("Renders over time")
    assert f"avg_over_time(duration) by (span.{a.STEP_NAME})" in _query("Slowest steps, on average")
    assert "status = error" in _query("Failures over time")
    assert f"max_over_time(span.{a.CODE_BYTES})" in _query("Growth of the generated C")


def test_a_table_lists_spans_and_a_diagram_asks_for_a_metric() -> None:
    for panel in _PANELS:
        (target,) = panel["targets"]
        if panel["type"] == "table":
            assert "select(" in target["query"]
            assert target["tableType"] == "spans"
        else:
            assert "_over_time(" in target["query"]
            instant = panel["type"] in ("stat", "bargauge")
            assert target["metricsQueryType"] == ("instant" if instant else "range")


def test_every_panel_is_explained_and_none_covers_another() -> None:
    cells = [
        (x, y)
        for grid in (panel["gridPos"] for panel in _PANELS)
        for x, y in itertools.product(
            range(grid["x"], grid["x"] + grid["w"]), range(grid["y"], grid["y"] + grid["h"])
        )
    ]

    assert len(set(cells)) == len(cells)
    assert max(x for x, _ in cells) < 24
    assert all(panel["description"].endswith(".") for panel in _PANELS)
    assert sorted({panel["id"] for panel in _PANELS}) == [panel["id"] for panel in _PANELS]


def test_panels_use_the_source_that_is_provisioned() -> None:
    (source,) = read_yaml("grafana/datasources.yaml")["datasources"]

    assert source["url"] == "http://tempo:3200"
    used = [panel["datasource"] for panel in _PANELS]
    used += [target["datasource"] for panel in _PANELS for target in panel["targets"]]
    assert all(each == {"type": source["type"], "uid": source["uid"]} for each in used)


def test_grafana_finds_the_dashboard() -> None:
    (provider,) = read_yaml("grafana/dashboards.yaml")["providers"]
    grafana = SERVICES["grafana"]
    mounts = dict(mount.split(":")[:2] for mount in grafana["volumes"])

    assert mounts["./grafana/dashboards"] == provider["options"]["path"]
    home = grafana["environment"]["GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH"]
    folder, _, name = home.rpartition("/")
    assert folder == provider["options"]["path"]
    assert (COMPOSE / "grafana/dashboards" / name).is_file()
