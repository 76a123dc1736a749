"""Owns the tests of backends on the command line and in the viewer."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

import scaly_viz
from cli.running import error_of, output_of, run
from scaly_viz_viewer import create_app

from .conftest import WINDOW, Recorded
from .servers import free_ports
from .stand_ins import JaegerStandIn, StandIn, span_of, standing_in


def _json(client: FlaskClient, path: str) -> dict[str, Any]:
    answer: dict[str, Any] = client.get(f"/api/v1{path}").get_json()
    return answer


@pytest.fixture
def jaeger(recorded: Recorded) -> JaegerStandIn:
    return JaegerStandIn(recorded.resources)


@pytest.fixture
def server(jaeger: JaegerStandIn) -> Iterator[StandIn]:
    with standing_in(jaeger) as standing:
        yield standing


@pytest.fixture
def address(server: StandIn) -> str:
    return f"jaeger:{server.url}?{WINDOW}"


def test_list_takes_an_address_as_an_argument_or_a_path(recorded: Recorded, address: str) -> None:
    listed = json.loads(output_of("list", "--json", address))

    assert [recording["id"] for recording in listed] == recorded.ids
    assert json.loads(output_of("list", "--recording-path", address, "--json")) == listed
    assert len(output_of("list", address, "-n", "1").splitlines()) == 2


def test_show_takes_an_address_in_front_of_its_words(recorded: Recorded, address: str) -> None:
    assert f"id        {recorded.ids[2]}" in output_of("show", address)
    assert f"id        {recorded.ids[0]}" in output_of("show", address, "first")
    assert f"id        {recorded.ids[1]}" in output_of("show", f"{address}#{recorded.ids[1]}")
    assert output_of("show", address, "first", "0") == "expr.module {\n}\n"
    assert output_of("show", address, "1", "--kind", "code") == "void f(void) {}\n"


def test_what_a_backend_has_is_exported_and_comes_back(
    recorded: Recorded, address: str, tmp_path: Path
) -> None:
    lines, into = tmp_path / "x.otlp.jsonl.zst", tmp_path / "into.jsonl"

    output_of("export", address, "first", "2", "--to", lines)
    output_of("import", lines, "--recording-path", into)
    assert scaly_viz.load_recordings(into) == recorded.dicts[:2]

    output_of("export", address, "--all", "--to", tmp_path / "x.json")
    assert json.loads((tmp_path / "x.json").read_text()) == recorded.dicts
    assert "no recording is called 'nobody'" in error_of(
        "export", address, "nobody", "--to", tmp_path / "y.json"
    )


def test_compare_takes_addresses_for_either_side_and_ids_behind_them(
    recorded: Recorded, server: StandIn, address: str
) -> None:
    secret = address.replace("//", "//me:secret@")

    every = json.loads(output_of("compare", secret, address, "--json"))

    assert every["base"] == every["new"] == f"jaeger:{server.url}"
    assert all(pair["same"] for pair in every["pairs"])
    assert {pair["base"]["id"] for pair in every["pairs"]} <= {*recorded.ids}
    sides = (f"{address}#{recorded.ids[0]}", f"{address}#{recorded.ids[2]}")
    (pair,) = json.loads(output_of("compare", *sides, "--json"))["pairs"]
    assert (pair["base"]["id"], pair["new"]["id"]) == (recorded.ids[0], recorded.ids[2])
    assert error_of("compare", f"{address}#nobody", address).startswith(
        "no recording is called 'nobody'"
    )


def test_the_id_of_a_trace_finds_what_is_too_old_for_the_list(
    recorded: Recorded, server: StandIn
) -> None:
    trace = span_of(recorded.resources[4])["traceId"]

    shown = output_of("show", f"jaeger:{server.url}?since=2027-01-01&until=2027-01-02", trace)

    assert f"id        {recorded.ids[1]}" in shown


def test_strict_fails_where_a_recording_lacks_something(
    recorded: Recorded, jaeger: JaegerStandIn, address: str
) -> None:
    jaeger.resources = recorded.resources[:3]

    assert "the render is still running, or its process was ended" in error_of(
        "list", address, "--strict"
    )
    assert "incomplete" in output_of("list", address)


def test_an_empty_backend_says_where_to_look_further(
    jaeger: JaegerStandIn, server: StandIn
) -> None:
    jaeger.resources = []

    assert output_of("list", f"jaeger:{server.url}?since=2h") == (
        f"No recordings of the last 2h in jaeger:{server.url}. Further back, or in one service:"
        f" jaeger:{server.url}?since=1y&service=NAME\n"
    )


@pytest.mark.parametrize("command", ["list", "show"])
def test_a_backend_that_is_down_is_one_line(command: str) -> None:
    port = free_ports("http")["http"]

    assert error_of(command, f"jaeger:http://me:geheim@127.0.0.1:{port}") == (
        f"jaeger:http://127.0.0.1:{port}: connection refused: is Jaeger running (its query service,"
        " port 16686)?"
    )


def test_what_is_no_address_is_one_line() -> None:
    expected = "jaeger:localhost:16686: write jaeger:http://HOST:PORT or jaeger:https://HOST"

    assert error_of("list", "jaeger:localhost:16686") == expected
    assert error_of("serve", "jaeger:localhost:16686") == expected
    assert error_of("jaeger:localhost:16686") == expected
    assert "only files, folders and tracing backends" in run("serve", "http://h").stderr


def test_the_viewer_lists_and_opens(
    recorded: Recorded, jaeger: JaegerStandIn, address: str
) -> None:
    client = create_app(address).test_client()

    listed = _json(client, "/recordings")["recordings"]
    assert [recording["id"] for recording in listed] == recorded.ids[::-1]
    payload = f"/api/v1/recordings/{recorded.ids[0]}/steps/0/payloads/assembly"
    assert client.get(payload).text == "expr.module {\n}\n"
    (source,) = _json(client, "/sources")["sources"]
    assert source == {
        "name": address.partition("?")[0],
        "path": address.partition("?")[0],
        "recordings": 3,
        "problems": [],
    }
    jaeger.resources = []
    assert client.get(f"/api/v1/recordings/{recorded.ids[1]}").status_code == 404


def test_the_viewer_says_that_a_backend_is_down() -> None:
    port = free_ports("http")["http"]
    client = create_app([f"tempo:http://127.0.0.1:{port}"]).test_client()

    assert _json(client, "/recordings")["recordings"] == []
    (source,) = _json(client, "/sources")["sources"]
    assert source["problems"] == [
        f"tempo:http://127.0.0.1:{port}: connection refused: is Tempo running (its HTTP API, port 3200)?"
    ]
