"""Owns the export to scaly.viz's format: the list that its ``recordings.json`` holds, as it writes it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

import msgspec

from scaly_viz.exports.chosen import Chosen
from scaly_viz.exports.formats import Options
from scaly_viz.recording import RecordingDict

_INDENT = 2


def write(chosen: Iterable[Chosen], options: Options) -> Iterator[bytes]:
    """Yield the list, recording by recording.

    An incomplete recording has ``incomplete`` and ``problems`` as well, which scaly.viz passes over;
    payloads that are no text are left out and reported.
    """
    opened = False
    for each in chosen:
        data = _without_bytes(each.recording.to_dict(), options)
        for problem in data.get("problems", [])[len(each.recording.problems) :]:
            options.report(f"{each.recording.name}: {problem}")
        yield b",\n" if opened else b"[\n"
        yield _indented(data)
        opened = True
    yield b"\n]" if opened else b"[]"


def _indented(data: RecordingDict) -> bytes:
    """Return ``data`` as ``json.dumps`` indents it within a list, which its C encoder cannot."""
    text = json.dumps([data], separators=(",", ":"))
    try:
        text = msgspec.json.format(text, indent=_INDENT)
    except msgspec.DecodeError:  # of a lone surrogate, whose escape it takes for half of one
        text = json.dumps([data], indent=_INDENT)
    return text.encode("ascii")[2:-2]


def _without_bytes(data: RecordingDict, options: Options) -> RecordingDict:
    for step in data["steps"]:
        for kind in [kind for kind, value in step.items() if isinstance(value, bytes)]:
            del step[kind]
            options.report(f"{data['name']}: {step['name']}: its {kind} is no text; it is left out")
    return data
