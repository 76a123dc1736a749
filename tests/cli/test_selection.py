"""Owns the tests of how a recording and a step are named."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from scaly_viz.cli.selection import select_recording, select_step
from scaly_viz.errors import ScalyVizError
from scaly_viz.recording import Recording
from scaly_viz.scaly_viz_dict import from_dict

STEPS = (
    "expression",
    "normalized:f",
    "lowered",
    "pass:fold_arith",
    "pass:fuse_ranges",
    "pass:fold_arith_after_unroll",
    "pass:fuse_ranges",
    "generated C",
)


def recording(id_: str, name: str, function: str, steps: Sequence[str] = STEPS) -> Recording:
    listed = [{"name": step, "phase": "", "dialect": ""} for step in steps]
    return from_dict({"id": id_, "name": name, "function": function, "steps": listed}, "test")


RECORDINGS = [
    recording("ab10", "first", "f"),
    recording("ab20", "Tuned weights", "f"),
    recording("cd30", "cartpole", "cartpole"),
    recording("0777", "cartpole", "cartpole"),
    recording("e", "last one", "g"),
]


@pytest.mark.parametrize(
    ("word", "id_"),
    [
        ("last", "e"),
        ("1", "ab10"),
        ("5", "e"),
        ("-1", "e"),
        ("-5", "ab10"),
        ("ab10", "ab10"),
        ("ab2", "ab20"),
        ("AB2", "ab20"),
        ("0777", "0777"),
        ("07", "0777"),
        ("f", "ab20"),
        ("first", "ab10"),
        ("cartpole", "0777"),
        ("weights", "ab20"),
        ("TUNED*", "ab20"),
        ("c", "cd30"),
        ("g", "e"),
    ],
)
def test_a_word_names_a_recording(word: str, id_: str) -> None:
    assert select_recording(RECORDINGS, word).id == id_


def test_a_start_of_several_ids_is_answered_with_them() -> None:
    with pytest.raises(ScalyVizError) as error:
        select_recording(RECORDINGS, "ab")
    assert str(error.value) == (
        "the ids of 2 recordings start with 'ab': ab20 (Tuned weights), ab10 (first)"
    )


@pytest.mark.parametrize("word", ["6", "-6", "00", "", "nothing", "--"])
def test_a_word_that_names_no_recording_is_refused(word: str) -> None:
    with pytest.raises(ScalyVizError) as error:
        select_recording(RECORDINGS, word)
    assert str(error.value) == (
        f"no recording is called {word!r}; there are 5, 1 to 5: scaly-viz list"
    )


def test_a_step_given_as_the_recording_is_recognized() -> None:
    with pytest.raises(
        ScalyVizError, match=r"; for that step of the newest: scaly-viz show last lowered$"
    ):
        select_recording(RECORDINGS, "lowered")


@pytest.mark.parametrize(
    ("word", "index"),
    [
        ("0", 0),
        ("7", 7),
        ("-1", 7),
        ("-8", 0),
        ("lowered", 2),
        ("pass:fold_arith", 3),
        ("fold_arith", 3),
        ("fold_arith_after_unroll", 5),
        ("after", 5),
        ("f", 1),
        ("generated", 7),
        ("*ress*", 0),
        ("LOWER", 2),
    ],
)
def test_a_word_names_a_step(word: str, index: int) -> None:
    assert select_step(RECORDINGS[0], word).index == index


@pytest.mark.parametrize("word", ["8", "-9", "", "nothing"])
def test_a_word_that_names_no_step_is_answered_with_the_steps(word: str) -> None:
    with pytest.raises(ScalyVizError) as error:
        select_step(RECORDINGS[0], word)
    assert str(error.value) == (
        f"first has no step {word!r}; its steps are: 0 expression, 1 normalized:f, 2 lowered,"
        " 3 pass:fold_arith, 4 pass:fuse_ranges, 5 pass:fold_arith_after_unroll,"
        " 6 pass:fuse_ranges, 7 generated C"
    )


@pytest.mark.parametrize("word", ["fuse_ranges", "pass:fuse_ranges", "fuse"])
def test_a_word_that_names_several_steps_is_answered_with_them(word: str) -> None:
    with pytest.raises(ScalyVizError) as error:
        select_step(RECORDINGS[0], word)
    assert str(error.value) == f"{word!r} may be 2 steps: 4 pass:fuse_ranges, 6 pass:fuse_ranges"


def test_a_recording_without_steps_says_so() -> None:
    with pytest.raises(ScalyVizError, match="its steps are: none"):
        select_step(recording("a", "a", "a", ()), "0")
