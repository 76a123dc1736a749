"""The one schema of the API: every route has its type, and the page's types are made of it."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import msgspec
from flask.testing import FlaskClient

from scaly_viz_viewer.schema import ANSWERS, components

from .recorded import Recorder

_ROOT = Path(__file__).parents[2]
_SPEC = importlib.util.spec_from_file_location("write_schema", _ROOT / "tools/write_schema.py")
assert _SPEC is not None
assert _SPEC.loader is not None
write_schema = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(write_schema)

# What they answer is not JSON of a type of ours.
_UNTYPED = {
    "/api/v1/events",
    "/api/v1/recordings/<id>/steps/<index>/payloads/<kind>",
}


def test_every_route_has_a_type(client: FlaskClient) -> None:
    rules = client.application.url_map.iter_rules()
    routes = {re.sub("<[^>]*?([^:>]+)>", r"<\1>", rule.rule) for rule in rules}
    routes = {rule.replace("<key>", "<id>") for rule in routes if rule.startswith("/api")}
    assert routes - _UNTYPED == set(ANSWERS)


def test_the_types_of_the_page_are_current() -> None:
    assert write_schema.TARGET.read_text(encoding="utf-8") == write_schema.schema(), (
        "run tools/write_schema.py"
    )


def test_types_are_written_as_typescript_has_them() -> None:
    text = write_schema.schema()
    chunk = text.partition("export interface Chunk {\n")[2].partition("}")[0]
    assert chunk == (
        "  left: [number, number];\n"
        "  right: [number, number];\n"
        '  op: "delete" | "insert" | "move" | "renumber" | "replace";\n'
        "  move: number | null;\n"
    )
    assert "  figures: Record<string, number>;\n" in text
    assert re.findall("^  (\\w+): .*unknown", text, re.M) == ["attributes"]


def test_every_type_says_what_it_is() -> None:
    assert [name for name, each in components().items() if not each.get("description")] == []


def test_answers_have_their_types(client: FlaskClient, recorder: Recorder) -> None:
    key = recorder.record()
    addresses = {
        "/api/v1/recordings": "",
        "/api/v1/sources": "",
        "/api/v1/functions": "",
        "/api/v1/search": "?q=for",
        "/api/v1/compare": f"?left={key}&right={key}",
        "/api/v1/diff": f"?right={key}/0/assembly",
        "/api/v1/recordings/<id>": "",
        "/api/v1/recordings/<id>/changes": "",
        "/api/v1/recordings/<id>/search": "?q=for",
        "/api/v1/recordings/<id>/timeline": "",
        "/api/v1/recordings/<id>/values": "?name=i",
        "/api/v1/recordings/<id>/steps/<index>/cost/<kind>": "",
    }
    for route, query in addresses.items():
        url = route.replace("<id>", key).replace("<index>", "1").replace("<kind>", "listing")
        response = client.get(f"{url}{query}")
        assert response.status_code == 200, url
        msgspec.json.decode(response.data, type=ANSWERS[route])
