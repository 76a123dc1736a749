"""Owns which recordings go: filters say which may, limits how many of these stay."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from scaly_viz.analysis.summary import RecordingSummary


@dataclass(frozen=True, slots=True)
class Holding:
    """One recording and what it takes on disk; ``kept_for`` says why it cannot go, whatever is asked."""

    summary: RecordingSummary
    size: int
    kept_for: str = ""


@dataclass(frozen=True, slots=True)
class Policy:
    """What is to go.

    ``functions`` (globs) and ``statuses`` say which recordings may go, empty ones all. Of these go: those
    that began before ``before`` (seconds since the epoch), those beyond the ``keep`` newest, and the
    oldest until all recordings together take at most ``max_bytes``. Without any such limit all that may.
    """

    before: float | None = None
    keep: int | None = None
    max_bytes: int | None = None
    functions: tuple[str, ...] = ()
    statuses: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether nothing is asked for."""
        return self == Policy()


def chosen(holdings: Sequence[Holding], policy: Policy) -> list[Holding]:
    """Return those of ``holdings`` that go, the oldest first."""
    if policy.is_empty:
        return []
    by_age = sorted(holdings, key=lambda holding: holding.summary.started_at)
    may = [holding for holding in by_age if not holding.kept_for and _may_go(holding, policy)]
    limits = (policy.before, policy.keep, policy.max_bytes)
    if limits == (None, None, None):
        return may
    going = {holding.summary.id for holding in may if _is_old(holding, policy)}
    if policy.keep is not None:
        going |= {holding.summary.id for holding in may[: max(0, len(may) - policy.keep)]}
    if policy.max_bytes is not None:
        total = sum(holding.size for holding in holdings if holding.summary.id not in going)
        for holding in may:
            if total <= policy.max_bytes:
                break
            if holding.summary.id not in going:
                going.add(holding.summary.id)
                total -= holding.size
    return [holding for holding in may if holding.summary.id in going]


def _may_go(holding: Holding, policy: Policy) -> bool:
    summary = holding.summary
    named = not policy.functions or any(
        fnmatchcase(summary.function, glob) for glob in policy.functions
    )
    return named and (not policy.statuses or summary.status in policy.statuses)


def _is_old(holding: Holding, policy: Policy) -> bool:
    return policy.before is not None and holding.summary.started_at < policy.before
