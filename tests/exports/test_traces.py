"""Owns the tests of what trace viewers get: slices with arguments, and counters."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import msgspec
import perfetto.protos.perfetto.trace.perfetto_trace_pb2 as pb

from analysis.recorded import record
from scaly_viz import attributes as a
from scaly_viz.analysis.summary import summarize_steps
from scaly_viz.assembling import assemble
from scaly_viz.exports.chosen import Chosen, chosen
from scaly_viz.exports.formats import Options, named
from scaly_viz.recording import Recording

type Interval = tuple[str, int, int]


def chrome_of(taken: Sequence[Chosen]) -> dict[str, Any]:
    trace: dict[str, Any] = json.loads(b"".join(named("chrome").writer()(taken, Options())))
    return trace


def packets_of(taken: Sequence[Chosen]) -> list[pb.TracePacket]:
    """Return what Perfetto's own library reads."""
    trace = pb.Trace()
    trace.ParseFromString(b"".join(named("perfetto").writer()(taken, Options())))
    return [*trace.packet]


def slices_of(packets: Sequence[pb.TracePacket], track: int) -> list[Interval]:
    """Return the slices of a track as Perfetto nests them: an end belongs to the latest begin."""
    stack: list[tuple[str, int]] = []
    found: list[Interval] = []
    for packet in packets:
        event = packet.track_event
        if not packet.HasField("track_event") or event.track_uuid != track:
            continue
        if event.type == pb.TrackEvent.TYPE_SLICE_BEGIN:
            stack.append((event.name, packet.timestamp))
        elif event.type == pb.TrackEvent.TYPE_SLICE_END:
            name, begin = stack.pop()
            found.append((name, begin, packet.timestamp))
    assert stack == []
    return found


def spans_of(recording: Recording) -> list[Interval]:
    steps = [(step.name, step.start_ns, step.end_ns) for step in recording.steps]
    return [*steps, (f"render {recording.function}", recording.start_ns, recording.end_ns)]


def test_perfetto_gets_the_render_its_steps_and_their_figures() -> None:
    recording = record("linear_mpc")
    packets = packets_of([chosen(recording)])

    descriptors = {
        p.track_descriptor.uuid: p.track_descriptor
        for p in packets
        if p.HasField("track_descriptor")
    }
    by_name = {descriptor.name: descriptor for descriptor in descriptors.values()}
    own = by_name[recording.name]
    process = descriptors[own.parent_uuid]
    assert process.process.pid == recording.head.resource["process.pid"]
    assert slices_of(packets, own.uuid) == spans_of(recording)

    flops = by_name["flops"]
    assert (flops.parent_uuid, flops.counter.unit_name) == (own.uuid, "flop")
    assert by_name["code bytes"].counter.unit == pb.CounterDescriptor.UNIT_SIZE_BYTES
    assert [
        (packet.timestamp, packet.track_event.counter_value)
        for packet in packets
        if packet.track_event.track_uuid == flops.uuid
    ] == [
        (step.end_ns, step.figure(a.FLOPS))
        for step in recording.steps
        if step.figure(a.FLOPS) is not None
    ]

    begin = next(p.track_event for p in packets if p.track_event.name == recording.steps[-1].name)
    arguments = {each.name: each for each in begin.debug_annotations}
    assert arguments[a.STEP_DIALECT].string_value == "c"
    assert arguments[a.CODE_BYTES].int_value == recording.steps[-1].figure(a.CODE_BYTES)
    assert arguments[a.STEP_CHANGED].bool_value


def test_chrome_gets_the_same_in_microseconds_from_the_first_render_on() -> None:
    recordings = [record("chain"), record("linear_mpc")]
    trace = chrome_of([chosen(recording) for recording in recordings])

    origin = int(trace["otherData"]["begin_ns"])
    assert origin == min(recording.start_ns for recording in recordings)
    for thread, recording in enumerate(recordings, start=1):
        events = [event for event in trace["traceEvents"] if event["tid"] == thread]
        assert events[0]["args"] == {"name": recording.name}
        slices = [event for event in events if event["ph"] == "X"]
        assert [
            (each["name"], round(each["ts"] * 1e3) + origin, round(each["dur"] * 1e3))
            for each in slices
        ] == [(name, start, end - start) for name, start, end in _render_first(recording)]
        summaries = summarize_steps(recording)
        counted = [e["args"] for e in events if e["ph"] == "C" and "workspace" in e["name"]]
        sizes = [summary.figures.get(a.WORKSPACE_BYTES) for summary in summaries]
        assert counted == [{"By": size} for size in sizes if size is not None]
        assert slices[-1]["args"][a.CODE_LINES] == summaries[-1].figures[a.CODE_LINES]


def _render_first(recording: Recording) -> list[Interval]:
    *steps, render = spans_of(recording)
    return [render, *steps]


def test_times_that_cannot_be_are_drawn_all_the_same() -> None:
    spans = list(record("chain").spans)
    odd = [
        msgspec.structs.replace(span, start_ns=span.end_ns + 5, end_ns=span.start_ns)
        if a.STEP_NAME in span.attributes
        else span
        for span in spans
    ]
    recording = assemble(odd)[0]

    packets = packets_of([chosen(recording)])

    times = [packet.timestamp for packet in packets if packet.track_event.type in (1, 2)]
    assert times == sorted(times)
    assert all(
        event["dur"] >= 0
        for event in chrome_of([chosen(recording)])["traceEvents"]
        if event["ph"] == "X"
    )


def test_a_failed_render_says_so() -> None:
    recording = record("high_rank")
    slices = [e for e in chrome_of([chosen(recording)])["traceEvents"] if e["ph"] == "X"]
    assert slices[0]["args"]["status"] == "failed"
    assert slices[0]["args"]["error"] == recording.error
