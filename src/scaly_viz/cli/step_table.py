"""Owns the table of a recording's steps: figures, and in words what each step changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.text import Text

from scaly_viz import attributes as a
from scaly_viz.analysis.summary import PayloadSummary, StepSummary
from scaly_viz.cli.quantities import count, difference, duration
from scaly_viz.cli.tables import Column, table

SAME = "same"
MISSING = "missing"
_BOUND = "*"

# What a person reads first; the first of these that a step has.
TEXT_KINDS = ("code", "listing", "assembly")
_DIFFERENCES = (
    (a.FLOPS, "flops", ""),
    (a.TRAFFIC, "traffic", " B"),
    (a.WORKSPACE_BYTES, "workspace", " B"),
)


@dataclass(frozen=True, slots=True)
class Row:
    """One step, and the size that its text had in the step before that has such a text."""

    step: StepSummary
    text: PayloadSummary | None
    text_before: int | None

    @property
    def is_same(self) -> bool:
        """Whether the step changed nothing."""
        return not self.step.changed and not self.step.missing


def step_table(steps: Sequence[StepSummary], console: Console) -> Text:
    """Return the table of ``steps``, those without effect dimmed."""
    wide = (_INDEX, _NAME, _DIALECT, _TIME, _NODES, _FLOPS, _TRAFFIC, _WORKSPACE, _TEXT, _CHANGED)
    middle = (_INDEX, _NAME, _TIME, _NODES, _FLOPS, _TRAFFIC, _CHANGED)
    narrow = (_INDEX, _NAME, _TIME, _NODES, _CHANGED)
    least = (_INDEX, _NAME, _CHANGED)
    rows = [*_rows(steps)]
    return table(
        rows,
        (wide, middle, narrow, least),
        console,
        lambda row: "dim" if row.is_same else "",
        tells=True,
    )


def uncounted(steps: Sequence[StepSummary]) -> list[str]:
    """Return what the counts leave out, each reason once."""
    return [*dict.fromkeys(reason for step in steps for reason in step.uncounted)]


def _rows(steps: Sequence[StepSummary]) -> Iterator[Row]:
    sizes: dict[tuple[str, str], int] = {}
    for step in steps:
        by_kind = {payload.kind: payload for payload in step.payloads}
        text = next((by_kind[kind] for kind in TEXT_KINDS if kind in by_kind), None)
        if text is None or text.error:
            yield Row(step, None, None)
            continue
        yield Row(step, text, sizes.get((step.dialect, text.kind)))
        sizes[step.dialect, text.kind] = text.size


def _changed(row: Row) -> str:
    if row.step.missing:
        return MISSING
    if row.is_same:
        return SAME
    figures = [*_changed_figures(row)]
    kinds = [payload.kind for payload in row.step.payloads if payload.changed and not payload.error]
    return ", ".join(figures or kinds)


def _changed_figures(row: Row) -> Iterator[str]:
    figures = row.step.figures
    nodes = [
        f"{sign}{number:,}"
        for sign, key in (("+", a.GRAPH_ADDED), ("-", a.GRAPH_REMOVED))
        if (number := figures.get(key))
    ]
    if nodes:
        yield f"nodes {' '.join(nodes)}"
    for key, name, unit in _DIFFERENCES:
        change = row.step.changes.get(key)
        if change:
            yield f"{name} {difference(change)}{unit}"
    if row.text and row.text_before is not None and row.text.size != row.text_before:
        yield f"{row.text.kind} {difference(row.text.size - row.text_before)} B"
    lines = figures.get(a.CODE_LINES)
    if lines is not None:
        yield f"{lines:,} lines"


def _figure(header: str, key: str) -> Column[Row]:
    """Return the column of a figure that may be a lower bound."""

    def cell(row: Row) -> str:
        number = count(row.step.figures.get(key))
        return number + _BOUND if number and row.step.uncounted else number

    return Column[Row](header, cell, is_number=True)


_INDEX = Column[Row]("#", lambda row: str(row.step.index), is_number=True)
_NAME = Column[Row]("step", lambda row: "" if row.step.missing else row.step.name, fold_at=20)
_DIALECT = Column[Row]("dialect", lambda row: row.step.dialect)
_TIME = Column[Row]("time", lambda row: duration(row.step.duration_s), is_number=True)
_NODES = Column[Row](
    "nodes", lambda row: count(row.step.figures.get(a.GRAPH_NODES)), is_number=True
)
_FLOPS = _figure("flops", a.FLOPS)
_TRAFFIC = _figure("traffic B", a.TRAFFIC)
_WORKSPACE = Column[Row](
    "workspace B", lambda row: count(row.step.figures.get(a.WORKSPACE_BYTES)), is_number=True
)
_TEXT = Column[Row](
    "text B", lambda row: count(row.text.size if row.text else None), is_number=True
)
_CHANGED = Column[Row](
    "changed", _changed, lambda row: "yellow" if row.step.missing else "", fold_at=30
)
