"""Which recordings of two sides are compared with each other."""

from __future__ import annotations

from scaly_viz.analysis.matching import Matching, match
from scaly_viz.analysis.summary import RecordingSummary, summarize
from scaly_viz.scaly_viz_dict import from_dict


def recordings(*named: str) -> list[RecordingSummary]:
    """Recordings given as ``function`` or ``function label``, oldest first."""
    return [
        summarize(
            from_dict(
                {"id": f"{i}", "function": name.split()[0], "name": name.split()[-1], "steps": []},
                "test",
            )
        )
        for i, name in enumerate(named)
    ]


def found(matching: Matching) -> list[tuple[str, str, str]]:
    return [(p.base.latest.id, p.new.latest.id, p.matched_by) for p in matching.pairs]


def left(matching: Matching) -> tuple[list[str], list[str]]:
    return tuple(  # type: ignore[return-value]  # of two comes two
        [group.latest.name for group in side] for side in (matching.only_base, matching.only_new)
    )


def test_function_and_label_match_and_of_several_the_latest() -> None:
    matching = match(recordings("f", "g a", "g b", "f"), recordings("g b", "f", "g a", "g a"))
    assert found(matching) == [
        ("3", "1", "function and label"),
        ("1", "3", "function and label"),
        ("2", "0", "function and label"),
    ]
    assert [len(pair.new.recordings) for pair in matching.pairs] == [1, 2, 1]
    assert left(matching) == ([], [])


def test_what_is_left_matches_by_its_function_where_only_one_is_left_on_each_side() -> None:
    matching = match(recordings("f before", "g x", "h"), recordings("f after", "g y", "g z", "h"))
    assert found(matching) == [("0", "0", "function"), ("2", "3", "function and label")]
    assert left(matching) == (["x"], ["y", "z"])


def test_two_recordings_alone_are_compared_whatever_they_are_called() -> None:
    assert found(match(recordings("f"), recordings("g"))) == [("0", "0", "choice")]
    assert found(match(recordings("f a"), recordings("f a"))) == [("0", "0", "function and label")]


def test_nothing_in_common_is_no_pair() -> None:
    matching = match(recordings("f", "g"), recordings("h"))
    assert found(matching) == []
    assert left(matching) == (["f", "g"], ["h"])
