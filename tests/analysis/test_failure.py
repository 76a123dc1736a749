"""Why a render failed: each of the test programs that do, and the place that the message names."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import pytest
from scaly.codegen.aot import render_c_source
from scaly.passes import program as program_passes

import scaly_viz
from programs.failing import BrokenPass, fails_in_a_pass, render_broken
from scaly_viz.analysis.failure import failure_of
from scaly_viz.analysis.place import Place
from scaly_viz.analysis.texts import text_of
from scaly_viz.sources import load

from .recorded import record

OLD = version("scaly") == "0.1.0a1"


@pytest.mark.parametrize(
    ("name", "kind", "failed_pass", "last_step", "named"),
    [
        ("casadi_matrix", "ValueError", None, "expression", "m"),
        ("high_rank", "LoweringError", "lower", "normalized:doubled", None),
        ("integer_sum", "VerifyError", "verify", "lowered", None),
        # scaly 0.1.0a1 renders this one, and its programs do not tell of their symbols.
        *(() if OLD else (("unsound_cast", "VerifyError", "normalize", "expression", "expr.add"),)),
        (
            "broken_pass",
            "BrokenPass",
            "pass:pack_workspace",
            "pass:widen_ranges",
            None if OLD else "function_symbols",
        ),
        ("conflicting_oracles", "ValueError", "emit C", "pass:coalesce_stores", None),
    ],
)
def test_a_failed_render_says_where_and_why(
    name: str, kind: str, failed_pass: str | None, last_step: str, named: str | None
) -> None:
    recording = record(name)
    failure = failure_of(recording)

    assert failure is not None
    assert failure.type.rpartition(".")[2] == kind
    assert failure.message in str(recording.root and recording.root.status_message)
    assert failure.stacktrace.startswith("Traceback (most recent call last):\n")
    assert failure.failed_pass == failed_pass
    step = recording.steps[failure.last_step or 0]
    assert step.name == last_step
    assert _text_at(name, failure.place) == named


PASSES = [name for name, _ in program_passes.PASS_PIPELINE]


@pytest.mark.parametrize("name", PASSES)
def test_any_pass_that_fails_is_named_by_the_recording_itself(name: str) -> None:
    # Of vector lanes there is no prepare_scalar in the pipeline's own place.
    assert _failed(lambda function: render_broken(function, name, lanes=1)) == f"pass:{name}"


@pytest.mark.parametrize(
    ("function", "name"),
    [
        ("hoist_reciprocals", "hoist_reciprocals"),
        ("prepare_scalar_expressions", "prepare_scalar"),
        ("widen_ranges", "widen_ranges"),
    ],
)
def test_a_pass_that_options_insert_is_named_too(
    function: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise BrokenPass(function)

    monkeypatch.setattr(program_passes, function, fail)
    assert _failed(lambda each: render_c_source(each, lanes=4, reciprocal=True)) == f"pass:{name}"


def _failed(render: Callable[[Any], object]) -> str | None:
    """The pass that a recording of a failing ``render`` says it failed in."""
    function = fails_in_a_pass()
    scaly_viz.visualize(function)
    with pytest.raises(BrokenPass):
        render(function)
    scaly_viz.recordings()
    (recording,) = load(scaly_viz.recording_path())
    failure = failure_of(recording)
    return failure.failed_pass if failure is not None else None


def _text_at(name: str, place: Place | None) -> str | None:
    if place is None:
        return None
    recording = record(name)
    text = text_of(recording, recording.steps[place.step], place.kind)
    return text.split("\n")[place.line - 1][place.column : place.end_column]


def test_a_render_that_worked_has_no_failure() -> None:
    assert failure_of(record("lanes_1")) is None
