"""Owns what a request names: a recording, a step, a text, a number; and the answer where there is none."""

from __future__ import annotations

import re
from dataclasses import dataclass

from flask import current_app, request

from scaly_viz.analysis.texts import previous_step, text_of
from scaly_viz.errors import PayloadError
from scaly_viz.recording import Step
from scaly_viz_viewer.catalog import Catalog, Opened
from scaly_viz_viewer.responses import ApiError

EXTENSION = "scaly_viz"

_NUMBER = re.compile(r"0|[1-9][0-9]{0,18}", re.ASCII)
_PREVIOUS = "prev"


@dataclass(frozen=True, slots=True)
class RequestedText:
    """A text that a request names."""

    recording: str
    step: int
    kind: str
    dialect: str
    digest: str
    text: str


def catalog() -> Catalog:
    """Return the recordings that the application serves."""
    found: Catalog = current_app.extensions[EXTENSION]
    return found


def opened(key: str) -> Opened:
    """Return the recording that is addressed by ``key``; else the answer is 404."""
    found = catalog().open(key)
    if found is None:
        raise ApiError(404, "recording_not_found", "no recording has this id")
    return found


def step_of(recording: Opened, index: str) -> Step:
    """Return the step of number ``index``; else the answer is 404."""
    number = int(index) if _NUMBER.fullmatch(index) else None
    found = next((step for step in recording.recording.steps if step.index == number), None)
    if found is None:
        raise ApiError(404, "step_not_found", "the recording has no step of this number")
    return found


def text(key: str, recording: Opened, step: Step, kind: str) -> RequestedText:
    """Return a text of ``step``; else the answer is 404, or 422 where it cannot be read."""
    payload = step.payloads.get(kind)
    if payload is None:
        raise ApiError(404, "payload_not_found", "the step has no such payload")
    try:
        with recording.lock:
            found = text_of(recording.recording, step, kind)
    except PayloadError as error:
        raise ApiError(422, "payload_unreadable", str(error)) from error
    return RequestedText(key, step.index, kind, step.dialect, payload.digest, found)


def named_text(parameter: str) -> RequestedText:
    """Return the text that a parameter names as ``recording/step/kind``."""
    parts = required(parameter).split("/", 2)
    if len(parts) != 3:
        raise ApiError(400, "bad_parameter", f"{parameter} must be RECORDING/STEP/KIND")
    found = opened(parts[0])
    return text(parts[0], found, step_of(found, parts[1]), parts[2])


def text_before(parameter: str, other: RequestedText) -> RequestedText | None:
    """Return the text that a parameter names; ``prev`` is the one that ``other`` is compared with."""
    if request.args.get(parameter, _PREVIOUS) != _PREVIOUS:
        return named_text(parameter)
    found = opened(other.recording)
    step = step_of(found, str(other.step))
    earlier = previous_step(found.recording, step, other.kind)
    if earlier is None:
        return None
    return text(other.recording, found, earlier, other.kind)


def required(name: str) -> str:
    """Return a parameter as it is; where it is missing the answer is 400."""
    value = request.args.get(name)
    if value is None:
        raise ApiError(400, "bad_parameter", f"{name} is missing")
    return value


def number(name: str, default: int | None = None) -> int:
    """Return a parameter that is a whole number; without ``default`` it has to be there."""
    value = request.args.get(name)
    if value is None and default is not None:
        return default
    if value is None or not _NUMBER.fullmatch(value):
        raise ApiError(400, "bad_parameter", f"{name} must be a whole number, 0 or more")
    return int(value)


def choice(name: str, *choices: str) -> str:
    """Return a parameter that is one of ``choices``; the first where it is not given."""
    value = request.args.get(name, choices[0])
    if value not in choices:
        raise ApiError(400, "bad_parameter", f"{name} must be one of {', '.join(choices)}")
    return value


def flag(name: str) -> bool:
    """Return a parameter that is 0 or 1; 0 where it is not given."""
    return choice(name, "0", "1") == "1"
