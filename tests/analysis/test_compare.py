"""Two recordings side by side: which steps correspond, and where they part."""

from __future__ import annotations

from importlib.metadata import version

from scaly_viz.analysis.compare import compare

from .recorded import record

# scaly 0.1.0a1 has no pass pack_masks.
FIRST = 14 if version("scaly") == "0.1.0a1" else 15


def test_two_renders_of_one_function_part_at_the_pass_that_only_one_has() -> None:
    compared = compare(record("lanes_1"), record("lanes_4"))

    aligned = [(step.left, step.right, step.name) for step in compared.steps if not step.same]
    assert aligned == [
        (None, FIRST, "pass:widen_ranges"),
        (FIRST, FIRST + 1, "pass:pack_workspace"),
        (FIRST + 1, FIRST + 2, "pass:coalesce_stores"),
        (FIRST + 2, None, "pass:prepare_scalar"),
        (FIRST + 3, FIRST + 3, "generated C"),
    ]
    assert compared.first_diverging == FIRST
    assert [step.first_divergence for step in compared.steps].index(True) == FIRST
    assert [step.kinds for step in compared.steps if step.name == "generated C"] == [["code"]]
    rows = {row.key: row for row in compared.rows}
    assert rows["function"].same
    assert (rows["label"].left, rows["label"].right) == ("lanes_1", "lanes_4")
    assert rows["signature"].left == (
        "softmax(%x: tensor<9xfloat64 diff>, %scale: tensor<float64 diff>)"
        " -> (%p: tensor<9xfloat64 diff>, %entropy: tensor<float64 diff>)"
    )
    assert rows["scaly.program.flops"].same
    assert (rows["scaly.program.loops"].left, rows["scaly.program.loops"].right) == (5, 8)


def test_a_recording_is_the_same_as_itself() -> None:
    compared = compare(record("lanes_1"), record("lanes_1"))
    assert compared.first_diverging is None
    assert all(step.same and step.left == step.right for step in compared.steps)
    assert all(row.same for row in compared.rows)


def test_a_render_that_failed_parts_where_it_failed() -> None:
    compared = compare(record("broken_pass"), record("broken_pass"))
    assert compared.first_diverging is None
    whole = compare(record("broken_pass"), record("high_rank"))
    assert whole.first_diverging == 0
