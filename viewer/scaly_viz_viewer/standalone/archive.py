"""Owns all that a page can ask for of some recordings: each answer made once, packed, by blocks.

A block is what the page unpacks at once: the answers about all recordings (``head``), and of each
recording its texts, their differences, costs, outlines, graphs, memory and names.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, permutations

import msgspec

from scaly_viz.analysis.diff import diff_texts
from scaly_viz.analysis.groups import SORT_KEYS
from scaly_viz.analysis.texts import is_text, previous_step, text_kinds, text_of
from scaly_viz.codec import EncodedPayload
from scaly_viz.errors import PayloadError
from scaly_viz.recording import Recording, Step
from scaly_viz_viewer.api_graph import grouped_of
from scaly_viz_viewer.app import app_of
from scaly_viz_viewer.catalog import Catalog, Opened
from scaly_viz_viewer.config import Config
from scaly_viz_viewer.given import GivenSource
from scaly_viz_viewer.standalone.graphs import GraphPacker
from scaly_viz_viewer.standalone.names import pack_names
from scaly_viz_viewer.standalone.packing import Block
from scaly_viz_viewer.standalone.questions import Questions, Refused, kind_part, recording_path

VERSION = 1
# Data that is no text is there to be downloaded: graphs as JSON are ten times what all else takes.
_MAX_DATA_BYTES = 20_000
# Every recording can be compared with every other as long as there are not more than these.
_MAX_COMPARED = 12
_NO_VALUES = "there are too many names: the page does not have the lives of all values"
_NO_DIFFERENCES = "there are too many texts: the page does not have the difference of any two"

type Text = tuple[str, str]
"""The digest of a text, and the text."""


class Archive:
    """The answers about ``recordings``, in ``blocks`` by name; ``notes`` says what is not among them."""

    def __init__(
        self,
        recordings: Sequence[Recording],
        source: str,
        seconds: float,
        progress: Callable[[str], None],
    ) -> None:
        self.blocks: dict[str, Block] = {}
        self.notes: list[str] = []
        self._refused: dict[str, tuple[int, str, str]] = {}
        self._seconds = seconds
        self._progress = progress
        self._catalog = Catalog([GivenSource(source, recordings)])
        self._questions = Questions(app_of(self._catalog, Config()))
        self.summaries = self._catalog.recordings()
        self.keys = [summary.id for summary in self.summaries]
        for number, key in enumerate(self.keys):
            self._add_recording(number, key)
        progress("the comparison of the recordings")
        self._add_comparisons()
        self._add_head()

    def _add_head(self) -> None:
        head = self._block("head")
        orders = {
            f"{key} {order}": [
                each["id"]
                for each in self._questions.json(
                    "recordings", sort=key, order=order, limit="10000"
                )["recordings"]
            ]
            for key in SORT_KEYS
            for order in ("desc", "asc")
        }
        head.add("orders", orders)
        head.add("keys", self.keys)
        head.add("sources", self._questions.json("sources"))
        head.add("refused", self._refused)
        head.add("version", VERSION)

    def _add_recording(self, number: int, key: str) -> None:
        opened = self._catalog.open(key)
        assert opened is not None, "what is given does not go away"
        name = opened.recording.name
        if len(self.keys) > 1:
            name = f"{name} ({number + 1} of {len(self.keys)})"
        self._progress(f"{name}: what each step changed")
        for path in ("", "changes", "timeline", "failure"):
            self._ask("head", recording_path(key, *filter(None, [path])))
        self._progress(f"{name}: texts and costs")
        self._add_payloads(f"{number}/texts", key, opened)
        self._add_costs(f"{number}/costs", key, opened)
        self._progress(f"{name}: graphs")
        self._add_graphs(number, key, opened)
        texts = _Texts(opened.recording)
        self._progress(f"{name}: differences")
        self._add_changes(f"{number}/diffs", texts)
        self._progress(f"{name}: lives of values")
        deadline = time.thread_time() + self._seconds
        if not pack_names(self._block(f"{number}/names"), opened.recording, deadline):
            self.notes.append(f"{opened.recording.name}: {_NO_VALUES}")
        self._progress(f"{name}: differences of any two texts")
        self._add_pairs(f"{number}/diffs", texts, deadline)

    def _ask(self, block: str, path: str, key: str = "") -> None:
        try:
            self._block(block).add(key or path, self._questions.json(path))
        except Refused as refused:
            self._refused[path] = refused.why

    def _block(self, name: str) -> Block:
        return self.blocks.setdefault(name, Block())

    def _add_payloads(self, name: str, key: str, opened: Opened) -> None:
        block = self._block(name)
        for step in opened.recording.steps:
            for kind, payload in step.payloads.items():
                answer_key = f"{kind} {payload.digest}"
                if payload.digest and answer_key in block.answers:
                    continue
                path = recording_path(key, "steps", step.index, "payloads", kind_part(kind))
                try:
                    data, media_type = self._data(path, kind, payload)
                except Refused as refused:
                    self._refused[path] = refused.why
                    continue
                lines = data.decode("utf-8", "replace").split("\n")
                is_binary = media_type.startswith("application/octet-stream")
                at = -1 if is_binary else block.packer.numbers([*map(block.packer.row, lines)])
                block.answers[answer_key] = [media_type, at]

    def _data(self, path: str, kind: str, payload: EncodedPayload) -> tuple[bytes, str]:
        if not is_text(payload) and payload.size > _MAX_DATA_BYTES:
            raise _too_big(kind)
        data, media_type = self._questions.content(path)
        if not is_text(payload) and len(data) > _MAX_DATA_BYTES:
            raise _too_big(kind)
        return data, media_type

    def _add_costs(self, name: str, key: str, opened: Opened) -> None:
        for step in opened.recording.steps:
            for kind in text_kinds(step):
                path = recording_path(key, "steps", step.index, "cost", kind_part(kind))
                answer_key = f"{kind} {step.payloads[kind].digest} {step.dialect}"
                if answer_key not in self._block(name).answers:
                    self._ask(name, path, answer_key)

    def _add_graphs(self, number: int, key: str, opened: Opened) -> None:
        graphs = GraphPacker(self._block(f"{number}/graphs"))
        for step in opened.recording.steps:
            path = recording_path(key, "steps", step.index)
            self._ask(f"{number}/memory", f"{path}/workspace")
            self._ask(f"{number}/outlines", f"{path}/outline")
            if f"{path}/outline" in self._refused:
                self._refused[f"{path}/graph"] = self._refused[f"{path}/outline"]
            else:
                graphs.add(f"{path}/graph", grouped_of(opened, step), step)
        graphs.finish()

    def _add_changes(self, name: str, texts: _Texts) -> None:
        """The difference of each text to the one before it."""
        for step in texts.recording.steps:
            for kind in text_kinds(step):
                earlier = previous_step(texts.recording, step, kind)
                if earlier is not None:
                    self._add_diff(name, texts.of(earlier, kind), texts.of(step, kind))

    def _add_pairs(self, name: str, texts: _Texts, deadline: float) -> None:
        """The differences of any other two, as long as there is time."""
        for left, right in texts.pairs():
            if time.thread_time() > deadline:
                self.notes.append(f"{texts.recording.name}: {_NO_DIFFERENCES}")
                break
            self._add_diff(name, left, right)

    def _add_diff(self, name: str, left: Text | None, right: Text | None) -> None:
        if left is None or right is None or left[0] == right[0]:
            return
        for numbering in ("ignore", "exact"):
            key = f"{left[0]} {right[0]} {numbering}"
            block = self._block(name)
            if key not in block.answers:
                diff = diff_texts(left[1], right[1], numbering)
                block.add(key, msgspec.to_builtins(diff))

    def _add_comparisons(self) -> None:
        if len(self.keys) > _MAX_COMPARED:
            self.notes.append(
                f"more than {_MAX_COMPARED} recordings: none are compared in the page"
            )
            return
        for left, right in permutations(self.keys, 2):
            self._ask("head", f"compare?left={left}&right={right}")
        for left, right in combinations(self.keys, 2):
            self._add_compared_texts(left, right)

    def _add_compared_texts(self, left: str, right: str) -> None:
        one, other = self._catalog.open(left), self._catalog.open(right)
        assert one is not None, "what is given does not go away"
        assert other is not None, "what is given does not go away"
        ours, theirs = _Texts(one.recording), _Texts(other.recording)
        compared = self._questions.json("compare", left=left, right=right)
        for row in compared["steps"]:
            step, there = ours.steps.get(row["left"]), theirs.steps.get(row["right"])
            if step is None or there is None:
                continue
            for kind in text_kinds(there):
                if kind in step.payloads:
                    self._add_diff("compared", ours.of(step, kind), theirs.of(there, kind))


class _Texts:
    """The texts of a recording with their digests; None for what cannot be read."""

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self.steps: dict[int | None, Step] = {step.index: step for step in recording.steps}

    def of(self, step: Step, kind: str) -> Text | None:
        """Return one text."""
        try:
            return step.payloads[kind].digest, text_of(self.recording, step, kind)
        except PayloadError:
            return None

    def pairs(self) -> Iterator[tuple[Text | None, Text | None]]:
        """Return all pairs of different texts of one kind, each the earlier one first, neighbors first."""
        by_kind: dict[str, dict[str, Step]] = {}
        for step in self.recording.steps:
            for kind in text_kinds(step):
                by_kind.setdefault(kind, {}).setdefault(step.payloads[kind].digest, step)
        pairs = [
            (at - before, kind, left, right)
            for kind, steps in by_kind.items()
            for (before, left), (at, right) in combinations(enumerate(steps.values()), 2)
        ]
        pairs.sort(key=lambda pair: pair[0])
        for _, kind, left, right in pairs:
            yield self.of(left, kind), self.of(right, kind)


def _too_big(kind: str) -> Refused:
    return Refused(
        404,
        "not_exported",
        f"This file does not have the {kind} as data, because it is big: scaly-viz serve has it.",
    )
