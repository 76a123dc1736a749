"""Owns the tests of paging by spans of time: nothing is missed, whatever a backend answers first."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from scaly_viz.sources.windows import walk

_HOUR = 3600 * 10**9


@dataclass(frozen=True)
class _Trace:
    name: int
    start_ns: int


def _walked(
    traces: Sequence[_Trace], until: int, page: int, order: random.Random, enough: int = 1 << 30
) -> tuple[list[_Trace], list[str]]:
    reports: list[str] = []
    found: list[_Trace] = []

    def search(begin: int, end: int, limit: int) -> Iterator[_Trace]:
        inside = [trace for trace in traces if begin <= trace.start_ns <= end]
        order.shuffle(inside)
        return iter(inside[:limit])

    for trace in walk(
        search,
        (0, until),
        page,
        narrowest_ns=10**6,
        widest_ns=1000 * _HOUR,
        is_enough=lambda seen_to: sum(t.start_ns >= seen_to for t in {*found}) >= enough,
        report=reports.append,
    ):
        found.append(trace)
    return found, reports


_starts = st.lists(st.integers(0, 10_000 * _HOUR // 10**9).map(lambda s: s * 10**9), max_size=200)


@given(_starts, st.integers(2, 30), st.randoms(use_true_random=False))
def test_all_is_found_in_whatever_order_a_backend_answers(
    starts: list[int], page: int, order: random.Random
) -> None:
    traces = [_Trace(i, start) for i, start in enumerate(starts)]

    found, reports = _walked(traces, 10_001 * _HOUR, page, order)

    crowded = {start for start in starts if starts.count(start) >= 20 * page}
    missed = {*traces} - {*found}
    assert {trace.start_ns for trace in missed} <= crowded
    assert bool(missed) <= bool(reports)


@given(_starts, st.integers(1, 50), st.randoms(use_true_random=False))
def test_the_newest_are_found_where_there_is_enough_of_them(
    starts: list[int], enough: int, order: random.Random
) -> None:
    traces = [_Trace(i, start) for i, start in enumerate(starts)]

    found, reports = _walked(traces, 10_001 * _HOUR, 300, order, enough)

    newest = sorted((trace.start_ns for trace in traces), reverse=True)[:enough]
    assert sorted((trace.start_ns for trace in {*found}), reverse=True)[: len(newest)] == newest
    assert reports == []


def test_many_at_one_moment_are_found() -> None:
    traces = [_Trace(i, 5 * _HOUR) for i in range(150)]

    found, reports = _walked(traces, 10 * _HOUR, 10, random.Random(1))

    assert ({*found}, reports) == ({*traces}, [])


def test_too_many_at_one_moment_are_reported() -> None:
    traces = [_Trace(i, 5 * _HOUR) for i in range(300)]

    found, reports = _walked(traces, 10 * _HOUR, 10, random.Random(1))

    assert 200 <= len({*found}) <= 300
    assert "200 traces or more begin at 1" in reports[0]
    assert reports[0].endswith("; some may be left out")
