"""Owns the routes that explain texts; ``docs/api.md`` describes them, ``scaly_viz.analysis`` computes."""

from __future__ import annotations

from typing import cast

import msgspec
from flask import Blueprint, Response

from scaly_viz.analysis.changes import changes_of
from scaly_viz.analysis.cost import TextCost
from scaly_viz.analysis.diff import Chunk, Numbering, TextDiff, diff_texts
from scaly_viz.analysis.models import cost_of_text
from scaly_viz_viewer import requested
from scaly_viz_viewer.catalog import Opened
from scaly_viz_viewer.memo import Memo
from scaly_viz_viewer.requested import RequestedText
from scaly_viz_viewer.responses import json_response

text_api = Blueprint("text_api", __name__, url_prefix="/api/v1")

# A diff of big texts holds some thousand chunks; its counts, for the table of changes, are small.
_diffs: Memo[TextDiff] = Memo(64)
_costs: Memo[TextCost] = Memo(64)
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
