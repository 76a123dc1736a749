"""Owns a comparison as Markdown for a comment on a pull request: a table, and details that are folded.

GitHub's dialect, https://github.github.com/gfm/. Whatever comes from a recording stands in code, where
nothing is interpreted: no markup, no link, and no mention of anybody.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from scaly_viz.analysis.report import (
    Report,
    ReportedCondition,
    ReportedFigure,
    ReportedPair,
    ReportedStep,
)
from scaly_viz.analysis.wording import amount, change_in_percent, plural, title
from scaly_viz.cli import output
from scaly_viz.cli.characters import visible
from scaly_viz.cli.compare_words import broken, compared_of, divergence, lines_on, render_time

# A comment on GitHub has at most 65,536 characters; what surrounds ours should fit as well.
_MOST = 60_000
# Conditions and lists have a share of it, the table what they leave, details what that leaves.
_MOST_OF_CONDITIONS = 24_000
_MOST_OF_A_LIST = 3_000
_MOST_OF_NOTES = 300
_LONGEST_NAME = 120
_LONGEST_LINE = 400
_NONE = "none"
_COLUMNS = (
    ("code_bytes", "C source, bytes"),
    ("flops", "flops"),
    ("memory_traffic", "memory traffic, bytes"),
    ("workspace_bytes", "workspace, bytes"),
    ("nodes", "nodes"),
)
_SIGNS = {"met": "❌", "unknown": "⚠️", "not met": "✅"}


def show(report: Report) -> None:
    """Print ``report``."""
    output.write(markdown(report))


def markdown(report: Report) -> str:
    """Return ``report`` in at most 60,000 characters.

    What would be too long is left out, which it says: details first, then rows, then reasons.
    """
    head = _text([*_head(report), *_conditions(report)])
    unmatched = _text(_unmatched(report))
    most = _MOST - _MOST_OF_NOTES
    text = head + _text(_table(report, most - len(head) - len(unmatched))) + unmatched
    left_out = 0
    for pair in report.pairs:
        details = "" if _is_dull(pair) else _text(_details(pair))
        if len(text) + len(details) <= most:
            text += details
        else:
            left_out += 1
    if left_out:
        text += f"\nThe details of {plural(left_out, 'pair')} are too long for a comment.\n"
    return text


def _text(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _fitting(items: Sequence[str], most: int, more: Callable[[int], str]) -> list[str]:
    """Return the first of ``items`` that ``most`` characters hold, at least one, and how many ``more`` there are."""
    # Two characters may be between items.
    if sum(len(item) + 2 for item in items) <= most:
        return [*items]
    room = most - len(more(len(items))) - 2
    kept: list[str] = []
    for item in items:
        room -= len(item) + 2
        if kept and room < 0:
            break
        kept.append(item)
    return [*kept, more(len(items) - len(kept))] if len(kept) < len(items) else kept


def code(text: str, longest: int = _LONGEST_NAME) -> str:
    """Return ``text`` as a code span in one line, cut where it is long."""
    shown = _shown(text, longest)
    longest = max((len(run) for run in re.findall(r"`+", shown)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if shown.startswith("`") or shown.endswith("`") or not shown.strip() else ""
    return f"{fence}{pad}{shown}{pad}{fence}"


def _in_table(text: str) -> str:
    """Return ``text`` as a code span in a cell; a table is cut into cells before it is read."""
    return code(text).replace("|", "\\|")


def _shown(text: str, longest: int = _LONGEST_NAME) -> str:
    shown = visible(text) or " "
    return shown if len(shown) <= longest else f"{shown[: longest - 1]}…"


def _head(report: Report) -> Iterator[str]:
    differing = sum(not _is_dull(pair) for pair in report.pairs)
    what = plural(len(report.pairs), "function")
    said = f"{differing:,} of {what} changed" if differing else f"{what} unchanged"
    if not report.pairs:
        said = "nothing to compare"
    yield f"### scaly-viz: {said}"
    yield ""
    yield f"{code(report.base)} → {code(report.new)}"
    yield ""
    failed = [f"- {_SIGNS['unknown']} {code(line, _LONGEST_LINE)}" for line in broken(report)]
    yield from _fitting(failed, _MOST_OF_A_LIST, lambda n: f"- ... and {n:,} more")
    if failed:
        yield ""


def _conditions(report: Report) -> Iterator[str]:
    """What fails the build comes first, and of each condition one reason at least."""
    conditions = sorted(report.conditions, key=lambda each: [*_SIGNS].index(each.outcome))
    if not conditions:
        return
    share = _MOST_OF_CONDITIONS // len(conditions)
    blocks = [
        "\n".join(_fitting([*_reasons(condition)], share, lambda n: f"- ... and {n:,} more"))
        for condition in conditions
    ]
    yield from _fitting(
        blocks, _MOST_OF_CONDITIONS, lambda n: f"- ... and {plural(n, 'more condition')}"
    )
    yield ""


def _reasons(condition: ReportedCondition) -> Iterator[str]:
    for line in lines_on(condition):
        yield f"- {_SIGNS[condition.outcome]} {code(line, _LONGEST_LINE)}"


def _table(report: Report, most: int) -> Iterator[str]:
    changed = [pair for pair in report.pairs if not _is_dull(pair)]
    if not changed:
        return
    heads = " | ".join(head for _, head in _COLUMNS)
    head = (
        f"| function | {heads} | render time | first change |",
        "| --- |" + " ---: |" * (len(_COLUMNS) + 1) + " --- |",
    )
    foot = (
        "",
        "Render time in parentheses: within the noise. With a question mark: too few recordings to tell.",
        "",
    )
    yield from head
    yield from _fitting(
        [*map(_row, changed)],
        most - len(_text((*head, *foot))),
        lambda n: f"\n... and {n:,} more",
    )
    yield from foot


def _row(pair: ReportedPair) -> str:
    by_name = {figure.name: figure for figure in pair.figures}
    cells = [_cell(by_name[name]) for name, _ in _COLUMNS]
    ratio = pair.render_time.ratio
    time = "" if ratio is None else f"{ratio:.2f}x"
    if pair.render_time.verdict == "unknown" and time:
        time += " ?"
    elif pair.render_time.verdict == "within the noise":
        time = f"({time})"
    return (
        "| "
        + " | ".join((_in_table(title(pair.function, pair.name)), *cells, time, _first(pair)))
        + " |"
    )


def _cell(figure: ReportedFigure) -> str:
    if figure.base is None or figure.new is None:
        return " → ".join(_NONE if v is None else f"{v:,}" for v in (figure.base, figure.new))
    bound = "\\*" if figure.lower_bound else ""
    if figure.base == figure.new:
        return f"{figure.new:,}{bound}"
    percent = change_in_percent(figure.base, figure.new)
    return f"{figure.base:,} → {figure.new:,}{bound} (**{percent}**)"


def _first(pair: ReportedPair) -> str:
    if pair.first_diverging is None:
        return ""
    return _in_table(pair.steps[pair.first_diverging].name)


def _unmatched(report: Report) -> Iterator[str]:
    for side, groups in (("BASE", report.only_base), ("NEW", report.only_new)):
        if groups:
            names = [code(title(group.function, group.name)) for group in groups]
            shown = _fitting(names, _MOST_OF_A_LIST, lambda n: f"... and {n:,} more")
            yield f"Only in {side}: {', '.join(shown)}"
            yield ""


def _is_dull(pair: ReportedPair) -> bool:
    """Whether nothing differs that anybody must see."""
    ended_well = pair.base.status == pair.new.status == "ok"
    return pair.same and ended_well and all(each.base == each.new for each in pair.figures)


def _details(pair: ReportedPair) -> Iterator[str]:
    # Inside of an HTML block Markdown is not read, so that escaping is HTML's.
    yield f"<details><summary><code>{html.escape(_shown(title(pair.function, pair.name)))}</code></summary>"
    yield ""
    for line in (*pair.notes, divergence(pair), f"render time: {render_time(pair.render_time)}"):
        yield f"- {code(line, _LONGEST_LINE)}"
    for side, recording, others in (
        ("base", pair.base, pair.base_recordings),
        ("new", pair.new, pair.new_recordings),
    ):
        latest = f", the latest of {others:,}" if others > 1 else ""
        yield f"- {side}: {code(recording.id)} {code(recording.name)}{latest}"
    yield ""
    yield "| figure | base | new | change |"
    yield "| --- | ---: | ---: | ---: |"
    for figure in pair.figures:
        if (figure.base, figure.new) != (None, None):
            values = (
                _NONE if v is None else amount(v, figure.unit) for v in (figure.base, figure.new)
            )
            percent = compared_of(figure, lambda base, new, _: change_in_percent(base, new))
            yield f"| {figure.name} | {' | '.join(values)} | {percent} |"
    yield ""
    yield "| step | nodes | differs in |"
    yield "| --- | ---: | --- |"
    yield from (_step(step) for step in pair.steps)
    yield ""
    yield "</details>"
    yield ""


def _step(step: ReportedStep) -> str:
    before, after = (_NONE if n is None else f"{n:,}" for n in step.nodes)
    nodes = before if before == after else f"{before} → {after}"
    if step.base is None or step.new is None:
        differs = f"only in {'NEW' if step.base is None else 'BASE'}"
    else:
        differs = ", ".join(_in_table(kind) for kind in step.kinds)
    return f"| {_in_table(step.name)} | {nodes} | {differs} |"
