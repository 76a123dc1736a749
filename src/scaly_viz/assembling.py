"""Owns putting spans together: which belong to one recording, in which order, and what is missing of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeGuard

from scaly_viz import attributes as a
from scaly_viz import codec
from scaly_viz.codec import EncodedPayload
from scaly_viz.recording import Recording, Step
from scaly_viz.span_record import SpanRecord

_MANY_STEPS = 1_000
# The order of the kinds in scaly.viz's dicts; others follow.
_KINDS = ("assembly", "listing", "graph", "code")


def assemble(spans: Iterable[SpanRecord]) -> list[Recording]:
    """Put ``spans`` together, in any order and from any number of recordings; others are passed over.

    Returns recordings in the order in which their renders ended; a span that comes twice counts once.
    """
    groups: dict[str, dict[str, SpanRecord]] = {}
    for span in spans:
        recording = span.attributes.get(a.RECORDING_ID)
        if isinstance(recording, str) and recording:
            groups.setdefault(recording, {}).setdefault(span.span_id, span)
    recordings = [_recording(id_, list(group.values())) for id_, group in groups.items()]
    return sorted(recordings, key=lambda recording: recording.end_ns)


def _recording(id_: str, spans: list[SpanRecord]) -> Recording:
    root = next((span for span in spans if a.RECORDING_STEPS in span.attributes), None)
    steps = {step.index: step for step in _steps(spans)}
    problems = list(_schema_problems(spans))
    expected = max(steps, default=-1) + 1
    if root is None:
        problems.append("the render is still running, or its process was ended in the middle")
    else:
        declared = root.attributes.get(a.RECORDING_STEPS)
        expected = max(expected, declared) if _is_count(declared) else expected
    missing = expected - len(steps)
    if missing:
        is_or_are = "is" if missing == 1 else "are"
        problems.append(f"{missing:,} of {expected:,} steps {is_or_are} missing")
    if missing <= _MANY_STEPS:
        for index in set(range(expected)) - set(steps):
            steps[index] = Step(index, {a.STEP_NAME: "missing"}, 0, 0, placeholder=True)
    ordered = [steps[index] for index in sorted(steps)]
    return Recording(id_, root, ordered, problems, missing, spans)


def _steps(spans: Sequence[SpanRecord]) -> Iterator[Step]:
    parts: dict[int, list[SpanRecord]] = {}
    for span in spans:
        index = span.attributes.get(a.STEP_INDEX)
        if _is_count(index):
            parts.setdefault(index, []).append(span)
    for index, group in parts.items():
        step = next((span for span in group if a.STEP_NAME in span.attributes), None)
        if step is None:
            continue
        events = [(event.name, event.attributes) for span in group for event in span.events]
        payloads = {payload.kind: payload for payload in codec.collect(events)}
        yield Step(index, step.attributes, step.start_ns, step.end_ns, _ordered(payloads))


def _is_count(value: object) -> TypeGuard[int]:
    return type(value) is int and 0 <= value < 1 << 63


def _ordered(payloads: dict[str, EncodedPayload]) -> dict[str, EncodedPayload]:
    return {kind: payloads[kind] for kind in _KINDS if kind in payloads} | payloads


def _schema_problems(spans: Sequence[SpanRecord]) -> Iterator[str]:
    major = a.SCHEMA_VERSION.partition(".")[0]
    versions = {str(span.attributes.get(a.SCHEMA, a.SCHEMA_VERSION)) for span in spans}
    for version in sorted(versions):
        if version.partition(".")[0] != major:
            yield (
                f"it was written by schema version {version}, this version knows"
                f" {a.SCHEMA_VERSION}: what it does not know is left out"
            )
