"""Owns a comparison on screen: what is compared, the figures, the render time, the steps in line."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rich.console import Console
from rich.text import Text

from scaly_viz.analysis.report import Report, ReportedFigure, ReportedPair, ReportedStep, Unmatched
from scaly_viz.analysis.wording import amount, change, change_in_percent, title
from scaly_viz.cli import output
from scaly_viz.cli.characters import visible
from scaly_viz.cli.compare_words import broken, compared_of, divergence, lines_on, render_time
from scaly_viz.cli.quantities import count, local_time, plural
from scaly_viz.cli.tables import Column, table

_STYLES = {"met": "bold red", "unknown": "bold yellow", "not met": "green"}


def show(report: Report) -> None:
    """Print ``report``."""
    console = output.console()
    parts: list[Text | str] = [Text(visible(line), "bold red") for line in broken(report)]
    if parts:
        parts.append("")
    for pair in report.pairs:
        parts += [*_pair(pair, console), ""]
    for side, groups in (("BASE", report.only_base), ("NEW", report.only_new)):
        if groups:
            parts += [_unmatched(side, groups), ""]
    parts.append(_summary(report))
    for condition in report.conditions:
        style = _STYLES[condition.outcome]
        parts += [Text(visible(line), style) for line in lines_on(condition)]
    output.show(console, parts)


def _summary(report: Report) -> str:
    if not report.pairs:
        return visible(f"nothing in {report.base} has a counterpart in {report.new}")
    same = sum(pair.same for pair in report.pairs)
    what = plural(len(report.pairs), "pair")
    failed = len(broken(report))
    said = f", {failed:,} failed or incomplete in NEW" if failed else ""
    return visible(f"{what} of {report.base} and {report.new}: {same:,} the same{said}")


def _pair(pair: ReportedPair, console: Console) -> Iterator[Text | str]:
    yield Text(visible(title(pair.function, pair.name)), "bold")
    for side, recording, others in (
        ("base", pair.base, pair.base_recordings),
        ("new", pair.new, pair.new_recordings),
    ):
        latest = f"  the latest of {others:,}" if others > 1 else ""
        name = "" if recording.name == pair.name else f"  {recording.name}"
        when = local_time(recording.started_at)
        line = f"  {side:<4}  {recording.id}  {when}  {recording.status}{name}{latest}"
        yield Text(visible(line), "dim")
    if pair.matched_by == "function":
        yield Text("  matched by function alone: the labels differ", "yellow")
    for note in pair.notes:
        yield Text(visible(f"  {note}"), "yellow")
    figures = [figure for figure in pair.figures if {figure.base, figure.new} != {None}]
    shown = [each for each in figures if each.base != each.new] if pair.same else figures
    if shown:
        yield ""
        yield _figures(shown, console)
        yield ""
    yield f"  render time: {visible(render_time(pair.render_time))}"
    yield visible(f"  {divergence(pair)}")
    if not pair.same:
        yield ""
        yield _steps(pair.steps, console)


def _figures(figures: list[ReportedFigure], console: Console) -> Text:
    columns = (_FIGURE, _BASE, _NEW, _CHANGE, _PERCENT)
    return table(figures, (columns,), console, lambda row: "dim" if row.base == row.new else "")


def _amount(value: float | None, figure: ReportedFigure) -> str:
    if value is None:
        return "-"
    return amount(value, figure.unit) + ("*" if figure.lower_bound else "")


def _direction(figure: ReportedFigure) -> str:
    """Everything counted here costs something: more of it is worse."""
    if not figure.change:
        return ""
    return "red" if figure.change > 0 else "green"


_FIGURE = Column[ReportedFigure]("figure", lambda row: row.name)
_BASE = Column[ReportedFigure]("base", lambda row: _amount(row.base, row), is_number=True)
_NEW = Column[ReportedFigure]("new", lambda row: _amount(row.new, row), is_number=True)
_CHANGE = Column[ReportedFigure](
    "change", lambda row: compared_of(row, change), _direction, is_number=True
)
_PERCENT = Column[ReportedFigure](
    "",
    lambda row: compared_of(row, lambda base, new, _: change_in_percent(base, new)),
    _direction,
    is_number=True,
)


@dataclass(frozen=True, slots=True)
class _Row:
    """Steps in line; ``gained`` is by how much the difference of each figure grew with this step."""

    step: ReportedStep
    gained: dict[str, int]


def _steps(steps: list[ReportedStep], console: Console) -> Text:
    wide = (_LEFT, _RIGHT, _STEP, _LEFT_NODES, _RIGHT_NODES, _DIFFERS)
    narrow = (_LEFT, _RIGHT, _STEP, _DIFFERS)
    rows = [*_rows(steps)]
    return table(rows, (wide, narrow), console, lambda row: "dim" if row.step.same else "")


def _rows(steps: list[ReportedStep]) -> Iterator[_Row]:
    known: dict[str, int] = {}
    for step in steps:
        gaps = {
            k: new - base for k, (base, new) in step.figures.items() if k not in _SHOWN_ELSEWHERE
        }
        gained = {k: gap - known.get(k, 0) for k, gap in gaps.items() if gap != known.get(k, 0)}
        known |= gaps
        yield _Row(step, gained)


_SHOWN_ELSEWHERE = ("nodes", "edges")


def _differs(row: _Row) -> str:
    step = row.step
    if step.base is None:
        return "only in NEW"
    if step.new is None:
        return "only in BASE"
    if step.same:
        return "same"
    return ", ".join((*step.kinds, *(f"{name} {gap:+,}" for name, gap in row.gained.items())))


_LEFT = Column[_Row]("base", lambda row: count(row.step.base), is_number=True)
_RIGHT = Column[_Row]("new", lambda row: count(row.step.new), is_number=True)
_STEP = Column[_Row]("step", lambda row: row.step.name, fold_at=20)
_LEFT_NODES = Column[_Row]("nodes", lambda row: count(row.step.nodes[0]), is_number=True)
_RIGHT_NODES = Column[_Row]("nodes", lambda row: count(row.step.nodes[1]), is_number=True)
_DIFFERS = Column[_Row]("differs in", _differs, fold_at=30)


def _unmatched(side: str, groups: list[Unmatched]) -> str:
    names = output.listed([f"{title(each.function, each.name)} ({each.id[:8]})" for each in groups])
    return visible(f"only in {side}: {names}")
