"""The API of texts: what it answers, and what it says when it cannot."""

from __future__ import annotations

from typing import Any

import pytest
from flask.testing import FlaskClient

from scaly_viz.codec import FailedPayload, Payload
from scaly_viz.spans import Failure

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


def test_a_string_is_found_in_a_recording_and_in_all(
    client: FlaskClient, recorder: Recorder
) -> None:
    one = recorder.record("f", steps=[{"listing": "a sin"}, {"code": "b"}])
    two = recorder.record("g", steps=[{"listing": "sin sin"}, {"listing": "sin sin"}])
    recorder.record("h", steps=[{"listing": "nothing"}])

    here = answer(client, f"/recordings/{one}/search?q=SIN")
    assert here["steps"] == [
        {
            "index": 0,
            "kind": "listing",
            "count": 1,
            "hits": [{"line": 1, "column": 2, "end_column": 5, "text": "a sin", "text_column": 0}],
            "same_as": None,
            "name": "pass:number_0",
        }
    ]
    assert (here["count"], here["truncated"], here["skipped"]) == (1, False, [])

    everywhere = answer(client, "/search?q=sin")
    assert [(each["id"], each["count"]) for each in everywhere["recordings"]] == [
        (two, 4),
        (one, 1),
    ]
    assert (everywhere["searched"], everywhere["total"], everywhere["cursor"]) == (3, 3, None)

    first = answer(client, "/search?q=sin&limit=1")
    assert [each["id"] for each in first["recordings"]] == [two]
    assert (first["searched"], first["cursor"]) == (2, one)
    rest = answer(client, f"/search?q=sin&limit=1&cursor={first['cursor']}")
    assert [each["id"] for each in rest["recordings"]] == [one]


@pytest.mark.parametrize("where", ["/search", "/recordings/KEY/search"])
def test_what_cannot_be_searched_for_is_told(
    client: FlaskClient, recorder: Recorder, where: str
) -> None:
    url = where.replace("KEY", recorder.record())
    assert error(client, url) == (400, "bad_parameter", "q is missing")
    assert error(client, f"{url}?q=") == (
        400,
        "bad_parameter",
        "q: there is nothing to search for",
    )
    status, code, message = error(client, f"{url}?q=(&regex=1")
    assert (status, code) == (400, "bad_parameter")
    assert message.startswith("q: ( is no regular expression")
    assert error(client, f"{url}?q=a&regex=2")[2] == "regex must be one of 0, 1"


def test_two_recordings_are_compared(client: FlaskClient, recorder: Recorder) -> None:
    one = recorder.record(steps=[{"listing": "a"}, {"listing": "b"}])
    two = recorder.record(steps=[{"listing": "a"}, {"listing": "c"}, {"code": "d"}])
    compared = answer(client, f"/compare?left={one}&right={two}")
    assert (compared["left"], compared["right"], compared["first_diverging"]) == (one, two, 1)
    assert [(step["left"], step["right"], step["same"]) for step in compared["steps"]] == [
        (0, 0, True),
        (1, 1, False),
        (None, 2, False),
    ]
    assert error(client, f"/compare?left={one}") == (400, "bad_parameter", "right is missing")
    assert error(client, f"/compare?left={one}&right=no")[:2] == (404, "recording_not_found")


def test_a_failure_is_told_and_its_absence_too(client: FlaskClient, recorder: Recorder) -> None:
    failure = Failure("LoweringError", "no rule for op print", "Traceback ...")
    failed = recorder.record(steps=[{"assembly": "%0 = expr.print(%1)"}], failure=failure)
    told = answer(client, f"/recordings/{failed}/failure")
    assert told == {
        "type": "LoweringError",
        "message": "no rule for op print",
        "stacktrace": "Traceback ...",
        "failed_pass": None,
        "last_step": 0,
        "place": {"step": 0, "kind": "assembly", "line": 1, "column": 5, "end_column": 15},
    }
    good = recorder.record()
    assert error(client, f"/recordings/{good}/failure") == (
        404,
        "not_failed",
        "the recording has no failure",
    )


def test_a_value_is_asked_for_by_place_or_by_name(client: FlaskClient, recorder: Recorder) -> None:
    key = recorder.record(steps=[{"listing": "alpha beta"}, {"listing": "beta"}])
    value = answer(client, f"/recordings/{key}/values?step=0&kind=listing&line=1&column=7")
    assert (value["name"], value["role"]) == ("beta", "word")
    assert [each["state"] for each in value["life"]] == ["born", "changed"]
    assert answer(client, f"/recordings/{key}/values?name=beta") == value
    absent = error(client, f"/recordings/{key}/values?name=gamma")
    assert absent == (404, "value_not_found", "there is no such name")
    line = f"/recordings/{key}/values?step=0&kind=listing&line=1"
    assert answer(client, line)["name"] == "alpha"
    assert error(client, f"{line}&column=x")[2] == "column must be a whole number, 0 or more"


def test_corresponding_lines_are_answered(client: FlaskClient, recorder: Recorder) -> None:
    key = recorder.record(steps=[{"listing": "a b\nc d"}, {"listing": "new\na b\nc d"}])
    query = "step=0&kind=listing&line=2&to_step=1&to_kind=listing"
    assert answer(client, f"/recordings/{key}/lines?{query}") == {"lines": [3]}
    missing = error(
        client, f"/recordings/{key}/lines?{query.replace('to_kind=listing', 'to_kind=x')}"
    )
    assert missing[:2] == (404, "payload_not_found")
