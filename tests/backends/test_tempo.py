"""Owns the tests of reading from Tempo, which a stand-in plays as its documentation shows it."""

from __future__ import annotations

import pytest

import scaly_viz
from scaly_viz.errors import PayloadError, RecordingWarning
from scaly_viz.remote import Listing
from scaly_viz.sources import load
from scaly_viz.sources.address import parse_address

from .conftest import WINDOW, Recorded
from .stand_ins import TempoStandIn, cut, span_of, standing_in


def _fail(text: str) -> None:
    raise AssertionError(text)


@pytest.mark.parametrize("version_2", [True, False])
def test_recordings_are_those_of_the_file(recorded: Recorded, version_2: bool) -> None:
    with standing_in(TempoStandIn(recorded.resources, version_2)) as server:
        assert scaly_viz.load_recordings(f"tempo:{server.url}?{WINDOW}") == recorded.dicts
        assert scaly_viz.load_recordings(f"tempo:{server.url}?{WINDOW}&page=2") == recorded.dicts


def test_a_list_needs_the_search_alone(recorded: Recorded) -> None:
    with standing_in(TempoStandIn(recorded.resources)) as server:
        listing = Listing(parse_address(f"tempo:{server.url}?{WINDOW}"))
        listing.refresh(_fail)

    assert {*server.paths()} == {"/api/search"}
    assert [(s.id, s.name, s.steps, s.status) for s in listing.summaries()] == [
        (recorded.ids[0], "first", 3, "ok"),
        (recorded.ids[1], "f", 3, "ok"),
        (recorded.ids[2], "f", 2, "ok"),
    ]


def test_a_trace_of_more_spans_than_a_search_answers_is_asked_for_itself(
    recorded: Recorded,
) -> None:
    with standing_in(TempoStandIn(recorded.resources, spans_per_set=3)) as server:
        listing = Listing(parse_address(f"tempo:{server.url}?{WINDOW}"))
        listing.refresh(_fail)
        first = [path for path in server.paths() if "traces" in path]
        listing.refresh(_fail)
        second = [path for path in server.paths() if "traces" in path]

    assert [(s.steps, s.status) for s in listing.summaries()] == [(3, "ok"), (3, "ok"), (2, "ok")]
    assert len(first) == 2  # the third has three spans
    assert second == []


def test_the_search_asks_for_spans_of_recordings_of_the_services(recorded: Recorded) -> None:
    with standing_in(TempoStandIn(recorded.resources)) as server:
        scaly_viz.load_recordings(f'tempo:{server.url}?{WINDOW}&service=a"b,c')

    query = server.asked[0].query["q"]
    assert query.startswith(
        '{ span.scaly.recording.id != nil && (resource.service.name = "a\\"b" || resource.service.name = "c") }'
        " | select("
    )


def test_no_search_spans_more_than_tempo_allows(recorded: Recorded) -> None:
    with standing_in(TempoStandIn(recorded.resources)) as server:
        scaly_viz.load_recordings(f"tempo:{server.url}?{WINDOW}")

    widths = [int(r.query["end"]) - int(r.query["start"]) for r in server.asked if "q" in r.query]
    assert max(widths) <= 168 * 3600


def test_a_part_of_a_trace_is_told(recorded: Recorded) -> None:
    with (
        standing_in(TempoStandIn(recorded.resources, status="PARTIAL")) as server,
        pytest.warns(RecordingWarning, match="it answers only a part of a trace: 'trace exceeds"),
    ):
        scaly_viz.load_recordings(f"tempo:{server.url}?{WINDOW}")


def test_cut_attributes_name_the_setting_to_change(recorded: Recorded) -> None:
    resources = recorded.resources
    cut(resources, 2048)
    with standing_in(TempoStandIn(resources)) as server:
        recordings = load(f"tempo:{server.url}?{WINDOW}")

    with pytest.raises(PayloadError, match=r"distributor\.max_attribute_bytes"):
        recordings[2].text(recordings[2].steps[0], "assembly")


def test_lost_spans_name_the_setting_to_change(recorded: Recorded) -> None:
    resources = [r for r in recorded.resources if span_of(r)["name"] != "pass"]
    with standing_in(TempoStandIn(resources)) as server:
        listing = Listing(parse_address(f"tempo:{server.url}?{WINDOW}"))
        listing.refresh(_fail)

    (problem,) = listing.summaries()[0].problems
    assert problem.startswith("3 of 3 steps are missing. Tempo cuts attributes")
    assert "max_bytes_per_trace" in problem
