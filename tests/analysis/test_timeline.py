"""When the steps of a render ran, and which renders ran meanwhile."""

from __future__ import annotations

import msgspec

from scaly_viz import attributes as a
from scaly_viz.analysis.summary import RecordingSummary, summarize
from scaly_viz.analysis.timeline import TimelineSpan, timeline
from scaly_viz.assembling import assemble
from scaly_viz.recording import Recording
from scaly_viz.span_record import AttributeValue, SpanRecord

SECOND = 1_000_000_000
RESOURCE: dict[str, AttributeValue] = {"process.pid": 7, "host.name": "ci-1"}


def span(id_: str, start: int, end: int, attributes: dict[str, AttributeValue]) -> SpanRecord:
    return SpanRecord(
        trace_id="t",
        span_id=f"{id_}{start}{end}",
        parent_span_id="",
        name="any",
        start_ns=start * SECOND,
        end_ns=end * SECOND,
        attributes={a.RECORDING_ID: id_, a.FUNCTION_NAME: f"f_{id_}"} | attributes,
        events=(),
        status="unset",
        status_message="",
        resource=RESOURCE,
        scope="scaly_viz",
    )


def step(id_: str, index: int, start: int, end: int, *, changed: bool = True) -> SpanRecord:
    attributes: dict[str, AttributeValue] = {
        a.STEP_INDEX: index,
        a.STEP_NAME: f"pass:{index}",
        a.STEP_CHANGED: changed,
    }
    return span(id_, start, end, attributes)


def recording(*spans: SpanRecord) -> Recording:
    (found,) = assemble(spans)
    return found


def bars(main: Recording, others: list[RecordingSummary]) -> list[tuple[str, str, float, float]]:
    return [(s.name, s.status, s.start_s, s.duration_s) for s in timeline(main, "m", others).spans]


MAIN = recording(
    step("m", 0, 100, 101),
    step("m", 1, 103, 106, changed=False),
    span("m", 100, 110, {a.RECORDING_STEPS: 2}),
)


def test_a_timeline_has_the_render_and_its_steps() -> None:
    assert timeline(MAIN, "key", []).spans == [
        TimelineSpan("f_m", "key", None, "ok", 0.0, 10.0, 0),
        TimelineSpan("pass:0", "key", 0, "ok", 0.0, 1.0, 1),
        TimelineSpan("pass:1", "key", 1, "same", 3.0, 3.0, 1),
    ]


def test_renders_of_the_same_process_that_began_meanwhile_are_in_it() -> None:
    inner = summarize(
        recording(step("n", 0, 103, 104), span("n", 103, 105, {a.RECORDING_STEPS: 1}))
    )
    elsewhere = msgspec.structs.replace(inner, host="ci-2")
    other_process = msgspec.structs.replace(inner, process=8)
    later = msgspec.structs.replace(inner, started_at=110.0)
    same = msgspec.structs.replace(inner, id="m")

    assert bars(MAIN, [inner, elsewhere, other_process, later, same]) == [
        ("f_m", "ok", 0.0, 10.0),
        ("pass:0", "ok", 0.0, 1.0),
        ("pass:1", "same", 3.0, 3.0),
        ("f_n", "ok", 3.0, 2.0),
    ]


def test_a_render_that_still_runs_has_the_steps_so_far() -> None:
    running = recording(step("m", 0, 100, 101), step("m", 1, 102, 104))
    assert bars(running, []) == [
        ("f_m", "incomplete", 0.0, 4.0),
        ("pass:0", "ok", 0.0, 1.0),
        ("pass:1", "ok", 2.0, 2.0),
    ]
