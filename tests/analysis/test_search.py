"""Search in the texts of a recording: counts a step, places to the column, bounded work."""

from __future__ import annotations

import pytest

from scaly_viz.analysis.search import Hit, Query, SearchError, SearchResult, StepHits, search
from scaly_viz.scaly_viz_dict import from_dict


def found(query: Query, *texts: str, seconds: float = 5.0) -> SearchResult:
    steps = [{"name": f"step {i}", "listing": text} for i, text in enumerate(texts)]
    return search(from_dict({"id": "1", "steps": steps}, "memory"), query, seconds=seconds)


def test_each_text_has_its_count_and_places() -> None:
    result = found(Query("sin"), "a sin\n sin(sin)", "cos", "a sin\n sin(sin)")
    assert result.steps == [
        StepHits(
            0,
            "listing",
            3,
            [
                Hit(1, 2, 5, "a sin", 0),
                Hit(2, 1, 4, " sin(sin)", 0),
                Hit(2, 5, 8, " sin(sin)", 0),
            ],
            name="step 0",
        ),
        StepHits(2, "listing", 3, [], same_as=0, name="step 2"),
    ]
    assert (result.count, result.truncated, result.skipped) == (6, False, [])


def test_capitals_matter_where_it_is_asked_for() -> None:
    assert found(Query("SIN"), "sin Sin SIN").count == 3
    assert found(Query("SIN", matches_case=True), "sin Sin SIN").count == 1


def test_a_string_is_no_expression_unless_it_is_asked_for() -> None:
    assert found(Query("a.c [x"), "abc [x a.c [x").count == 1
    assert found(Query("a.c", is_regex=True), "abc\na.c").count == 2
    assert found(Query("^b$", is_regex=True), "a\nb\nc").steps[0].hits[0].line == 2
    assert found(Query("x*", is_regex=True), "axxb").count == 1


def test_columns_count_as_browsers_do() -> None:
    (hit,) = found(Query("v1"), "\U0001d4e7 v1").steps[0].hits
    assert (hit.column, hit.end_column) == (3, 5)


def test_a_long_line_is_shown_around_the_hit() -> None:
    (hit,) = found(Query("here"), "x" * 1000 + "here" + "y" * 1000).steps[0].hits
    assert (hit.line, hit.column, hit.end_column) == (1, 1000, 1004)
    assert hit.text == "x" * 60 + "here" + "y" * 176
    assert hit.text_column == 940


def test_a_hit_over_several_lines_ends_with_the_first() -> None:
    (hit,) = found(Query(r"b\nc", is_regex=True), "ab\ncd").steps[0].hits
    assert (hit.line, hit.column, hit.end_column, hit.text) == (1, 1, 2, "ab")


def test_only_the_first_hits_are_shown_but_all_are_counted() -> None:
    (step,) = found(Query("a"), "a\n" * 1000).steps
    assert (step.count, len(step.hits)) == (1000, 50)


def test_kinds_can_be_chosen() -> None:
    assert found(Query("a", kinds=["assembly"]), "a").steps == []
    assert found(Query("a", kinds=["listing"]), "a").count == 1


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (Query(""), "there is nothing to search for"),
        (Query("(", is_regex=True), "( is no regular expression: "),
        (Query("x" * 1001), "what is searched for has more than 1,000 characters"),
    ],
)
def test_what_cannot_be_searched_for_is_told(query: Query, message: str) -> None:
    with pytest.raises(SearchError) as raised:
        found(query, "a")
    assert str(raised.value).startswith(message)


def test_an_expression_that_never_ends_is_given_up() -> None:
    with pytest.raises(SearchError, match="takes too long"):
        found(Query(r"(a|aa)+$", is_regex=True), "a" * 60 + "b", seconds=0.3)


def test_a_search_without_time_says_so() -> None:
    assert found(Query("a"), "a", seconds=-1).truncated
