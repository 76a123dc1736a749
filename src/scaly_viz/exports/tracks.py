"""Owns a recording as what a trace viewer draws: nested slices with arguments, and counters over time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from scaly_viz import attributes as a
from scaly_viz.analysis.summary import FIGURES
from scaly_viz.recording import Recording, Step
from scaly_viz.span_record import AttributeValue

type Argument = str | int | float | bool

_UNITS = {attribute.key: attribute.unit for attribute in a.ATTRIBUTES}
# Differences, which say nothing as a level over time.
_LEVELS = tuple(key for key in FIGURES if key not in (a.GRAPH_ADDED, a.GRAPH_REMOVED))


@dataclass(frozen=True, slots=True)
class Slice:
    """A bar of a name, from ``start_ns`` to ``end_ns``, nanoseconds since the epoch."""

    name: str
    start_ns: int
    end_ns: int
    arguments: Mapping[str, Argument]


@dataclass(frozen=True, slots=True)
class Counter:
    """A figure over time: ``samples`` are its values from given nanoseconds on. ``unit`` follows UCUM."""

    name: str
    unit: str
    samples: list[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Track:
    """One recording: the bar of the render, those of its steps, none of which overlap, and its figures.

    ``process`` names the process that rendered, ``pid`` is its id, 0 where it is not known.
    """

    name: str
    process: str
    pid: int
    render: Slice
    steps: list[Slice]
    counters: list[Counter]


def track_of(recording: Recording) -> Track:
    """Return ``recording`` as a track; steps keep within the render, and begin where the one before ended."""
    resource = recording.head.resource
    pid = resource.get("process.pid")
    host = resource.get("host.name")
    service = str(resource.get("service.name") or "scaly")
    start, end = recording.start_ns, max(recording.start_ns, recording.end_ns)
    attributes = dict(recording.head.attributes) if recording.root else {}
    known = {"status": recording.status} | ({"error": recording.error} if recording.error else {})
    steps = [*_steps(recording, start, end)]
    return Track(
        name=recording.name,
        process=f"{service} on {host}" if host else service,
        pid=pid if isinstance(pid, int) and 0 <= pid < 1 << 31 else 0,
        render=Slice(
            f"render {recording.function}",
            start,
            end,
            _arguments(known | attributes | dict(resource)),
        ),
        steps=[each for _, each in steps],
        counters=[*_counters(steps)],
    )


def _steps(recording: Recording, start: int, end: int) -> Iterator[tuple[Step, Slice]]:
    reached = start
    for step in recording.steps:
        if step.placeholder:
            continue
        begin = min(max(step.start_ns, reached), end)
        reached = min(max(step.end_ns, begin), end)
        sizes = {f"{kind} bytes": each.size for kind, each in step.payloads.items()}
        yield step, Slice(step.name, begin, reached, _arguments(dict(step.attributes) | sizes))


def _counters(steps: list[tuple[Step, Slice]]) -> Iterator[Counter]:
    for key in _LEVELS:
        samples = [
            (place.end_ns, value)
            for step, place in steps
            if (value := step.figure(key)) is not None
        ]
        if samples:
            name = key.removeprefix("scaly.").removeprefix("program.").replace(".", " ")
            yield Counter(name.replace("_", " "), _UNITS[key], samples)


def _arguments(attributes: Mapping[str, AttributeValue]) -> dict[str, Argument]:
    return {
        key: value if isinstance(value, str | bool | int | float) else _listed(value)
        for key, value in attributes.items()
        if value is not None and not key.endswith(a.JSON_SUFFIX)
    }


def _listed(value: AttributeValue) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
