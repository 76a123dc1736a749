"""The API of texts: what it answers, and what it says when it cannot."""

from __future__ import annotations

from typing import Any

import pytest
from flask.testing import FlaskClient

from scaly_viz.codec import FailedPayload, Payload

from .recorded import Recorder

API = "/api/v1"
LONG = "".join(f"line number {i} of a text that is long enough\n" for i in range(200))


def answer(client: FlaskClient, url: str) -> dict[str, Any]:
    response = client.get(f"{API}{url}")
    assert response.status_code == 200, response.text
    found: dict[str, Any] = response.json or {}
    return found


def error(client: FlaskClient, url: str) -> tuple[int, str, str]:
    response = client.get(f"{API}{url}")
    assert response.json is not None
    return response.status_code, response.json["error"]["code"], response.json["error"]["message"]


def test_a_text_is_compared_with_the_previous_other_one(
    client: FlaskClient, recorder: Recorder
) -> None:
    steps = [{"listing": "a\nb"}, {"listing": "a\nB"}, {"listing": "a\nB"}]
    key = recorder.record(steps=steps)

    diff = answer(client, f"/diff?right={key}/2/listing&left=prev")

    assert diff["left"] | {"digest": ""} == {
        "recording": key,
        "step": 0,
        "kind": "listing",
        "digest": "",
        "lines": 2,
    }
    assert diff["right"]["step"] == 2
    assert diff["chunks"] == [{"left": [2, 3], "right": [2, 3], "op": "replace", "move": None}]
    assert (diff["added"], diff["removed"], diff["identical"]) == (1, 1, False)
    assert answer(client, f"/diff?right={key}/2/listing") == diff


def test_the_first_text_has_nothing_to_compare_with(
    client: FlaskClient, recorder: Recorder
) -> None:
    key = recorder.record(steps=[{"listing": "a\nb"}])
    diff = answer(client, f"/diff?right={key}/0/listing")
    assert (diff["left"], diff["chunks"], diff["right"]["lines"]) == (None, [], 2)


def test_any_two_texts_can_be_compared_also_of_two_recordings(
    client: FlaskClient, recorder: Recorder
) -> None:
    one = recorder.record(steps=[{"listing": "a\nb"}])
    two = recorder.record(steps=[{"odd/kind?": "a\nb\nc"}])
    diff = answer(client, f"/diff?left={one}/0/listing&right={two}/0/odd%2Fkind%3F")
    assert (diff["left"]["recording"], diff["right"]["recording"]) == (one, two)
    assert [chunk["op"] for chunk in diff["chunks"]] == ["insert"]


def test_numbering_is_ignored_unless_it_is_asked_for(
    client: FlaskClient, recorder: Recorder
) -> None:
    key = recorder.record(
        steps=[{"assembly": "%v1 = sin(%x)\nput %v1"}, {"assembly": "%v2 = sin(%x)\nput %v2"}]
    )
    ignored = answer(client, f"/diff?right={key}/1/assembly")
    assert [chunk["op"] for chunk in ignored["chunks"]] == ["renumber"]
    assert (ignored["added"], ignored["renumbered"]) == (0, 2)
    exact = answer(client, f"/diff?right={key}/1/assembly&numbering=exact")
    assert [chunk["op"] for chunk in exact["chunks"]] == ["replace"]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", (400, "bad_parameter", "right is missing")),
        ("right=KEY", (400, "bad_parameter", "right must be RECORDING/STEP/KIND")),
        ("right=none/0/listing", (404, "recording_not_found", "no recording has this id")),
        (
            "right=KEY/9/listing",
            (404, "step_not_found", "the recording has no step of this number"),
        ),
        ("right=KEY/0/code", (404, "payload_not_found", "the step has no such payload")),
        (
            "right=KEY/0/listing&numbering=no",
            (400, "bad_parameter", "numbering must be one of ignore, exact"),
        ),
        ("right=KEY/0/failed", (422, "payload_unreadable", "RecursionError: too deep")),
        (
            "right=KEY/0/data",
            (422, "payload_unreadable", "the data of step 0 is no text but application/json"),
        ),
    ],
)
def test_what_cannot_be_compared_is_told(
    client: FlaskClient, recorder: Recorder, query: str, expected: tuple[int, str, str]
) -> None:
    key = recorder.record(
        steps=[
            {
                "listing": "a",
                "failed": FailedPayload("failed", "RecursionError: too deep"),
                "data": Payload("data", b"{}", "application/json"),
            }
        ]
    )
    assert error(client, f"/diff?{query.replace('KEY', key)}") == expected


def test_each_step_says_what_it_changed(client: FlaskClient, recorder: Recorder) -> None:
    key = recorder.record(
        steps=[
            {"listing": "a\nb\n", "assembly": "%v1 = f(%x)"},
            {"listing": "a\nb\n", "assembly": "%v2 = f(%x)"},
            {"listing": "a\nc\nd\n", "assembly": "%v2 = f(%x)"},
            {"graph": "a text", "listing": FailedPayload("listing", "RecursionError")},
        ]
    )
    nothing = {"added": 0, "removed": 0, "moved": 0, "against": None, "error": None}
    assert answer(client, f"/recordings/{key}/changes")["steps"] == [
        {
            "index": 0,
            "texts": {"listing": {"lines": 2} | nothing, "assembly": {"lines": 1} | nothing},
        },
        {
            "index": 1,
            "texts": {
                "listing": {"lines": 2} | nothing,
                "assembly": {"lines": 1} | nothing | {"against": 0},
            },
        },
        {
            "index": 2,
            "texts": {
                "listing": {"lines": 3} | nothing | {"against": 1, "added": 2, "removed": 1},
                "assembly": {"lines": 1} | nothing | {"against": 0},
            },
        },
        {
            "index": 3,
            "texts": {
                "graph": {"lines": 1} | nothing,
                "listing": {"lines": 0} | nothing | {"error": "RecursionError"},
            },
        },
    ]


def test_a_text_of_a_language_that_nobody_knows_costs_nothing_and_says_so(
    client: FlaskClient, recorder: Recorder
) -> None:
    key = recorder.record(steps=[{"listing": "a\nb"}])
    assert answer(client, f"/recordings/{key}/steps/0/cost/listing") == {
        "lines": [],
        "loops": [],
        "procedures": [],
        "totals": {"flops": 0, "loads": 0, "stores": 0, "bytes": 0},
        "uncounted": ["all: a text of kind listing in dialect unknown cannot be counted"],
    }
