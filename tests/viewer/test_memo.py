"""What was dear to make is kept, as long as there is room."""

from __future__ import annotations

from collections.abc import Callable

from scaly_viz_viewer.memo import Memo


def maker(made: list[str], value: str) -> Callable[[], str]:
    def make() -> str:
        made.append(value)
        return value

    return make


def test_what_was_used_least_lately_is_made_again() -> None:
    memo, made = Memo[str](2), list[str]()
    for key in ("a", "b", "a", "c", "a", "b"):
        assert memo.get(key, maker(made, key)) == key
    assert made == ["a", "b", "c", "b"]


def test_values_are_dropped_by_their_weight_and_the_last_one_never_is() -> None:
    memo, made = Memo[str](9, len, 5), list[str]()
    for key in ("aaa", "bb", "aaa", "c", "bb", "d" * 99, "d" * 99, "c"):
        memo.get(key, maker(made, key))
    assert made == ["aaa", "bb", "c", "bb", "d" * 99, "c"]
