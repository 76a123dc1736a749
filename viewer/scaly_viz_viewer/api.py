"""Owns the routes under ``/api/v1``; ``docs/api.md`` describes them."""

from __future__ import annotations

import time

import msgspec
from flask import Blueprint, Response, current_app, request

from scaly_viz.analysis.filters import FilterError, select
from scaly_viz.analysis.groups import SORT_KEYS, FunctionGroup, by_function, ordered
from scaly_viz.analysis.summary import RecordingSummary, StepSummary, summarize_steps
from scaly_viz.analysis.timeline import timeline
from scaly_viz.errors import PayloadError
from scaly_viz.recording import Step
from scaly_viz_viewer import requested
from scaly_viz_viewer.catalog import Opened, SourceSummary
from scaly_viz_viewer.content import BINARY, decoded
from scaly_viz_viewer.responses import IMMUTABLE, REVALIDATE, ApiError, json_response, tagged
from scaly_viz_viewer.streams import Streams

DEFAULT_LIMIT = 1000
MAX_LIMIT = 10_000
STREAMS = "scaly_viz_streams"

api = Blueprint("api", __name__, url_prefix="/api/v1")


class RecordingList(msgspec.Struct, frozen=True):
    """A section of all recordings, the newest first."""

    recordings: list[RecordingSummary]
    total: int
    offset: int
    limit: int


class RecordingDetail(msgspec.Struct, frozen=True):
    """One recording with its steps."""

    recording: RecordingSummary
    steps: list[StepSummary]


class FunctionList(msgspec.Struct, frozen=True):
    """The recordings by function, the function that was rendered last first."""

    functions: list[FunctionGroup]
    total: int


class SourceList(msgspec.Struct, frozen=True):
    """What the recordings come from."""

    sources: list[SourceSummary]


@api.get("/recordings", provide_automatic_options=False)
def list_recordings() -> Response:
    """Answer the recordings that are asked for, the newest first unless told otherwise."""
    offset = requested.number("offset", 0)
    limit = min(requested.number("limit", DEFAULT_LIMIT), MAX_LIMIT)
    key, order = requested.choice("sort", *SORT_KEYS), requested.choice("order", "desc", "asc")
    found = ordered(_selected(), key, ascending=order == "asc")
    return json_response(RecordingList(found[offset : offset + limit], len(found), offset, limit))


@api.get("/functions", provide_automatic_options=False)
def list_functions() -> Response:
    """Answer the recordings that are asked for, by function."""
    groups = by_function(_selected())
    return json_response(FunctionList(groups[:MAX_LIMIT], len(groups)))


@api.get("/recordings/<key>", provide_automatic_options=False)
def show_recording(key: str) -> Response:
    """Answer one recording with its steps."""
    opened = requested.opened(key)
    return json_response(RecordingDetail(opened.summary, summarize_steps(opened.recording)))


@api.get("/recordings/<key>/steps/<index>/payloads/<path:kind>", provide_automatic_options=False)
def show_payload(key: str, index: str, kind: str) -> Response:
    """Answer one payload, decoded."""
    opened = requested.opened(key)
    return _payload(opened, requested.step_of(opened, index), kind, request.args.get("digest"))


@api.get("/recordings/<key>/timeline", provide_automatic_options=False)
def show_timeline(key: str) -> Response:
    """Answer when each step of a recording ran, and the renders that ran meanwhile."""
    return json_response(
        timeline(requested.opened(key).recording, key, requested.catalog().recordings())
    )


@api.get("/events", provide_automatic_options=False)
def stream_events() -> Response:
    """Answer with a stream that tells of every change."""
    streams: Streams = current_app.extensions[STREAMS]
    return streams.response(requested.catalog())


@api.get("/sources", provide_automatic_options=False)
def list_sources() -> Response:
    """Answer what the recordings come from."""
    return json_response(SourceList(requested.catalog().sources()))


def _selected() -> list[RecordingSummary]:
    try:
        return select(requested.catalog().recordings(), request.args.get("q", ""), time.time())
    except FilterError as error:
        raise ApiError(400, "bad_parameter", f"q: {error}") from error


def _payload(opened: Opened, step: Step, kind: str, digest: str | None) -> Response:
    payload = step.payloads.get(kind)
    if payload is None or digest not in (None, payload.digest):
        raise ApiError(404, "payload_not_found", "the step has no such payload")
    cache = REVALIDATE if digest is None else IMMUTABLE
    if request.if_none_match.contains_weak(payload.digest):
        return tagged(b"", BINARY, payload.digest, cache)
    try:
        with opened.lock:
            content = decoded(opened.recording, step, payload)
    except PayloadError as error:
        raise ApiError(422, "payload_unreadable", str(error)) from error
    response = tagged(content.data, content.media_type, payload.digest, cache)
    if content.media_type == BINARY:
        response.headers["Content-Disposition"] = "attachment"
    return response
