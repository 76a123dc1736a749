"""Owns the short forms of recordings and steps: what a table shows of each."""

from __future__ import annotations

import json
from contextlib import suppress

import msgspec

from scaly_viz import attributes as a
from scaly_viz.recording import Recording, Step
from scaly_viz.span_record import AttributeValue

FIGURES = (
    a.GRAPH_NODES,
    a.GRAPH_EDGES,
    a.GRAPH_ADDED,
    a.GRAPH_REMOVED,
    a.LOADS,
    a.STORES,
    a.FLOPS,
    a.CALLS,
    a.TRAFFIC,
    a.LOAD_SITES,
    a.STORE_SITES,
    a.FLOP_SITES,
    a.CALL_SITES,
    a.LOOPS,
    a.BUFFERS,
    a.PRIVATE_BYTES,
    a.WORKSPACE_BYTES,
    a.CODE_BYTES,
    a.CODE_LINES,
)

_DIFFERENCES = (a.GRAPH_ADDED, a.GRAPH_REMOVED)


class RecordingSummary(msgspec.Struct, frozen=True):
    """One recording in a list. Times are seconds, ``started_at`` since the Unix epoch.

    ``nodes`` is the size of the largest graph of a step; ``status`` is ok, failed or incomplete;
    ``source`` is the name of what it was read from, where that is known.
    """

    id: str
    name: str
    function: str
    started_at: float
    duration_s: float
    steps: int
    nodes: int | None
    code_bytes: int | None
    status: str
    error: str | None
    process: int | None
    host: str
    trace_id: str
    file: str
    line: int | None
    compiler_version: str
    problems: list[str]
    source: str = ""


class PayloadSummary(msgspec.Struct, frozen=True):
    """One payload of a step, without its content. ``error`` is why it has none."""

    kind: str
    media_type: str
    size: int
    digest: str
    changed: bool
    error: str | None


class StepSummary(msgspec.Struct, frozen=True):
    """One step in a list. ``changes`` holds, by figure, the difference to the previous step that has it.

    Figures of another dialect are not compared, and those that are differences already have none.
    """

    index: int
    name: str
    phase: str
    dialect: str
    changed: bool
    missing: bool
    duration_s: float
    figures: dict[str, int]
    changes: dict[str, int]
    uncounted: list[str]
    payloads: list[PayloadSummary]


def summarize(recording: Recording) -> RecordingSummary:
    """Return the short form of ``recording``."""
    head = recording.head
    nodes = [n for step in recording.steps if (n := step.figure(a.GRAPH_NODES)) is not None]
    code = [n for step in recording.steps if (n := step.figure(a.CODE_BYTES)) is not None]
    process = head.resource.get("process.pid")
    line = head.attributes.get(a.LINE_NUMBER)
    return RecordingSummary(
        id=recording.id,
        name=recording.name,
        function=recording.function,
        started_at=recording.start_ns / 1e9,
        duration_s=recording.duration_s,
        steps=sum(not step.placeholder for step in recording.steps),
        nodes=max(nodes, default=None),
        code_bytes=code[-1] if code else None,
        status=recording.status,
        error=recording.error,
        process=process if isinstance(process, int) else None,
        host=str(head.resource.get("host.name", "")),
        trace_id=head.trace_id,
        file=str(head.attributes.get(a.FILE_PATH, "")) if recording.root else "",
        line=line if isinstance(line, int) and recording.root else None,
        compiler_version=str(head.attributes.get(a.COMPILER_VERSION, "")),
        problems=recording.problems,
    )


def summarize_steps(recording: Recording) -> list[StepSummary]:
    """Return the short forms of the steps of ``recording``, with what each changed."""
    latest: dict[tuple[str, str], int] = {}
    summaries = []
    for step in recording.steps:
        figures = {key: value for key in FIGURES if (value := step.figure(key)) is not None}
        changes = {
            key: value - latest[step.dialect, key]
            for key, value in figures.items()
            if (step.dialect, key) in latest and key not in _DIFFERENCES
        }
        latest.update({(step.dialect, key): value for key, value in figures.items()})
        summaries.append(_summarize_step(step, figures, changes))
    return summaries


def uncounted(step: Step) -> list[str]:
    """Return what the weighted counts of ``step`` leave out, and why, in words."""
    return _texts(step.attributes.get(a.UNCOUNTED))


def _summarize_step(step: Step, figures: dict[str, int], changes: dict[str, int]) -> StepSummary:
    return StepSummary(
        index=step.index,
        name=step.name,
        phase=step.phase,
        dialect=step.dialect,
        changed=step.changed,
        missing=step.placeholder,
        duration_s=step.duration_s,
        figures=figures,
        changes=changes,
        uncounted=uncounted(step),
        payloads=[
            PayloadSummary(
                kind=payload.kind,
                media_type=payload.media_type,
                size=payload.size,
                digest=payload.digest,
                changed=payload.encoding != "same",
                error=payload.error or None,
            )
            for payload in step.payloads.values()
        ],
    )


def _texts(value: AttributeValue) -> list[str]:
    """Return a list of texts, also where a backend has made one text of it, as Jaeger on Badger does."""
    if isinstance(value, str):
        with suppress(ValueError, RecursionError):
            value = json.loads(value)
    return [str(item) for item in value] if isinstance(value, list | tuple) else []
