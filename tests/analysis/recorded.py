"""Owns recordings of real programs for the tests of analyses, rendered once a session."""

from __future__ import annotations

from functools import cache

import scaly_viz
from programs import PROGRAMS
from scaly_viz.recording import Recording
from scaly_viz.sources import load


def record(name: str) -> Recording:
    """Render the test program ``name`` and return its recording, undecoded."""
    return _record(name).undecoded()


@cache
def _record(name: str) -> Recording:
    program = next(program for program in PROGRAMS if program.name == name)
    function = program.build()
    scaly_viz.visualize(function, label=name)
    path = scaly_viz.recording_path()
    before = {recording.id for recording in load(path)}
    try:
        program.render(function)
    except Exception as error:
        assert type(error).__name__ == program.error  # noqa: PT017 - what it raises is its own
    assert scaly_viz.flush()
    return next(recording for recording in load(path) if recording.id not in before)
