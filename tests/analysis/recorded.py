"""Owns recordings of real programs for the tests of analyses, rendered once a session."""

from __future__ import annotations

from functools import cache

import scaly_viz
from programs import PROGRAMS
from scaly_viz.frontend.session import SESSION
from scaly_viz.recording import Recording
from scaly_viz.sources import load


def record(name: str) -> Recording:
    """Return the first recording of the test program ``name``, undecoded."""
    return records(name)[0]


def records(name: str) -> list[Recording]:
    """Return the recordings of the test program ``name``, which may render several functions, undecoded."""
    return [recording.undecoded() for recording in _records(name)]


@cache
def _records(name: str) -> list[Recording]:
    program = next(program for program in PROGRAMS if program.name == name)
    function = program.build()
    path = scaly_viz.recording_path()
    before = {recording.id for recording in load(path)}
    scaly_viz.visualize(function, label=name)
    program.run(function)
    SESSION.drain()  # raises what went wrong inside, as recordings() does, and decodes nothing
    return [recording for recording in load(path) if recording.id not in before]
