"""Owns the form in which a payload leaves the server: its bytes and a media type that no browser runs."""

from __future__ import annotations

from dataclasses import dataclass

from scaly_viz import codec
from scaly_viz.codec import EncodedPayload
from scaly_viz.recording import GRAPH, Recording, Step
from scaly_viz_viewer.responses import encode_json

TEXT = "text/plain; charset=utf-8"
JSON = "application/json"
BINARY = "application/octet-stream"


@dataclass(frozen=True, slots=True)
class Content:
    """A decoded payload."""

    data: bytes
    media_type: str


def decoded(recording: Recording, step: Step, payload: EncodedPayload) -> Content:
    """Return ``payload`` of ``step`` decoded: of any kind, also of one that this version does not know.

    Raises:
        PayloadError: it cannot be rebuilt.
    """
    if payload.kind == GRAPH and payload.media_type in (codec.GRAPH_DELTA, codec.JSON):
        return Content(encode_json(recording.graph(step)), JSON)
    return Content(recording.data(step, payload.kind), _safe(payload.media_type))


def _safe(media_type: str) -> str:
    """Return what a payload of ``media_type`` is sent as: never what a browser would interpret."""
    essence = media_type.partition(";")[0].strip().lower()
    if essence.startswith("text/"):
        return TEXT
    is_json = essence == JSON or essence.endswith("+json")
    return JSON if is_json else BINARY
