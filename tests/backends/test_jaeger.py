"""Owns the tests of reading from Jaegers that stand-ins play: later releases, and odd answers."""

from __future__ import annotations

import json
from typing import Any

import pytest

import scaly_viz
from scaly_viz.errors import BackendError, PayloadError, RecordingWarning
from scaly_viz.sources import load
from scaly_viz.sources.jaeger import Jaeger

from .conftest import WINDOW, Recorded
from .stand_ins import Answer, JaegerStandIn, Request, cut, span_of, standing_in


def _loaded(answers: Any, options: str = WINDOW) -> list[dict[str, Any]]:
    with standing_in(answers) as server:
        return scaly_viz.load_recordings(f"jaeger:{server.url}?{options}")


@pytest.mark.parametrize("summaries", [False, True])
def test_recordings_are_those_of_the_file(recorded: Recorded, summaries: bool) -> None:
    assert _loaded(JaegerStandIn(recorded.resources, summaries)) == recorded.dicts


@pytest.mark.parametrize("page", [1, 2, 3])
def test_pages_may_be_as_small_as_one_trace(recorded: Recorded, page: int) -> None:
    assert _loaded(JaegerStandIn(recorded.resources), f"{WINDOW}&page={page}") == recorded.dicts


def test_the_limit_keeps_the_newest(recorded: Recorded) -> None:
    found = _loaded(JaegerStandIn(recorded.resources), f"{WINDOW}&limit=2")

    assert found == recorded.dicts[-2:]


def test_an_address_may_name_one_recording_or_trace(recorded: Recorded) -> None:
    second = span_of(recorded.resources[4])["traceId"]
    jaeger = JaegerStandIn(recorded.resources)

    assert _loaded(jaeger, f"{WINDOW}#{recorded.ids[0]}") == recorded.dicts[:1]
    assert _loaded(jaeger, f"trace={second}") == recorded.dicts[1:2]
    with pytest.raises(BackendError, match=r"it has no trace 0{31}1 with recordings$"):
        _loaded(jaeger, "trace=1")


def test_a_span_that_was_sent_twice_counts_once(recorded: Recorded) -> None:
    twice = sorted([*recorded.resources] * 2, key=lambda r: str(span_of(r)["traceId"]))

    assert _loaded(JaegerStandIn(twice)) == recorded.dicts


def test_foreign_spans_of_the_same_trace_and_service_are_passed_over(recorded: Recorded) -> None:
    resources = []
    for resource in recorded.resources:
        foreign = json.loads(json.dumps(resource))
        span_of(foreign).update(spanId="ab" * 8, name="GET /", attributes=[], events=[])
        resources += [foreign, resource]
    alone = json.loads(json.dumps(foreign))
    span_of(alone)["traceId"] = "cd" * 16

    assert _loaded(JaegerStandIn([alone, *resources])) == recorded.dicts


def test_a_service_that_does_other_things_too_is_asked_for_renders_only(recorded: Recorded) -> None:
    shared = JaegerStandIn(recorded.resources, operations=("GET /", "render f", "expression graph"))
    with standing_in(shared) as server:
        assert scaly_viz.load_recordings(f"jaeger:{server.url}?{WINDOW}") == recorded.dicts

    asked = [r.query.get("query.operation_name") for r in server.asked if "traces" in r.path]
    assert {*asked} == {"render f", "expression graph"}


def test_a_service_without_renders_is_not_searched(recorded: Recorded) -> None:
    with standing_in(JaegerStandIn(recorded.resources, operations=("GET /",))) as server:
        assert scaly_viz.load_recordings(f"jaeger:{server.url}?{WINDOW}") == []

    assert server.paths() == ["/api/v3/services", "/api/v3/operations"]


def test_raw_traces_are_asked_for_whose_times_nothing_has_corrected(recorded: Recorded) -> None:
    with standing_in(JaegerStandIn(recorded.resources)) as server:
        scaly_viz.load_recordings(f"jaeger:{server.url}?{WINDOW}")

    searches = [r for r in server.asked if r.path == "/api/v3/traces"]
    assert {r.query["query.raw_traces"] for r in searches} == {"true"}


def test_an_answer_may_come_as_several_documents_or_without_its_envelope(
    recorded: Recorded,
) -> None:
    jaeger = JaegerStandIn(recorded.resources)

    def in_pieces(request: Request) -> Answer:
        answer = jaeger(request)
        if request.path != "/api/v3/traces" or answer.status != 200:
            return answer
        documents = [{"result": {"resourceSpans": [r]}} for r in recorded.resources]
        return Answer("\n".join(map(json.dumps, documents)).encode())

    def bare(request: Request) -> Answer:
        answer = jaeger(request)
        is_search = request.path == "/api/v3/traces" and answer.status == 200
        return Answer({"resourceSpans": recorded.resources}) if is_search else answer

    assert _loaded(in_pieces) == recorded.dicts
    assert _loaded(bare) == recorded.dicts


@pytest.mark.parametrize(
    ("end", "error"),
    [
        (b'\n{"error": {"code": 13, "message": "storage \\"x\\" failed"}}', "the search failed in the middle: storage"),
        (b'\n{"result": {"resourceSpans": [{"resource"', "the answer is no JSON or breaks off: "),
    ],
)  # fmt: skip
def test_an_answer_that_ends_badly_is_no_short_list(
    recorded: Recorded, end: bytes, error: str
) -> None:
    jaeger = JaegerStandIn(recorded.resources)

    def ending(request: Request) -> Answer:
        answer = jaeger(request)
        is_search = request.path == "/api/v3/traces" and answer.status == 200
        return Answer(answer.data + end) if is_search else answer

    with pytest.raises(BackendError, match=error):
        _loaded(ending)


def test_a_damaged_span_costs_only_itself(recorded: Recorded) -> None:
    resources = recorded.resources
    span_of(resources[0])["parentSpanId"] = "nobody"

    with pytest.warns(RecordingWarning) as warned:
        found = _loaded(JaegerStandIn(resources))

    texts = [str(warning.message) for warning in warned]
    assert any("parentSpanId: 'nobody' is not 16 hex digits" in text for text in texts)
    assert [recording["id"] for recording in found] == recorded.ids
    assert found[1:] == recorded.dicts[1:]


def test_a_payload_that_was_cut_says_what_to_look_at(recorded: Recorded) -> None:
    resources = recorded.resources
    cut(resources, 2048)
    with standing_in(JaegerStandIn(resources)) as server:
        recordings = load(f"jaeger:{server.url}?{WINDOW}")

    with pytest.raises(PayloadError, match="OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT"):
        recordings[2].text(recordings[2].steps[0], "assembly")
    assert recordings[0].text(recordings[0].steps[0], "assembly") == "expr.module {\n}\n"
    assert recordings[2].hint == Jaeger.hint
