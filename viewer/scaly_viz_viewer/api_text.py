"""Owns the routes that explain texts; ``docs/api.md`` describes them, ``scaly_viz.analysis`` computes."""

from __future__ import annotations

from typing import cast

import msgspec
from flask import Blueprint, Response, request

from scaly_viz.analysis.changes import changes_of
from scaly_viz.analysis.correspondence import corresponding
from scaly_viz.analysis.cost import TextCost
from scaly_viz.analysis.diff import Chunk, Numbering, TextDiff, aligned_lines, diff_texts
from scaly_viz.analysis.following import Name
from scaly_viz.analysis.models import cost_of_text
from scaly_viz.analysis.scanned_texts import Texts
from scaly_viz.analysis.texts import text_kinds
from scaly_viz.analysis.values import Value, name_at, value_of
from scaly_viz.recording import Step
from scaly_viz_viewer import requested
from scaly_viz_viewer.catalog import Opened
from scaly_viz_viewer.memo import Memo
from scaly_viz_viewer.requested import RequestedText
from scaly_viz_viewer.responses import ApiError, json_response

text_api = Blueprint("text_api", __name__, url_prefix="/api/v1")

# A diff of big texts holds some thousand chunks, a cost some thousand lines, of some 200 bytes each; the
# counts of a diff, for the table of changes, are small.
_diffs: Memo[TextDiff] = Memo(64, lambda diff: len(diff.chunks), 60_000)
_scanned: Memo[Texts] = Memo(2)
_costs: Memo[TextCost] = Memo(64, lambda cost: len(cost.lines), 60_000)
_counts: Memo[TextDiff] = Memo(10_000)


class DiffSide(msgspec.Struct, frozen=True):
    """One of the two texts."""

    recording: str
    step: int
    kind: str
    digest: str
    lines: int


class DiffAnswer(msgspec.Struct, frozen=True):
    """How two texts differ; see ``TextDiff``. ``left`` is None where there is nothing to compare with."""

    left: DiffSide | None
    right: DiffSide
    chunks: list[Chunk]
    added: int
    removed: int
    moved: int
    renumbered: int
    identical: bool


@text_api.get("/diff", provide_automatic_options=False)
def show_diff() -> Response:
    """Answer how two texts differ."""
    right = requested.named_text("right")
    numbering = cast("Numbering", requested.choice("numbering", "ignore", "exact"))
    return json_response(_answer(requested.text_before("left", right), right, numbering))


@text_api.get("/recordings/<key>/changes", provide_automatic_options=False)
def show_changes(key: str) -> Response:
    """Answer what each step changed in its texts."""
    opened = requested.opened(key)
    with opened.lock:
        return json_response(changes_of(opened.recording, _count))


@text_api.get("/recordings/<key>/steps/<index>/cost/<path:kind>", provide_automatic_options=False)
def show_cost(key: str, index: str, kind: str) -> Response:
    """Answer what a text costs, line by line."""
    opened = requested.opened(key)
    text = requested.text(key, opened, requested.step_of(opened, index), kind)
    return json_response(_costs.get((text.digest, text.dialect, kind), lambda: _cost(opened, text)))


def _cost(opened: Opened, text: RequestedText) -> TextCost:
    with opened.lock:
        step = requested.step_of(opened, str(text.step))
        return cost_of_text(opened.recording, step, text.kind)


def _answer(left: RequestedText | None, right: RequestedText, numbering: Numbering) -> DiffAnswer:
    if left is None:
        diff = diff_texts(right.text, right.text)
    else:
        texts = left.text, right.text
        key = left.digest, right.digest, numbering
        diff = _diffs.get(key, lambda: diff_texts(*texts, numbering))
    return DiffAnswer(
        None if left is None else _side(left, diff.left_lines),
        _side(right, diff.right_lines),
        diff.chunks,
        diff.added,
        diff.removed,
        diff.moved,
        diff.renumbered,
        diff.identical,
    )


def _side(text: RequestedText, lines: int) -> DiffSide:
    return DiffSide(text.recording, text.step, text.kind, text.digest, lines)


def _count(left: tuple[str, str], right: tuple[str, str]) -> TextDiff:
    """The difference of two texts without its chunks."""
    return _counts.get(
        (left[0], right[0]),
        lambda: msgspec.structs.replace(diff_texts(left[1], right[1]), chunks=[]),
    )


@text_api.get("/recordings/<key>/values", provide_automatic_options=False)
def show_value(key: str) -> Response:
    """Answer what is known of a name: by its place in a text, or by name and procedure."""
    opened = requested.opened(key)
    if "name" in request.args:
        found = _named(opened)
    else:
        step = requested.step_of(opened, requested.required("step"))
        text = requested.text(key, opened, step, requested.required("kind"))
        found = _at(opened, step, text)
    if found is None:
        raise ApiError(404, "value_not_found", "there is no such name")
    return json_response(found)


@text_api.get("/recordings/<key>/lines", provide_automatic_options=False)
def show_lines(key: str) -> Response:
    """Answer the lines of another text that correspond to a line."""
    opened = requested.opened(key)
    step = requested.step_of(opened, requested.required("step"))
    to_step = requested.step_of(opened, requested.required("to_step"))
    kind, to_kind = requested.required("kind"), requested.required("to_kind")
    line = requested.number("line")
    for each, asked in ((step, kind), (to_step, to_kind)):
        requested.text(key, opened, each, asked)
    with opened.lock:
        return json_response(corresponding(_texts(opened), step, kind, line, to_step, to_kind))


def _at(opened: Opened, step: Step, text: RequestedText) -> Value | None:
    line = requested.number("line")
    column = requested.number("column") if "column" in request.args else None
    with opened.lock:
        texts = _texts(opened)
        scanned = texts.scanned(step, text.kind)
        found = name_at(scanned, line, column) if scanned is not None else None
        if found is None:
            return None
        use, scope = found
        scope_name = "" if use.is_procedure else scope.name
        name = Name(use.name, scope_name, use.is_procedure)
        return _value(opened, texts, step, text.kind, name)


def _named(opened: Opened) -> Value | None:
    """The value of a name: in the step and kind that are asked for, else in the first text that has it."""
    word, scope = requested.required("name"), request.args.get("scope", "")
    procedure, other = Name(word, scope, is_procedure=True), Name(word, scope)
    # Procedures belong to no other, and neither does a word of a language that nobody knows.
    names = [other] if scope else [procedure, other]
    if requested.choice("role", "", "procedure"):
        names = [procedure]
    index, kind = request.args.get("step"), request.args.get("kind")
    steps = opened.recording.steps if index is None else [requested.step_of(opened, index)]
    with opened.lock:
        texts = _texts(opened)
        asked = [(s, each) for s in steps for each in text_kinds(s) if kind in (None, each)]
        for name in names:
            for step, each in asked:
                found = _value(opened, texts, step, each, name)
                if found is not None:
                    return found
    return None


def _value(opened: Opened, texts: Texts, step: Step, kind: str, name: Name) -> Value | None:
    payload = step.payloads[kind]
    return value_of(
        texts,
        step,
        kind,
        name,
        lambda: _costs.get(
            (payload.digest, step.dialect, kind),
            lambda: cost_of_text(opened.recording, step, kind),
        ),
    )


def _texts(opened: Opened) -> Texts:
    """The texts of a recording with their names, kept for the next question; under its lock."""
    return _scanned.get(
        (opened.recording.id, opened.revision), lambda: Texts(opened.recording, aligned_lines)
    )
