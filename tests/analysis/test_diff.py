"""The difference of two texts: right to the line, quiet about numbering, told apart from moves."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from scaly_viz.analysis.alignment import align
from scaly_viz.analysis.diff import (
    Chunk,
    Numbering,
    TextDiff,
    aligned_lines,
    diff_lines,
    diff_texts,
)

BEFORE = """\
prog.proc @f(%x: memref<4xfloat64>, %y: memref<4xfloat64>) {
  %v0 = prog.assign prog.load %x[0] : float64
  %v1 = prog.assign prog.mul(2, %v0) : float64
  %v2 = prog.assign prog.sin(%v1) : float64
  prog.store prog.add(%v1, %v2), %y[0] : float64
}"""

lines = st.lists(
    st.sampled_from(
        ["a b c", "  a b c", "}", "", "%v1 = f(%v2)", "%v2 = f(%v3)", "%v3 = f(%v2)", "x1 = x2"]
    ),
    max_size=12,
)
numberings = st.sampled_from(["ignore", "exact"])


def changed(diff: TextDiff) -> list[Chunk]:
    return [chunk for chunk in diff.chunks if chunk.op != "renumber"]


def applied(left: Sequence[str], right: Sequence[str], chunks: Sequence[Chunk]) -> list[str]:
    """What becomes of ``left`` where each chunk's lines are replaced by those of ``right``."""
    result: list[str] = []
    at = 1
    for chunk in chunks:
        result += left[at - 1 : chunk.left[0] - 1]
        result += right[chunk.right[0] - 1 : chunk.right[1] - 1]
        at = chunk.left[1]
    return [*result, *left[at - 1 :]]


def test_equal_texts_have_no_chunks() -> None:
    diff = diff_texts(BEFORE, BEFORE)
    assert diff == TextDiff(6, 6, [], 0, 0, 0, 0, identical=True)


def test_a_changed_line_is_replaced() -> None:
    diff = diff_texts("a\nb\nc", "a\nB\nc")
    assert diff.chunks == [Chunk((2, 3), (2, 3), "replace")]
    assert (diff.added, diff.removed, diff.identical) == (1, 1, False)


def test_inserted_and_deleted_lines_are_half_open_ranges_counted_from_one() -> None:
    assert diff_texts("a\nc", "a\nb\nc").chunks == [Chunk((2, 2), (2, 3), "insert")]
    assert diff_texts("a\nb\nc", "a\nc").chunks == [Chunk((2, 3), (2, 2), "delete")]


def test_an_empty_text_has_one_empty_line() -> None:
    diff = diff_texts("", "a\n")
    assert (diff.left_lines, diff.right_lines) == (1, 2)
    assert diff.chunks == [Chunk((1, 1), (1, 2), "insert")]


def test_lines_break_as_in_an_editor() -> None:
    assert diff_texts("a\r\nb\rc", "a\nb\nc").identical
    assert diff_texts("a\u2028b", "a\u2028c").left_lines == 1


def test_an_inserted_line_that_renumbers_all_that_follow_is_one_inserted_line() -> None:
    after = """\
prog.proc @f(%x: memref<4xfloat64>, %y: memref<4xfloat64>) {
  %v0 = prog.assign prog.load %x[0] : float64
  %v1 = prog.assign prog.load %x[1] : float64
  %v2 = prog.assign prog.mul(2, %v0) : float64
  %v3 = prog.assign prog.sin(%v2) : float64
  prog.store prog.add(%v2, %v3), %y[0] : float64
}"""
    diff = diff_texts(BEFORE, after)
    assert changed(diff) == [Chunk((3, 3), (3, 4), "insert")]
    assert (diff.added, diff.removed, diff.renumbered) == (1, 0, 3)


def test_numbers_count_where_they_are_asked_for() -> None:
    after = BEFORE.replace("%v2", "%v9")
    assert changed(diff_texts(BEFORE, after)) == []
    exact = diff_texts(BEFORE, after, "exact")
    assert exact.chunks == [Chunk((4, 6), (4, 6), "replace")]
    assert (exact.added, exact.removed, exact.renumbered) == (2, 2, 0)


def test_a_value_in_the_place_of_another_is_no_renumbering() -> None:
    after = BEFORE.replace("prog.add(%v1, %v2)", "prog.add(%v2, %v1)")
    assert changed(diff_texts(BEFORE, after)) == [Chunk((5, 6), (5, 6), "replace")]


def test_a_name_that_a_user_gave_is_no_number() -> None:
    before = "expr.add(x0, x1)\nexpr.neg(x1)"
    diff = diff_texts(before, before.replace("x1", "x2"))
    assert changed(diff) == [Chunk((1, 3), (1, 3), "replace")]


def test_a_type_is_no_number() -> None:
    before = "double2 v1 = load(x);\nfloat64 v2 = v1;"
    after = "double4 v1 = load(x);\nfloat32 v2 = v1;"
    assert changed(diff_texts(before, after)) == [Chunk((1, 3), (1, 3), "replace")]


def test_a_workspace_slot_in_the_place_of_a_temporary_is_a_renumbering() -> None:
    before = "%t3 = prog.buffer : memref<9xfloat64>\nprog.store 1, %t3[0] : float64"
    assert diff_texts(before, before.replace("t3", "s0")).chunks == [
        Chunk((1, 3), (1, 3), "renumber")
    ]


def test_each_procedure_has_its_own_numbers() -> None:
    one = "prog.proc @f() {\n  %v1 = prog.sin(%v0)\n}"
    two = "prog.proc @g() {\n  %v1 = prog.cos(%v0)\n}"
    after = f"{one.replace('%v1', '%v5')}\n{two.replace('%v1', '%v7')}"
    assert changed(diff_texts(f"{one}\n{two}", after)) == []


@pytest.mark.parametrize("numbering", ["ignore", "exact"])
def test_a_block_that_moved_is_neither_added_nor_removed(numbering: Numbering) -> None:
    block = "for i in range(n):\n  first = load(i)\n  second = store(i)"
    rest = "alpha = beta + gamma\ndelta = one + two\nomega = last one here"
    diff = diff_texts(f"{block}\n{rest}", f"{rest}\n{block}", numbering)
    assert diff.chunks == [
        Chunk((1, 4), (1, 1), "move", 0),
        Chunk((7, 7), (4, 7), "move", 0),
    ]
    assert (diff.added, diff.removed, diff.moved) == (0, 0, 3)


def test_a_line_that_left_its_loop_moved_whatever_its_indentation() -> None:
    before = "for i {\n  %v4 = prog.mul(%a, %b)\n  store %v4\n}"
    after = "%v0 = prog.mul(%a, %b)\nfor i {\n  store %v0\n}"
    diff = diff_texts(before, after)
    assert [chunk.op for chunk in diff.chunks] == ["move", "move", "renumber"]
    assert (diff.added, diff.removed, diff.moved) == (0, 0, 1)


def test_a_short_line_is_not_followed() -> None:
    diff = diff_texts("}\na\nb\nc", "a\nb\nc\n}")
    assert (diff.added, diff.removed, diff.moved) == (1, 1, 0)


def test_a_loop_that_came_is_told_from_its_head() -> None:
    loop = "  for {\n    body here\n  }\n"
    diff = diff_texts(f"f() {{\n{loop}}}", f"f() {{\n{loop}{loop}}}")
    assert diff.chunks == [Chunk((5, 5), (5, 8), "insert")]


def test_lines_are_followed_through_moves_and_numbers() -> None:
    left = ["%v1 = f(%x, 1, 2)", "middle part here", "other part here"]
    right = ["middle part here", "new", "other part here", "%v7 = f(%x, 1, 2)"]
    assert aligned_lines(left, right) == [3, 0, 2]


@given(lines, lines, numberings)
def test_the_chunks_turn_left_into_right(
    left: list[str], right: list[str], numbering: Numbering
) -> None:
    assert applied(left, right, diff_lines(left, right, numbering).chunks) == right


@given(lines, lines, numberings)
def test_chunks_ascend_and_say_what_they_are(
    left: list[str], right: list[str], numbering: Numbering
) -> None:
    at_left = at_right = 1
    for chunk in diff_lines(left, right, numbering).chunks:
        (i, i_end), (j, j_end) = chunk.left, chunk.right
        assert i - at_left == j - at_right >= 0
        assert left[at_left - 1 : i - 1] == right[at_right - 1 : j - 1]
        match chunk.op:
            case "insert":
                assert i == i_end
                assert j < j_end
            case "delete":
                assert i < i_end
                assert j == j_end
            case "replace":
                assert i < i_end
                assert j < j_end
            case "renumber":
                assert numbering == "ignore"
                assert i_end - i == j_end - j > 0
            case "move":
                assert (i == i_end) != (j == j_end)
        assert (chunk.move is None) == (chunk.op != "move")
        at_left, at_right = i_end, j_end
    assert left[at_left - 1 :] == right[at_right - 1 :]


@given(lines, lines, numberings)
def test_what_moved_is_the_same_in_both_places(
    left: list[str], right: list[str], numbering: Numbering
) -> None:
    gone: dict[int | None, list[str]] = {}
    came: dict[int | None, list[str]] = {}
    for chunk in diff_lines(left, right, numbering).chunks:
        if chunk.op == "move":
            gone.setdefault(chunk.move, []).extend(left[chunk.left[0] - 1 : chunk.left[1] - 1])
            came.setdefault(chunk.move, []).extend(right[chunk.right[0] - 1 : chunk.right[1] - 1])
    assert gone.keys() == came.keys()
    for move, block in gone.items():
        assert len(block) == len(came[move])
        if numbering == "exact":
            assert [line.strip() for line in block] == [line.strip() for line in came[move]]


@given(st.lists(st.integers(0, 5), max_size=30), st.lists(st.integers(0, 5), max_size=30))
def test_aligned_items_are_equal_and_in_order(left: list[int], right: list[int]) -> None:
    blocks = align(left, right)
    assert all(left[i : i + n] == right[j : j + n] and n for i, j, n in blocks)
    for (i, j, n), (next_i, next_j, _) in itertools.pairwise(blocks):
        assert i + n <= next_i
        assert j + n <= next_j


@given(st.text("%v1=·(), \n", max_size=60), st.text("%v1=·(), \n", max_size=60))
def test_a_text_that_has_our_own_sign_in_it_is_compared_rightly(left: str, right: str) -> None:
    diff = diff_texts(left, right)
    assert applied(left.split("\n"), right.split("\n"), diff.chunks) == right.split("\n")


def test_a_hundred_thousand_equal_lines_are_compared() -> None:
    diff = diff_texts("x = f(v1)\n" * 100_000, "x = f(v1)\n" * 90_000)
    assert (diff.added, diff.removed) == (0, 10_000)


def test_a_line_of_ten_million_characters_is_compared() -> None:
    diff = diff_texts("%v1 " * 2_500_000, "%v2 " * 2_500_000)
    assert diff.chunks == [Chunk((1, 2), (1, 2), "replace")]


def test_many_lines_of_two_kinds_are_compared() -> None:
    left, right = ["a", "b"] * 30_000, ["b", "a", "a"] * 20_000
    assert applied(left, right, diff_lines(left, right).chunks) == right


numbered = st.lists(
    st.builds("{}(%v{}, %v{})".format, st.sampled_from("ab"), st.integers(0, 3), st.integers(0, 3)),
    max_size=6,
)


@example(["c(%v1, %v3)", "c(%v3, %v3)"], ["c(%v3, %v3)", "%v3 = a(%v1)"], 1)
@given(numbered, numbered, st.integers(1, 3))
def test_ignoring_numbers_never_shows_more_changed_lines(
    left: list[str], right: list[str], copies: int
) -> None:
    ignoring = diff_lines(left * copies, right * copies, "ignore")
    exact = diff_lines(left * copies, right * copies, "exact")
    assert ignoring.added + ignoring.removed <= exact.added + exact.removed


@pytest.mark.parametrize(("block", "moved"), [(1, 0), (10, 9_990)])
def test_a_text_that_was_shuffled_is_replaced_and_has_no_thousands_of_moves(
    block: int, moved: int
) -> None:
    lines = [f"alpha beta {at} gamma" for at in range(10_000)]
    blocks = [lines[at : at + block] for at in range(0, len(lines), block)][::-1]
    diff = diff_lines(lines, list(itertools.chain.from_iterable(blocks)))
    assert diff.moved == moved
    assert (diff.added, len(diff.chunks)) == ((9_999, 2) if moved == 0 else (0, 1_998))
