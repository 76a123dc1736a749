"""Owns the comparison of two recordings: what went in, what came out, and where they part."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from scaly_viz import attributes as a
from scaly_viz.analysis.alignment import align
from scaly_viz.analysis.diff import lines_of
from scaly_viz.analysis.figures import BY_NAME, final_value
from scaly_viz.analysis.summary import FIGURES
from scaly_viz.analysis.texts import is_text, text_of
from scaly_viz.errors import PayloadError
from scaly_viz.recording import Recording, Step

type Value = str | int | float | None

_HEADS = ("expr.func @", "prog.proc @")


class ComparedRow(msgspec.Struct, frozen=True):
    """One fact of both recordings; ``unit`` is empty where it has none (UCUM otherwise)."""

    key: str
    label: str
    unit: str
    left: Value
    right: Value
    same: bool


class ComparedStep(msgspec.Struct, frozen=True):
    """Steps that correspond by their place and name; an index is None where one side has no such step.

    ``same`` where all texts are equal (of steps without texts: all payloads); ``kinds`` are those
    that differ. ``figures`` has what was counted where both have it and it differs, as left and right.
    """

    left: int | None
    right: int | None
    name: str
    same: bool
    first_divergence: bool
    kinds: list[str]
    figures: dict[str, tuple[int, int]]


class Comparison(msgspec.Struct, frozen=True):
    """Two recordings side by side. ``first_diverging`` is a position in ``steps``, None where all are same."""

    left: str
    right: str
    rows: list[ComparedRow]
    steps: list[ComparedStep]
    first_diverging: int | None


def compare(left: Recording, right: Recording) -> Comparison:
    """Return how ``right`` differs from ``left``."""
    steps: list[ComparedStep] = []
    first: int | None = None
    for one, other in _aligned(left, right):
        step = _compared(one, other, diverges=first is None)
        if step.first_divergence:
            first = len(steps)
        steps.append(step)
    return Comparison(left.id, right.id, list(_rows(left, right)), steps, first)


def _aligned(left: Recording, right: Recording) -> Iterator[tuple[Step | None, Step | None]]:
    ours = [step for step in left.steps if not step.placeholder]
    theirs = [step for step in right.steps if not step.placeholder]
    i = j = 0
    blocks = align([_key(step) for step in ours], [_key(step) for step in theirs])
    for x, y, n in (*blocks, (len(ours), len(theirs), 0)):
        yield from ((step, None) for step in ours[i:x])
        yield from ((None, step) for step in theirs[j:y])
        yield from zip(ours[x : x + n], theirs[y : y + n], strict=True)
        i, j = x + n, y + n


def _key(step: Step) -> tuple[str, str]:
    return step.dialect, step.name


def _compared(left: Step | None, right: Step | None, *, diverges: bool) -> ComparedStep:
    shown = left or right
    assert shown is not None, "an aligned step is on one side at least"
    kinds = list(_differing(left, right))
    same = left is not None and right is not None and not kinds
    figures = {
        key: (one, other)
        for key in FIGURES
        if left and right
        if (one := left.figure(key)) is not None
        if (other := right.figure(key)) is not None and one != other
    }
    return ComparedStep(
        left.index if left else None,
        right.index if right else None,
        shown.name,
        same,
        diverges and not same,
        kinds,
        figures,
    )


def _differing(left: Step | None, right: Step | None) -> Iterator[str]:
    ours, theirs = _digests(left), _digests(right)
    for kind in dict.fromkeys((*ours, *theirs)):
        if ours.get(kind) != theirs.get(kind):
            yield kind


def _digests(step: Step | None) -> dict[str, str]:
    """The digests of the texts, else of all payloads: that of a graph depends on the steps before."""
    if step is None:
        return {}
    texts = {kind: each.digest for kind, each in step.payloads.items() if is_text(each)}
    return texts or {kind: each.digest for kind, each in step.payloads.items()}


def _rows(left: Recording, right: Recording) -> Iterator[ComparedRow]:
    for key, label, unit in _FACTS:
        yield _row(key, label, unit, _fact(left, key), _fact(right, key))
    ours, theirs = _signature(left), _signature(right)
    yield _row("signature", "Inputs and outputs", "", ours, theirs)
    for figure in _RESULTS:
        values = (final_value(side, figure) for side in (left, right))
        yield _row(figure.key, figure.label, figure.unit, *values)


def _row(key: str, label: str, unit: str, left: Value, right: Value) -> ComparedRow:
    return ComparedRow(key, label, unit, left, right, left == right)


_FACTS = (
    ("function", "Function", ""),
    ("label", "Label", ""),
    ("status", "Status", ""),
    ("error", "Error", ""),
    ("started_at", "Started", "s"),
    ("duration_s", "Render", "s"),
    ("steps", "Steps", "{step}"),
    (a.COMPILER_VERSION, "scaly", ""),
    ("process.runtime.version", "Python", ""),
    ("host.name", "Host", ""),
    (a.FILE_PATH, "File", ""),
    (a.LINE_NUMBER, "Line", ""),
)
_RESULTS = tuple(
    BY_NAME[name]
    for name in (
        "nodes",
        "flops",
        "loads",
        "stores",
        "memory_traffic",
        "calls",
        "loops",
        "buffers",
        "workspace_bytes",
        "code_bytes",
        "code_lines",
    )
)


def _fact(recording: Recording, key: str) -> Value:
    match key:
        case "function" | "label" | "status" | "error" | "duration_s":
            value: object = getattr(recording, key)
        case "started_at":
            value = recording.start_ns / 1e9
        case "steps":
            value = sum(not step.placeholder for step in recording.steps)
        case _:
            head = recording.head
            value = head.attributes.get(key, head.resource.get(key))
    return value if isinstance(value, str | int | float) else None


def _signature(recording: Recording) -> str | None:
    """The head of the function in the first text that has it: names and types of what goes in and out."""
    for step in recording.steps[:1]:
        for kind in step.payloads:
            try:
                lines = lines_of(text_of(recording, step, kind))
            except PayloadError:
                continue
            heads = [line.strip() for line in lines if line.lstrip().startswith(_HEADS)]
            if heads:
                return heads[-1].partition("@")[2].removesuffix(" {")
    return None
