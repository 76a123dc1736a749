"""Owns the export to Perfetto's protobuf (https://perfetto.dev/docs/reference/synthetic-track-event)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator

import perfetto.protos.perfetto.trace.perfetto_trace_pb2 as pb

from scaly_viz.exports.chosen import Chosen
from scaly_viz.exports.formats import Options
from scaly_viz.exports.tracks import Argument, Counter, Slice, Track, track_of

# One writer, one sequence of packets.
_SEQUENCE = 1
_MAX_INT64 = 2**63 - 1


def write(chosen: Iterable[Chosen], options: Options) -> Iterator[bytes]:
    """Yield packets: a track a recording below its process's, and below that one a figure; times are wall time."""
    described: set[int] = set()
    for each in chosen:
        track = track_of(each.recording)
        if not described:
            yield _serialized(_clocks(track.render.start_ns))
        for packet in _packets(track, each.recording.id, described):
            packet.trusted_packet_sequence_id = _SEQUENCE
            yield _serialized(packet)


def _serialized(packet: pb.TracePacket) -> bytes:
    # A trace is the concatenation of traces.
    return pb.Trace(packet=[packet]).SerializeToString()


def _clocks(time_ns: int) -> pb.TracePacket:
    """Say that the times of the trace are those of the wall."""
    packet = pb.TracePacket()
    packet.trusted_packet_sequence_id = _SEQUENCE
    packet.clock_snapshot.primary_trace_clock = pb.BUILTIN_CLOCK_REALTIME
    for clock in (pb.BUILTIN_CLOCK_REALTIME, pb.BUILTIN_CLOCK_BOOTTIME):
        packet.clock_snapshot.clocks.add(clock_id=clock, timestamp=time_ns)
    return packet


def _packets(track: Track, recording: str, described: set[int]) -> Iterator[pb.TracePacket]:
    process = _uuid("process", track.process, str(track.pid))
    if process not in described:
        described.add(process)
        yield _process(process, track)
    own = _uuid("recording", recording)
    packet = _descriptor(own, track.name, process)
    # Recordings of one name are not one row.
    packet.track_descriptor.sibling_merge_behavior = pb.TrackDescriptor.SIBLING_MERGE_BEHAVIOR_NONE
    yield packet
    yield _begin(track.render, own)
    for step in track.steps:
        yield _begin(step, own)
        yield _event(step.end_ns, own, pb.TrackEvent.TYPE_SLICE_END)
    yield _event(track.render.end_ns, own, pb.TrackEvent.TYPE_SLICE_END)
    for counter in track.counters:
        yield from _counter(counter, own, recording)


def _process(uuid: int, track: Track) -> pb.TracePacket:
    packet = _descriptor(uuid, track.process, None)
    if track.pid:
        packet.track_descriptor.process.pid = track.pid
        packet.track_descriptor.process.process_name = _utf8(track.process)
    return packet


def _descriptor(uuid: int, name: str, parent: int | None) -> pb.TracePacket:
    packet = pb.TracePacket()
    packet.track_descriptor.uuid = uuid
    packet.track_descriptor.name = _utf8(name)
    if parent is not None:
        packet.track_descriptor.parent_uuid = parent
    return packet


def _event(time_ns: int, track: int, type_: pb.TrackEvent.Type) -> pb.TracePacket:
    packet = pb.TracePacket(timestamp=time_ns)
    packet.track_event.type = type_
    packet.track_event.track_uuid = track
    return packet


def _begin(of: Slice, track: int) -> pb.TracePacket:
    packet = _event(of.start_ns, track, pb.TrackEvent.TYPE_SLICE_BEGIN)
    packet.track_event.name = _utf8(of.name)
    packet.track_event.categories.append("scaly")
    for key, value in of.arguments.items():
        _annotate(packet.track_event.debug_annotations.add(name=_utf8(key)), value)
    return packet


def _annotate(annotation: pb.DebugAnnotation, value: Argument) -> None:
    if isinstance(value, bool):
        annotation.bool_value = value
    elif isinstance(value, int):
        annotation.int_value = max(-_MAX_INT64, min(value, _MAX_INT64))
    elif isinstance(value, float):
        annotation.double_value = value
    else:
        annotation.string_value = _utf8(value)


def _counter(counter: Counter, parent: int, recording: str) -> Iterator[pb.TracePacket]:
    uuid = _uuid("counter", recording, counter.name)
    packet = _descriptor(uuid, counter.name, parent)
    if counter.unit == "By":
        packet.track_descriptor.counter.unit = pb.CounterDescriptor.UNIT_SIZE_BYTES
    else:
        packet.track_descriptor.counter.unit_name = counter.unit.strip("{}")
    yield packet
    for time_ns, value in counter.samples:
        event = _event(time_ns, uuid, pb.TrackEvent.TYPE_COUNTER)
        event.track_event.counter_value = min(value, _MAX_INT64)
        yield event


def _uuid(*parts: str) -> int:
    """Return a number of 64 bits that stands for ``parts``."""
    text = "\0".join(parts).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.sha256(text).digest()[:8]) or 1


def _utf8(text: str) -> str:
    """Return ``text`` as protobuf can carry it."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
