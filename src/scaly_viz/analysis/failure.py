"""Owns why a render failed: the exception, the pass it came from, and the place that its message names."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from scaly_viz import attributes as a
from scaly_viz.analysis.diff import lines_of
from scaly_viz.analysis.place import Place
from scaly_viz.analysis.text_model import utf16_column
from scaly_viz.analysis.texts import text_kinds, text_of
from scaly_viz.errors import PayloadError
from scaly_viz.recording import Recording, Step

_MAX_LINES = 200_000

# How messages name a part of the program: a node's operation, a quoted name, an SSA value.
_NAMED = re.compile(
    r"\bop[ =](?P<op>\w+)|(?P<value>%\w+)|['\"](?P<name>[^\W\d]\w*)['\"]|\b(?P<loud>[A-Z]{3,}(?:_[A-Z]+)*)\b"
)


class FailureReport(msgspec.Struct, frozen=True):
    """How a render failed.

    ``failed_pass`` is the pass or stage that it failed in, as the recording says it.
    ``last_step`` is the last one that was done; ``place`` is where its text has what the message names.
    """

    type: str
    message: str
    stacktrace: str
    failed_pass: str | None
    last_step: int | None
    place: Place | None


def failure_of(recording: Recording) -> FailureReport | None:
    """Return how ``recording`` failed, None where it did not."""
    root = recording.root
    if root is None or root.status != "error":
        return None
    event = next((event for event in root.events if event.name == "exception"), None)
    told = event.attributes if event else {}
    message = str(told.get("exception.message", root.status_message))
    stacktrace = str(told.get("exception.stacktrace", ""))
    kind = str(told.get("exception.type", root.attributes.get(a.ERROR_TYPE, "")))
    done = [step for step in recording.steps if not step.placeholder]
    last = done[-1] if done else None
    return FailureReport(
        kind,
        message,
        stacktrace,
        str(failed) if (failed := root.attributes.get(a.FAILED_STEP)) else None,
        last.index if last else None,
        _place(recording, last, message) if last else None,
    )


def _place(recording: Recording, step: Step, message: str) -> Place | None:
    for kind in text_kinds(step):
        try:
            lines = lines_of(text_of(recording, step, kind))
        except PayloadError:
            continue
        for pattern in _patterns(message):
            for number, line in enumerate(lines[:_MAX_LINES], 1):
                if found := pattern.search(line):
                    begin, end = utf16_column(line, found.start()), utf16_column(line, found.end())
                    return Place(step.index, kind, number, begin, end)
    return None


def _patterns(message: str) -> Iterator[re.Pattern[str]]:
    """What to look for in the text, the surest first."""
    found = list(_NAMED.finditer(message))
    for group, pattern in (
        ("value", r"{0}\b"),
        ("name", r"(?<!\w){0}\b"),
        ("op", r"\b\w+\.{0}\b"),
        ("loud", r"\b\w+\.{0}\b"),
    ):
        for match in found:
            if match[group]:
                text = match[group].lower() if group == "loud" else match[group]
                yield re.compile(pattern.format(re.escape(text)))
