"""Owns the promise that a recording holds what scaly.viz records of the same render, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pytest
import scaly.viz

import scaly_viz
from programs import PROGRAMS, Program
from scaly_viz.analysis.summary import summarize_steps
from scaly_viz.sources import load


@pytest.fixture(autouse=True)
def empty_scaly_viz() -> Iterator[None]:
    scaly.viz.clear_recordings()
    yield
    scaly.viz.clear_recordings()


def _same(recording: dict[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in recording.items() if k not in ("id", "started_at")}


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_a_recording_equals_what_scaly_viz_records_of_the_same_render(program: Program) -> None:
    label = "a label" if len(program.name) % 2 else None
    function = program.build()
    scaly_viz.visualize(function, label=label)
    scaly.viz.visualize_function(getattr(function, "function", function), label=label)
    program.run(function)

    theirs = [_same(recording) for recording in scaly.viz.recordings()]
    assert theirs, "scaly.viz recorded nothing to compare with"
    assert [_same(recording) for recording in scaly_viz.recordings()] == theirs
    assert [_same(recording) for recording in scaly_viz.load_recordings()] == theirs
    from_theirs = load(scaly.viz.recording_path())
    assert [_same(recording.to_dict()) for recording in from_theirs] == theirs
    for recording, expected in zip(load(scaly_viz.recording_path()), theirs, strict=True):
        changed = [step.changed for step in summarize_steps(recording)]
        assert changed == list(_changed(expected["steps"])), "where texts are as before"


def _changed(steps: Iterable[dict[str, Any]]) -> Iterator[bool]:
    """Tell of each step whether it has something else than the one before in its dialect."""
    before: dict[str, dict[str, Any]] = {}
    for step in steps:
        content = {k: v for k, v in step.items() if k not in ("name", "phase")}
        yield content != before.get(step["dialect"])
        before[step["dialect"]] = content
