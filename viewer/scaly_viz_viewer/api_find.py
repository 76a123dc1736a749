"""Owns the routes that search and compare recordings and explain failures; see ``docs/api.md``."""

from __future__ import annotations

import time

import msgspec
from flask import Blueprint, Response, request

from scaly_viz.analysis.compare import Comparison, compare
from scaly_viz.analysis.failure import failure_of
from scaly_viz.analysis.search import Query, SearchError, StepHits, search
from scaly_viz_viewer import requested
from scaly_viz_viewer.responses import ApiError, json_response

find_api = Blueprint("find_api", __name__, url_prefix="/api/v1")

_HITS_PER_TEXT = 200
_MAX_RECORDINGS = 100
# A request of the search over all recordings ends after this time, and says where to go on.
_SECONDS = 0.5


class FoundRecording(msgspec.Struct, frozen=True):
    """A recording that has the string; the first hits of each of its texts."""

    id: str
    name: str
    count: int
    steps: list[StepHits]


class FoundRecordings(msgspec.Struct, frozen=True):
    """A section of a search over all recordings, newest first.

    ``searched`` of ``total`` recordings are done, those before this section included; ``cursor`` is
    where the next section begins, None at the end. ``skipped`` says what could not be searched.
    """

    recordings: list[FoundRecording]
    searched: int
    total: int
    cursor: str | None
    skipped: list[str]


@find_api.get("/recordings/<key>/search", provide_automatic_options=False)
def search_recording(key: str) -> Response:
    """Answer where a string is in a recording."""
    query, first = _query(), min(requested.number("limit", 50), _HITS_PER_TEXT)
    opened = requested.opened(key)
    try:
        with opened.lock:
            return json_response(search(opened.recording, query, first=first))
    except SearchError as error:
        raise ApiError(400, "bad_parameter", f"q: {error}") from error


@find_api.get("/search", provide_automatic_options=False)
def search_all() -> Response:
    """Answer which recordings have a string, one section after the other."""
    try:
        return json_response(
            _section(_query(), min(requested.number("limit", 20), _MAX_RECORDINGS))
        )
    except SearchError as error:
        raise ApiError(400, "bad_parameter", f"q: {error}") from error


@find_api.get("/compare", provide_automatic_options=False)
def compare_recordings() -> Response:
    """Answer how two recordings differ."""
    left, right = requested.required("left"), requested.required("right")
    one, other = requested.opened(left), requested.opened(right)
    # One lock after the other: whoever compares the same two the other way round must not wait.
    with one.lock:
        ours = one.recording.undecoded()
    with other.lock:
        theirs = other.recording.undecoded()
    compared = compare(ours, theirs)
    return json_response(Comparison(left, right, *msgspec.structs.astuple(compared)[2:]))


@find_api.get("/recordings/<key>/failure", provide_automatic_options=False)
def show_failure(key: str) -> Response:
    """Answer why a render failed."""
    opened = requested.opened(key)
    with opened.lock:
        failure = failure_of(opened.recording)
    if failure is None:
        raise ApiError(404, "not_failed", "the recording has no failure")
    return json_response(failure)


def _query() -> Query:
    kinds = request.args.get("kinds", "")
    return Query(
        requested.required("q"),
        requested.flag("regex"),
        requested.flag("case"),
        frozenset(kinds.split(",")) if kinds else (),
    )


def _section(query: Query, limit: int) -> FoundRecordings:
    query.pattern()
    summaries = requested.catalog().recordings()
    cursor = request.args.get("cursor")
    keys = [summary.id for summary in summaries]
    start = keys.index(cursor) if cursor in keys else 0
    end = time.monotonic() + _SECONDS
    found: list[FoundRecording] = []
    skipped: list[str] = []
    at = start
    while at < len(keys) and len(found) < limit and (at == start or time.monotonic() < end):
        summary = summaries[at]
        at += 1
        opened = requested.catalog().open(summary.id)
        if opened is None:
            continue
        recording = opened.recording.undecoded()  # what it decodes is not kept
        result = search(recording, query, first=3, seconds=10)
        skipped += [f"{summary.name}: {reason}" for reason in result.skipped]
        if result.count:
            found.append(FoundRecording(summary.id, summary.name, result.count, result.steps))
    return FoundRecordings(
        found, at, len(keys), keys[at] if at < len(keys) else None, skipped[:100]
    )
