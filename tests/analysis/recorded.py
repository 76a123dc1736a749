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
    before = {recording["id"] for recording in scaly_viz.recordings()}
    try:
        program.render(function)
    except Exception as error:
        assert type(error).__name__ == program.error  # noqa: PT017 - what it raises is its own
    new = [each["id"] for each in scaly_viz.recordings() if each["id"] not in before]
    return next(each for each in load(scaly_viz.recording_path()) if each.id == new[0])
