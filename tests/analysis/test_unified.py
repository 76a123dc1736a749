"""The unified form of a difference: what ``diff -u`` would say, and what ``patch`` can apply."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from scaly_viz.analysis.diff import diff_lines
from scaly_viz.analysis.unified import DiffLine, Hunk, hunks

LETTERS = [*"abcdefghijklmnop"]

texts = st.lists(st.sampled_from(["a", "b", "c", "x1 = y2", "x2 = y1", ""]), max_size=12)


def of(
    left: Sequence[str], right: Sequence[str], context: int = 3, *, exact: bool = True
) -> list[Hunk]:
    diff = diff_lines(left, right, "exact" if exact else "ignore")
    return [*hunks(left, right, diff, context)]


def shown(hunk: Hunk) -> list[str]:
    return [hunk.head, *(line.tag + line.text for line in hunk.lines)]


def patched(left: Sequence[str], found: Sequence[Hunk]) -> list[str]:
    """Apply hunks as patch does, and insist that all they say of the left side is true."""
    result: list[str] = []
    at = 0
    for hunk in found:
        start, count = hunk.left
        first = start - 1 if count else start
        result += left[at:first]
        assert len(result) == (hunk.right[0] - 1 if hunk.right[1] else hunk.right[0])
        old = [line.text for line in hunk.lines if line.tag in " -"]
        assert left[first : first + count] == old
        new = [line.text for line in hunk.lines if line.tag in " +"]
        assert len(new) == hunk.right[1]
        result += new
        at = first + count
    return [*result, *left[at:]]


def test_a_hunk_has_three_lines_around_a_change() -> None:
    right = [*LETTERS]
    right[8:9] = ["I", "J"]
    (hunk,) = of(LETTERS, right)
    expected = ["@@ -6,7 +6,8 @@", " f", " g", " h", "-i", "+I", "+J", " j", " k", " l"]
    assert shown(hunk) == expected
    assert shown(hunk) == [*difflib.unified_diff(LETTERS, right, lineterm="")][2:]


def test_changes_that_are_near_share_a_hunk_and_others_do_not() -> None:
    right = [*LETTERS]
    right[2] = "C"
    right[9] = "J"
    assert [hunk.head for hunk in of(LETTERS, right)] == ["@@ -1,13 +1,13 @@"]
    heads = [hunk.head for hunk in of(LETTERS, right, context=2)]
    assert heads == ["@@ -1,5 +1,5 @@", "@@ -8,5 +8,5 @@"]
    assert [shown(hunk) for hunk in of(LETTERS, right, context=0)] == [
        ["@@ -3 +3 @@", "-c", "+C"],
        ["@@ -10 +10 @@", "-j", "+J"],
    ]


def test_from_nothing_and_to_nothing() -> None:
    assert [shown(hunk) for hunk in of([], ["a", "b"])] == [["@@ -0,0 +1,2 @@", "+a", "+b"]]
    assert [shown(hunk) for hunk in of(["a"], [])] == [["@@ -1 +0,0 @@", "-a"]]
    assert of(["a"], ["a"]) == []


def test_what_moved_is_told_apart() -> None:
    block = ["for i in [0, 4):", "  total <- (total + x[i])", "  last <- x[i]"]
    rest = [f"y[{letter}] <- {letter}" for letter in LETTERS]
    found = of([*block, *rest], [*rest, *block])
    assert {line for hunk in found for line in hunk.lines if line.tag != " "} == {
        DiffLine(tag, text, moved=True) for tag in ("-", "+") for text in block
    }


def test_what_was_only_renumbered_is_context() -> None:
    left = ["  %v1 = prog.load %x[0]", "  %v2 = prog.sin(%v1)", "  prog.store %v2, %y[0]"]
    right = ["  %v7 = prog.load %x[0]", "  %v8 = prog.sin(%v7)", "  prog.store %v8, %z[0]"]
    (hunk,) = of(left, right, exact=False)
    assert shown(hunk)[1:3] == [" " + right[0], " " + right[1]]
    assert len(of(left, right)[0].lines) == 6


@given(texts, texts, st.integers(0, 3))
def test_an_exact_diff_is_a_patch(left: list[str], right: list[str], context: int) -> None:
    assert patched(left, of(left, right, context)) == right
