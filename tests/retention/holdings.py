"""Owns making the holdings that policies are tested with."""

from __future__ import annotations

from scaly_viz.analysis.summary import RecordingSummary
from scaly_viz.retention.policy import Holding


def holding(
    function: str, started_at: float, size: int, status: str, kept_for: str = ""
) -> Holding:
    """Return a recording of ``size`` bytes."""
    summary = RecordingSummary(
        id=f"id of {function}",
        name=function,
        function=function,
        started_at=started_at,
        duration_s=1.0,
        steps=3,
        nodes=None,
        code_bytes=None,
        status=status,
        error=None,
        process=None,
        host="",
        trace_id="",
        file="",
        line=None,
        compiler_version="",
        problems=[],
    )
    return Holding(summary, size, kept_for)
