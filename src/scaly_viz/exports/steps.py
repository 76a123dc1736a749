"""Owns which step of a recording is exported, and that it has what the format shows."""

from __future__ import annotations

from scaly_viz.errors import ScalyVizError
from scaly_viz.exports.chosen import Chosen
from scaly_viz.exports.formats import Options
from scaly_viz.recording import Recording, Step


def step_with(recording: Recording, options: Options, kind: str) -> Step:
    """Return the step that was asked for, else the last that has a payload of ``kind``.

    Raises:
        ScalyVizError: it has none.
    """
    if options.pick is not None:
        step = options.pick(recording)
        if kind not in step.payloads:
            has = ", ".join(step.payloads) or "nothing"
            raise ScalyVizError(f"step {step.index} ({step.name}) has no {kind}; it has: {has}")
        return step
    for step in reversed(recording.steps):
        if kind in step.payloads:
            return step
    raise ScalyVizError(f"no step of {recording.name} has a payload of kind {kind!r}")


def text_of(chosen: Chosen, options: Options, kind: str) -> bytes:
    """Return the text of ``kind`` of that step, byte for byte.

    Raises:
        ScalyVizError: there is none, or it cannot be rebuilt.
    """
    step = step_with(chosen.recording, options, kind)
    return chosen.recording.data(step, kind)
