"""Owns grouping recordings by function, and putting them in order."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import msgspec

from scaly_viz.analysis.summary import RecordingSummary

MAX_VALUES = 50

type _Place = tuple[float, str] | None

SORT_KEYS: dict[str, Callable[[RecordingSummary], _Place]] = {
    "started": lambda summary: (summary.started_at, ""),
    "duration": lambda summary: (summary.duration_s, ""),
    "code": lambda summary: _number(summary.code_bytes),
    "nodes": lambda summary: _number(summary.nodes),
    "steps": lambda summary: (summary.steps, ""),
    "name": lambda summary: (0, summary.name.casefold()),
    "status": lambda summary: (0, summary.status),
}


def _number(value: int | None) -> _Place:
    return None if value is None else (value, "")


class FunctionGroup(msgspec.Struct, frozen=True):
    """The recordings of one function.

    ``code_bytes`` and ``duration_s`` are those of the newest 50, the oldest of them first; None
    where a render made no source.
    """

    function: str
    count: int
    failed: int
    incomplete: int
    newest: RecordingSummary
    code_bytes: list[int | None]
    duration_s: list[float]


def ordered(
    summaries: Iterable[RecordingSummary], key: str, *, ascending: bool
) -> list[RecordingSummary]:
    """Return ``summaries`` by a key of ``SORT_KEYS``; what has no value comes last, ties newest first."""
    place = SORT_KEYS[key]
    newest_first = sorted(
        summaries, key=lambda summary: (summary.started_at, summary.id), reverse=True
    )
    having = [(at, summary) for summary in newest_first if (at := place(summary)) is not None]
    # Sorting is stable, so ties stay newest first in both directions.
    having.sort(key=lambda pair: pair[0], reverse=not ascending)
    lacking = [summary for summary in newest_first if place(summary) is None]
    return [*(summary for _, summary in having), *lacking]


def by_function(summaries: Iterable[RecordingSummary]) -> list[FunctionGroup]:
    """Return a group for each function, the one that was rendered last first."""
    groups: dict[str, list[RecordingSummary]] = {}
    for summary in ordered(summaries, "started", ascending=False):
        groups.setdefault(summary.function, []).append(summary)
    return [_group(function, newest_first) for function, newest_first in groups.items()]


def _group(function: str, newest_first: list[RecordingSummary]) -> FunctionGroup:
    shown = newest_first[:MAX_VALUES][::-1]
    return FunctionGroup(
        function=function,
        count=len(newest_first),
        failed=sum(summary.status == "failed" for summary in newest_first),
        incomplete=sum(summary.status == "incomplete" for summary in newest_first),
        newest=newest_first[0],
        code_bytes=[summary.code_bytes for summary in shown],
        duration_s=[summary.duration_s for summary in shown],
    )
