"""Owns the text of one step: which of its payloads is shown, and how a terminal or a pipe gets it."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from scaly_viz import codec
from scaly_viz.analysis.summary import summarize_steps
from scaly_viz.cli import output
from scaly_viz.cli.characters import visible_lines
from scaly_viz.cli.output import listed
from scaly_viz.cli.step_table import TEXT_KINDS
from scaly_viz.errors import PayloadError, ScalyVizError
from scaly_viz.recording import GRAPH, Recording, Step

type JsonObject = dict[str, object]


def last_with(recording: Recording, kind: str) -> Step:
    """Return the last step that has a payload of ``kind``.

    Raises:
        ScalyVizError: none has.
    """
    for step in reversed(recording.steps):
        if kind in step.payloads:
            return step
    kinds = dict.fromkeys(kind for step in recording.steps for kind in step.payloads)
    raise ScalyVizError(
        f"no step of {recording.name} has a payload of kind {kind!r}; there are: {listed([*kinds]) or 'none'}"
    )


@dataclass(frozen=True, slots=True)
class StepView:
    """One step of a recording, and the kind that was asked for, if one was."""

    recording: Recording
    step: Step
    kind: str | None

    def show(self, *, pager: bool) -> None:
        """Print the payload: in a pipe exactly, on a terminal in colors.

        Raises:
            ScalyVizError: the step has no such payload, it cannot be rebuilt, or it is no text and
                would go to a terminal.
        """
        kind = self._shown_kind()
        data, media_type = self._payload(kind)
        if output.is_terminal():
            self._show_on_terminal(kind, data, media_type, pager)
        else:
            ends = data.endswith(b"\n") or not _is_text(media_type)
            output.write_bytes(data if ends else data + b"\n")

    def as_json(self) -> JsonObject:
        """Return the step's summary, its ``texts`` by kind, and a ``graph`` where that was asked for."""
        summary = next(s for s in summarize_steps(self.recording) if s.index == self.step.index)
        texts: dict[str, str] = {}
        problems: dict[str, str] = {}
        kinds = [self.kind] if self.kind else [k for k in self.step.payloads if k != GRAPH]
        result: JsonObject = msgspec.to_builtins(summary)
        for kind in kinds:
            self._check(kind)
            try:
                if kind == GRAPH:
                    result["graph"] = self.recording.graph(self.step)
                elif _is_text(self.step.payloads[kind].media_type):
                    texts[kind] = self.recording.text(self.step, kind)
            except (PayloadError, UnicodeDecodeError) as error:
                if self.kind:
                    raise self._unreadable(kind, error) from error
                problems[kind] = str(error)
        return result | {"texts": texts, "problems": problems}

    def _shown_kind(self) -> str:
        if self.kind is not None:
            return self.kind
        kinds = (*TEXT_KINDS, *self.step.payloads)
        kind = next((kind for kind in kinds if kind in self.step.payloads), None)
        if kind is None:
            cause = "it is missing" if self.step.placeholder else "nothing of it was recorded"
            raise ScalyVizError(f"{self._name()} has no text: {cause}")
        return kind

    def _payload(self, kind: str) -> tuple[bytes, str]:
        """Return the payload's bytes and media type, a graph as JSON."""
        self._check(kind)
        try:
            if kind == GRAPH:
                return output.to_json(self.recording.graph(self.step)).encode(), codec.JSON
            return self.recording.data(self.step, kind), self.step.payloads[kind].media_type
        except PayloadError as error:
            raise self._unreadable(kind, error) from error

    def _check(self, kind: str) -> None:
        if kind not in self.step.payloads:
            has = listed([*self.step.payloads]) or "nothing"
            raise ScalyVizError(f"{self._name()} has no {kind}; it has: {has}")

    def _unreadable(self, kind: str, error: Exception) -> ScalyVizError:
        others = [k for k, payload in self.step.payloads.items() if k != kind and not payload.error]
        hint = f"; try --kind {others[0]}" if others else ""
        return ScalyVizError(f"{self._name()}: its {kind} cannot be shown: {error}{hint}")

    def _name(self) -> str:
        return f"step {self.step.index} ({self.step.name})"

    def _show_on_terminal(self, kind: str, data: bytes, media_type: str, pager: bool) -> None:
        if not _is_text(media_type):
            raise ScalyVizError(
                f"the {kind} of {self._name()} is no text but {len(data):,} bytes of {media_type}:"
                " send it to a file or a pipe"
            )
        if media_type == codec.JSON:
            data = msgspec.json.format(data, indent=2)
        text = visible_lines(data.decode("utf-8", "backslashreplace")).removesuffix("\n")
        chunks = iter([text])
        if output.has_colors():
            from scaly_viz.cli.highlight import highlighted

            chunks = highlighted(text, kind, media_type)
        output.page(text, chunks, pager=pager)


def _is_text(media_type: str) -> bool:
    return media_type.startswith("text/") or media_type.endswith("json")
