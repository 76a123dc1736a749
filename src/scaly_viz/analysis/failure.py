"""Owns why a render failed: the exception, the pass it came from, and the place that its message names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

import msgspec

from scaly_viz import attributes as a
from scaly_viz.analysis.diff import lines_of
from scaly_viz.analysis.place import Place
from scaly_viz.analysis.text_model import utf16_column
from scaly_viz.analysis.texts import text_kinds, text_of
from scaly_viz.errors import PayloadError
from scaly_viz.recording import Recording, Step

_FRAME = re.compile(r'^ *File "([^"]*)", line \d+, in (.*)$', re.MULTILINE)
_PASS_FILE = re.compile(r"[/\\]passes[/\\]program[/\\](\w+)\.py$")
# What scaly runs after each step, so that a pass that fails in borrowed code has its name all the
# same; where options insert another pass, the stack trace has that one's function.
_PIPELINE = (
    "lowered",
    "pass:hoist_invariant",
    "pass:scalarize",
    "pass:fold_tiles",
    "pass:fuse_ranges",
    "pass:prune_procedures",
    "pass:combine_scatter_sums",
    "pass:fuse_elementwise",
    "pass:fold_arith",
    "pass:pack_masks",
    "pass:unroll_unit_loops",
    "pass:fold_arith_after_unroll",
    "pass:pack_workspace",
    "pass:coalesce_stores",
    "pass:prepare_scalar",
)
_NEXT = {
    **dict(pairwise(_PIPELINE)),
    "pass:hoist_reciprocals": "pass:pack_workspace",
    "pass:widen_ranges": "pass:pack_workspace",
}
_INSERTED = ("hoist_reciprocals", "prepare_scalar_expressions", "widen_ranges")
# Functions of scaly that stand for a stage of the render.
_STAGES = {
    "_render_source": "emit C",
    "verify_program": "verify",
    "_normalize_function": "normalize",
    "lower_function": "lower",
}
_OPTIMIZE = "optimize_program"
_MAX_LINES = 200_000

# How messages name a part of the program: a node's operation, a quoted name, an SSA value.
_NAMED = re.compile(
    r"\bop[ =](?P<op>\w+)|(?P<value>%\w+)|['\"](?P<name>[^\W\d]\w*)['\"]|\b(?P<loud>[A-Z]{3,}(?:_[A-Z]+)*)\b"
)


class FailureReport(msgspec.Struct, frozen=True):
    """How a render failed.

    ``failed_pass`` is the pass or stage that it failed in, as far as the stack trace tells.
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
        _failed_pass(stacktrace, last),
        last.index if last else None,
        _place(recording, last, message) if last else None,
    )


def _failed_pass(stacktrace: str, last: Step | None) -> str | None:
    """The innermost part of the compiler that a frame belongs to."""
    frames = _FRAME.findall(stacktrace)
    for at in range(len(frames) - 1, -1, -1):
        function = frames[at][1]
        if function == _OPTIMIZE and at + 1 < len(frames):
            path, called = frames[at + 1]
            return _pass_of(path, called, last)
        if function in _STAGES:
            return _STAGES[function]
    return None


def _pass_of(path: str, function: str, last: Step | None) -> str:
    """The name of the pass that the pipeline called as ``function``, after the step ``last``."""
    if function in _INSERTED:
        return f"pass:{function}"
    following = _NEXT.get(last.name) if last else None
    found = _PASS_FILE.search(path)
    return following or f"pass:{found[1] if found else function}"


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
