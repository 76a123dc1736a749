"""Owns one recording on screen: its head, its steps, and what is to be known of their figures."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import msgspec
from rich.text import Text

from scaly_viz import attributes as a
from scaly_viz.analysis.summary import RecordingSummary, StepSummary, summarize, summarize_steps
from scaly_viz.cli import output
from scaly_viz.cli.characters import visible, visible_lines
from scaly_viz.cli.quantities import duration, local_time
from scaly_viz.cli.recording_table import STATUS_STYLES
from scaly_viz.cli.step_table import step_table, uncounted
from scaly_viz.recording import Recording

type JsonObject = dict[str, object]


@dataclass(frozen=True, slots=True)
class RecordingView:
    """One recording."""

    recording: Recording

    def as_json(self) -> JsonObject:
        """Return the summary with ``steps`` as a list, and where it was asked for and why it failed."""
        summary: JsonObject = msgspec.to_builtins(summarize(self.recording))
        return summary | {
            "steps": summarize_steps(self.recording),
            "stacktrace": _attribute(self.recording, a.STACKTRACE),
            "exception": _traceback(self.recording),
        }

    def show(self, *, pager: bool) -> None:
        """Print head, steps, notes, and the traceback of a failed render."""
        console = output.console()
        steps = summarize_steps(self.recording)
        parts: list[Text | str] = [_head(self.recording, summarize(self.recording))]
        if steps:
            parts += ["", step_table(steps, console)]
        notes = [*_notes(steps)]
        if notes:
            parts += ["", *(Text(visible(note), "dim") for note in notes)]
        traceback = _traceback(self.recording)
        if traceback:
            parts += ["", Text(visible_lines(traceback).strip(), "dim")]
        output.show(console, parts)


def _head(recording: Recording, summary: RecordingSummary) -> Text:
    head = Text(visible(summary.name), "bold", end="\n")
    for name, value, style in _facts(recording, summary):
        if value:
            head.append(f"\n  {name:<10}", "not bold dim")
            head.append(visible(value), f"not bold {style}")
    return head


def _facts(recording: Recording, summary: RecordingSummary) -> Iterator[tuple[str, str, str]]:
    """Yield name, text and style of each line of the head."""
    where = f"{summary.file}:{summary.line}" if summary.line is not None else summary.file
    caller = _attribute(recording, a.CODE_FUNCTION)
    host = f" on {summary.host}" if summary.host else ""
    status = summary.status
    if status == "failed":
        status += f": {summary.error}"
    yield "id", summary.id, "cyan"
    yield "function", summary.function, ""
    yield "when", local_time(summary.started_at), ""
    yield "duration", duration(summary.duration_s), ""
    yield "where", f"{where} in {caller}" if where and caller else where, ""
    yield "compiler", summary.compiler_version, ""
    yield "process", "" if summary.process is None else f"{summary.process}{host}", ""
    yield "trace", summary.trace_id, ""
    yield "status", status, STATUS_STYLES.get(summary.status, "")
    for problem in summary.problems:
        yield "problem", problem, "yellow"


def _notes(steps: list[StepSummary]) -> Iterator[str]:
    reasons = uncounted(steps)
    if reasons:
        yield f"* counts are lower bounds: {'; '.join(reasons)}"
    for step in steps:
        for payload in step.payloads:
            if payload.error:
                yield f"step {step.index} ({step.name}): its {payload.kind} is missing: {payload.error}"


def _attribute(recording: Recording, key: str) -> str | None:
    value = recording.root.attributes.get(key) if recording.root else None
    return None if value is None else str(value)


def _traceback(recording: Recording) -> str | None:
    for event in recording.root.events if recording.root else ():
        if event.name == a.EVENT_EXCEPTION and "exception.stacktrace" in event.attributes:
            return str(event.attributes["exception.stacktrace"])
    return None
