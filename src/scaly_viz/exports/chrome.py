"""Owns the export to Chrome's trace JSON ("Trace Event Format"), which ui.perfetto.dev opens as well.

https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

from scaly_viz.exports.chosen import Chosen
from scaly_viz.exports.formats import Options
from scaly_viz.exports.tracks import Argument, Slice, Track, track_of

type Event = dict[str, object]


def write(chosen: Iterable[Chosen], options: Options) -> Iterator[bytes]:
    """Yield the trace: a process a process, a thread a recording, times from the first render on."""
    tracks = [track_of(each.recording) for each in chosen]
    origin = min((track.render.start_ns for track in tracks), default=0)
    yield b'{"displayTimeUnit":"ms",'
    yield b'"otherData":' + _encoded({"begin": _date(origin), "begin_ns": str(origin)})
    yield b',"traceEvents":[\n'
    opened = False
    for event in _events(tracks, origin):
        yield (b",\n" if opened else b"") + _encoded(event)
        opened = True
    yield b"\n]}\n"


def _events(tracks: list[Track], origin: int) -> Iterator[Event]:
    processes: dict[tuple[str, int], int] = {}
    for thread, track in enumerate(tracks, start=1):
        key = (track.process, track.pid)
        pid = processes.get(key)
        if pid is None:
            # Two machines may have processes of the same id.
            taken = track.pid in processes.values()
            pid = max(processes.values()) + 1 if taken else track.pid
            processes[key] = pid
            yield _named("process_name", pid, 0, track.process)
        yield _named("thread_name", pid, thread, track.name)
        for each in (track.render, *track.steps):
            yield _slice(each, pid, thread, origin)
        for counter in track.counters:
            name = counter.name if len(tracks) == 1 else f"{counter.name} ({thread} {track.name})"
            for time_ns, value in counter.samples:
                yield {
                    "ph": "C",
                    "pid": pid,
                    "tid": thread,
                    "name": name,
                    "ts": _microseconds(time_ns - origin),
                    "args": {counter.unit.strip("{}") or "value": value},
                }


def _named(what: str, pid: int, thread: int, name: str) -> Event:
    return {"ph": "M", "pid": pid, "tid": thread, "name": what, "args": {"name": name}}


def _slice(of: Slice, pid: int, thread: int, origin: int) -> Event:
    arguments: dict[str, Argument] = dict(of.arguments)
    return {
        "ph": "X",
        "pid": pid,
        "tid": thread,
        "cat": "scaly",
        "name": of.name,
        "ts": _microseconds(of.start_ns - origin),
        "dur": _microseconds(of.end_ns - of.start_ns),
        "args": arguments,
    }


def _microseconds(time_ns: int) -> float:
    return time_ns / 1_000


def _date(time_ns: int) -> str:
    try:
        return datetime.fromtimestamp(time_ns / 1e9, UTC).isoformat()
    except (OverflowError, ValueError, OSError):  # what no calendar has
        return ""


def _encoded(value: object) -> bytes:
    # ASCII, in which lone surrogates are escapes; JSON has no infinity.
    return json.dumps(_finite(value), separators=(",", ":")).encode()


def _finite(value: object) -> object:
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, float) and value - value != 0:
        return str(value)
    return value
