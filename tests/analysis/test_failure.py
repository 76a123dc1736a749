"""Why a render failed: each of the test programs that do, and the place that the message names."""

from __future__ import annotations

import pytest

from scaly_viz.analysis.failure import failure_of
from scaly_viz.analysis.place import Place
from scaly_viz.analysis.texts import text_of

from .recorded import record


@pytest.mark.parametrize(
    ("name", "kind", "failed_pass", "last_step", "named"),
    [
        ("casadi_matrix", "ValueError", None, "expression", "m"),
        ("high_rank", "LoweringError", "lower", "normalized:doubled", None),
        ("integer_sum", "VerifyError", "verify", "lowered", None),
        ("unsound_cast", "VerifyError", "normalize", "expression", "expr.add"),
        (
            "broken_pass",
            "BrokenPass",
            "pass:pack_workspace",
            "pass:widen_ranges",
            "function_symbols",
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


def _text_at(name: str, place: Place | None) -> str | None:
    if place is None:
        return None
    recording = record(name)
    text = text_of(recording, recording.steps[place.step], place.kind)
    return text.split("\n")[place.line - 1][place.column : place.end_column]


def test_a_render_that_worked_has_no_failure() -> None:
    assert failure_of(record("lanes_1")) is None
