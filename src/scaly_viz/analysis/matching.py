"""Owns which recordings of two sides belong together: those of one function under one label."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from scaly_viz.analysis.summary import RecordingSummary

type MatchedBy = Literal["function and label", "function", "choice"]


@dataclass(frozen=True, slots=True)
class Group:
    """The recordings of one function under one label, oldest first and at least one."""

    recordings: list[RecordingSummary]

    @property
    def latest(self) -> RecordingSummary:
        """The one that is compared."""
        return self.recordings[-1]

    @property
    def durations_s(self) -> list[float]:
        """How long the renders took that ended well and made what the latest made, in seconds."""
        latest = _outcome(self.latest)
        return [r.duration_s for r in self.recordings if _outcome(r) == latest and r.status == "ok"]


@dataclass(frozen=True, slots=True)
class Pair:
    """Two groups that are compared, and what made them a pair."""

    base: Group
    new: Group
    matched_by: MatchedBy


@dataclass(frozen=True, slots=True)
class Matching:
    """All pairs, in the order of BASE, and what has no counterpart on the other side."""

    pairs: list[Pair]
    only_base: list[Group]
    only_new: list[Group]


def match(base: Sequence[RecordingSummary], new: Sequence[RecordingSummary]) -> Matching:
    """Match by function and label; what is left by function, where each side has only one left of it.

    One recording on each side, and no more, is a pair whatever it is called. Both are oldest first.
    """
    ours, theirs = groups(base), groups(new)
    if len(base) == len(new) == 1:
        (one,), (other,) = ours.values(), theirs.values()
        by: MatchedBy = "function and label" if ours.keys() == theirs.keys() else "choice"
        return Matching([Pair(one, other, by)], [], [])
    found: dict[tuple[str, str], tuple[Group, MatchedBy]] = {
        key: (theirs[key], "function and label") for key in ours if key in theirs
    }
    rest = [key for key in theirs if key not in found]
    for key in ours:
        alike = [other for other in rest if other[0] == key[0]]
        lonely = sum(each[0] == key[0] for each in ours if each not in found) == 1
        if key not in found and lonely and len(alike) == 1:
            found[key] = theirs[alike[0]], "function"
            rest.remove(alike[0])
    pairs = [Pair(ours[key], *found[key]) for key in ours if key in found]
    return Matching(
        pairs,
        [group for key, group in ours.items() if key not in found],
        [theirs[key] for key in rest],
    )


def groups(recordings: Sequence[RecordingSummary]) -> dict[tuple[str, str], Group]:
    """Return ``recordings``, oldest first, by function and label, in the order of their first ones."""
    found: dict[tuple[str, str], Group] = {}
    for recording in recordings:
        key = recording.function, recording.name
        found.setdefault(key, Group([])).recordings.append(recording)
    return found


def _outcome(recording: RecordingSummary) -> tuple[int, int | None, int | None]:
    """What tells apart, without a look at texts, renders of another version of the function."""
    return recording.steps, recording.nodes, recording.code_bytes
