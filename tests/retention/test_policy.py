"""Owns the tests of which recordings go."""

from __future__ import annotations

import pytest

from retention.holdings import holding
from scaly_viz.retention.policy import Policy, chosen

# Oldest first: what each is called, when it began, what it takes on disk, how it ended.
HOLDINGS = [
    holding("a", 100, 10, "ok"),
    holding("b", 200, 20, "failed"),
    holding("c", 300, 30, "ok"),
    holding("test_d", 400, 40, "incomplete"),
    holding("test_e", 500, 50, "ok"),
]


@pytest.mark.parametrize(
    ("policy", "going"),
    [
        (Policy(), ""),
        (Policy(before=300), "a b"),
        (Policy(keep=2), "a b c"),
        (Policy(keep=0), "a b c test_d test_e"),
        (Policy(keep=9), ""),
        (Policy(max_bytes=150), ""),
        (Policy(max_bytes=149), "a"),
        (Policy(max_bytes=0), "a b c test_d test_e"),
        (Policy(functions=("test_*",)), "test_d test_e"),
        (Policy(functions=("test_*", "a")), "a test_d test_e"),
        (Policy(statuses=("failed", "incomplete")), "b test_d"),
        (Policy(functions=("test_*",), keep=1), "test_d"),
        (Policy(functions=("test_*",), before=450), "test_d"),
        # Each limit counts by itself.
        (Policy(before=150, keep=3), "a b"),
        (Policy(before=250, max_bytes=90), "a b c"),
        # What the others take counts, too, but only what may go does.
        (Policy(functions=("test_*",), max_bytes=100), "test_d test_e"),
    ],
)
def test_filters_say_which_may_go_and_limits_how_many_stay(policy: Policy, going: str) -> None:
    assert " ".join(each.summary.function for each in chosen(HOLDINGS, policy)) == going


def test_what_is_in_use_stays_whatever_is_asked() -> None:
    busy = holding("busy", 50, 1000, "incomplete", kept_for="it may still be written")
    going = chosen([busy, *HOLDINGS], Policy(keep=0))
    assert [each.summary.function for each in going] == ["a", "b", "c", "test_d", "test_e"]
