"""The routes for graphs and memory: what they answer, what they refuse, what they keep."""

from __future__ import annotations

import json
from typing import Any

import pytest
from flask.testing import FlaskClient

from scaly_viz import graph_table
from scaly_viz.codec import GRAPH_DELTA, JSON, Payload
from scaly_viz.graph_table import GraphDelta, Kind

from .recorded import Recorder

ASSEMBLY = """\
prog.module {} {
  prog.proc @f(%x: memref<4xfloat64>) {input_count=1, sz_w=4, w_self=4} {
    %s0 = prog.buffer : memref<4xfloat64, private> = prog.workspace offset 0
    prog.store prog.load %x[0], %s0[0] : float64
  }
}"""
DELTA = GraphDelta(
    prefix="e",
    roots=[1],
    first=0,
    first_kind=0,
    kinds=[
        Kind("INPUT", "float64(4,)\nx", "#fff", {"lowering": "auto"}),
        Kind("SIN", "float64(4,)", "#fff", {"shape": [4]}),
    ],
    rows=[0, 1],
    arity=[0, 1],
    args=[1],
)
GRAPH = Payload("graph", graph_table.encode(DELTA), GRAPH_DELTA)


@pytest.fixture
def base(recorder: Recorder) -> str:
    key = recorder.record("f", steps=[{"graph": GRAPH}, {"assembly": ASSEMBLY}])
    return f"/api/v1/recordings/{key}/steps"


def answer(client: FlaskClient, url: str) -> dict[str, Any]:
    response = client.get(url)
    assert response.status_code == 200, response.text
    found: dict[str, Any] = response.json or {}
    return found


def test_the_outline_names_the_groups(client: FlaskClient, base: str) -> None:
    found = answer(client, f"{base}/0/outline")

    assert found["nodes"]["title"] == ["number_0", "input x : float64(4,)", "sin : float64(4,)"]
    assert found["edges"]["source"] == [1]
    assert (found["nodes_total"], found["edges_total"], found["against"]) == (2, 1, None)


def test_the_graph_comes_as_columns(client: FlaskClient, base: str) -> None:
    found = answer(client, f"{base}/0/graph")

    assert (found["titles"], found["title"]) == (["INPUT", "SIN"], [0, 1])
    assert [found["labels"][i] for i in found["label"]] == ["input x", "sin"]
    assert (found["names"], found["name"]) == (["x"], [0, -1])
    assert (found["arg_offsets"], found["args"], found["roots"]) == ([0, 0, 1], [0], [1])


def test_a_node_tells_its_attributes_arguments_and_users(client: FlaskClient, base: str) -> None:
    found = answer(client, f"{base}/0/graph/nodes/1")

    assert (found["title"], found["detail"], found["attributes"]) == (
        "SIN",
        "float64(4,)",
        {"shape": [4]},
    )
    assert [each["node"] for each in found["args"]] == [0]
    assert answer(client, f"{base}/0/graph/nodes/0")["users_total"] == 1


def test_the_workspace_has_offsets(client: FlaskClient, base: str) -> None:
    found = answer(client, f"{base}/1/workspace")

    assert found["workspace_bytes"] == 32
    (procedure,) = found["procedures"]
    (buffer,) = procedure["buffers"]
    assert (buffer["name"], buffer["offset"], buffer["bytes"]) == ("s0", 0, 32)


@pytest.mark.parametrize(
    ("route", "code"),
    [
        ("1/outline", "payload_not_found"),
        ("1/graph", "payload_not_found"),
        ("0/workspace", "payload_not_found"),
        ("7/outline", "step_not_found"),
        ("-1/graph", "step_not_found"),
        ("0/graph/nodes/2", "node_not_found"),
        ("0/graph/nodes/-1", "node_not_found"),
        ("0/graph/nodes/\N{SUPERSCRIPT TWO}", "node_not_found"),
        (f"0/graph/nodes/{'9' * 5000}", "node_not_found"),
    ],
)
def test_what_is_not_there_is_404(client: FlaskClient, base: str, route: str, code: str) -> None:
    response = client.get(f"{base}/{route}")

    assert response.status_code == 404
    assert response.json is not None
    assert response.json["error"]["code"] == code


def test_a_graph_that_cannot_be_read_is_422(client: FlaskClient, recorder: Recorder) -> None:
    key = recorder.record("f", steps=[{"graph": Payload("graph", b"[]", GRAPH_DELTA)}])

    for route in ("outline", "graph", "graph/nodes/0"):
        response = client.get(f"/api/v1/recordings/{key}/steps/0/{route}")
        assert response.status_code == 422


def test_an_answer_that_is_known_is_not_sent_again(client: FlaskClient, base: str) -> None:
    for url in (f"{base}/0/outline", f"{base}/0/graph", f"{base}/1/workspace"):
        tag = client.get(url).headers["ETag"]
        assert client.get(url, headers={"If-None-Match": tag}).status_code == 304


def test_graphs_of_scaly_viz_are_shown_too(client: FlaskClient, recorder: Recorder) -> None:
    graph = {
        "nodes": [
            {"id": "p0", "label": "CONST_INT\n%0\nint64", "color": "#fff"},
            {"id": "p1", "label": "PROC\n%1\nfloat64\nf", "color": "#fff"},
        ],
        "edges": [{"from": "p0", "to": "p1", "label": "0"}],
        "outputs": ["p1"],
    }
    payload = Payload("graph", json.dumps(graph).encode(), JSON)
    key = recorder.record("f", steps=[{"graph": payload}])
    found = answer(client, f"/api/v1/recordings/{key}/steps/0/outline")

    assert found["nodes"]["title"] == ["proc f", "constant"]
    assert found["problems"] == ["only labels were recorded: what feeds what is not known"]
