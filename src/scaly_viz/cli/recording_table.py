"""Owns the table of recordings: its columns, and which of them a narrow terminal shows."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from scaly_viz.analysis.summary import RecordingSummary
from scaly_viz.cli.quantities import count, duration, local_time
from scaly_viz.cli.tables import Column, table

type Row = tuple[int, RecordingSummary]

STATUS_STYLES = {"ok": "green", "failed": "red", "incomplete": "yellow"}
_SHORT_ID = 8
_LONG_ID = 32


def recording_table(rows: Sequence[Row], console: Console) -> Text:
    """Return the table of ``rows``: recordings, each with its number in the file."""
    id_length = _distinct_length([summary.id for _, summary in rows])
    identity = Column[Row]("id", lambda row: row[1].id[:id_length], lambda _: "cyan")
    wide = (_NUMBER, identity, _WHEN, _NAME, _FUNCTION, *_FIGURES)
    middle = (_NUMBER, _WHEN, _NAME, _FUNCTION, *_FIGURES)
    narrow = (_NUMBER, _SHORT_WHEN, _NAME, *_FIGURES)
    least = (_NUMBER, _NAME, _DURATION, _STATUS)
    return table(rows, (wide, middle, narrow, least), console, tells=True)


def new_recordings_table(summaries: Sequence[RecordingSummary], console: Console) -> Text:
    """Return the table of recordings whose numbers in the file nobody knows yet."""
    rows = [(0, summary) for summary in summaries]
    id_length = _distinct_length([summary.id for summary in summaries])
    identity = Column[Row]("id", lambda row: row[1].id[:id_length], lambda _: "cyan")
    wide = (identity, _NAME, _FUNCTION, *_FIGURES)
    least = (identity, _NAME, _DURATION, _STATUS)
    return table(rows, (wide, (identity, _NAME, *_FIGURES), least), console)


def _distinct_length(ids: Sequence[str]) -> int:
    """Return how many letters tell the ids apart, at least a handful."""
    length = _SHORT_ID
    different = len({*ids})
    while length < _LONG_ID and len({id_[:length] for id_ in ids}) < different:
        length += 1
    return length


_NUMBER = Column[Row]("#", lambda row: str(row[0]), is_number=True)
_WHEN = Column[Row]("when", lambda row: local_time(row[1].started_at))
_SHORT_WHEN = Column[Row]("when", lambda row: local_time(row[1].started_at, "%m-%d %H:%M"))
_NAME = Column[Row]("name", lambda row: row[1].name, fold_at=12)
_FUNCTION = Column[Row]("function", lambda row: row[1].function, fold_at=12)
_STEPS = Column[Row]("steps", lambda row: count(row[1].steps), is_number=True)
_DURATION = Column[Row]("duration", lambda row: duration(row[1].duration_s), is_number=True)
_NODES = Column[Row]("nodes", lambda row: count(row[1].nodes), is_number=True)
_CODE = Column[Row]("C bytes", lambda row: count(row[1].code_bytes), is_number=True)
_STATUS = Column[Row](
    "status", lambda row: row[1].status, lambda row: STATUS_STYLES.get(row[1].status, "")
)
_PROCESS = Column[Row](
    "process", lambda row: "" if row[1].process is None else str(row[1].process), is_number=True
)
_FIGURES = (_STEPS, _DURATION, _NODES, _CODE, _STATUS, _PROCESS)
