"""Owns the recording as readers see it: what is known of the render and its steps, payloads on request."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from scaly_viz import attributes as a
from scaly_viz import codec, graph_rows, graph_table
from scaly_viz.codec import EncodedPayload
from scaly_viz.errors import PayloadError
from scaly_viz.graph_chain import GraphChain, GraphSource
from scaly_viz.graph_rows import GraphRows
from scaly_viz.payload_chain import PayloadChain
from scaly_viz.span_record import Attributes, SpanRecord

type RecordingDict = dict[str, Any]

GRAPH = "graph"
_C = "c"


@dataclass(slots=True)
class Step:
    """One step: its span, and its payloads by kind."""

    index: int
    attributes: Attributes
    start_ns: int
    end_ns: int
    payloads: dict[str, EncodedPayload] = field(default_factory=dict)
    placeholder: bool = False

    @property
    def name(self) -> str:
        """Exact name, as scaly.viz shows it."""
        return _text(self.attributes, a.STEP_NAME) or ""

    @property
    def phase(self) -> str:
        """Group of the step."""
        return str(self.attributes.get(a.STEP_PHASE, ""))

    @property
    def dialect(self) -> str:
        """Language of what the step made."""
        return str(self.attributes.get(a.STEP_DIALECT, ""))

    @property
    def changed(self) -> bool:
        """False where every payload equals the previous one of its kind."""
        return self.attributes.get(a.STEP_CHANGED, True) is not False

    @property
    def duration_s(self) -> float:
        """Compiler time of the step, in seconds."""
        return (self.end_ns - self.start_ns) / 1e9

    def figure(self, key: str) -> int | None:
        """Return the integer attribute ``key``, or None where the step has none."""
        value = self.attributes.get(key)
        return value if isinstance(value, int) and not isinstance(value, bool) else None


@dataclass(slots=True)
class Recording:
    """One render, as far as its spans are known.

    ``problems`` says in words what is missing or damaged. A missing step has a placeholder among
    ``steps``, unless there are too many. ``hint`` is what to look at where a payload turns out damaged.
    """

    id: str
    root: SpanRecord | None
    steps: list[Step]
    problems: list[str]
    missing_steps: int = 0
    spans: Sequence[SpanRecord] = ()
    hint: str = ""
    _payloads: PayloadChain | None = None
    _graphs: GraphChain | None = None

    @property
    def head(self) -> SpanRecord:
        """The root span, or any other where it is missing."""
        return self.root or self.spans[0]

    @property
    def function(self) -> str:
        """Name of the rendered function."""
        return _text(self.head.attributes, a.FUNCTION_NAME) or ""

    @property
    def label(self) -> str | None:
        """Label given to ``visualize``."""
        return _text(self.head.attributes, a.LABEL)

    @property
    def name(self) -> str:
        """What the recording is shown as: its label, else the function's name."""
        return self.label or self.function

    @property
    def complete(self) -> bool:
        """Whether the root span and every step are there."""
        return self.root is not None and not self.missing_steps

    @property
    def start_ns(self) -> int:
        """When the render began, in nanoseconds since the epoch, as far as it is known."""
        return self.root.start_ns if self.root else min(span.start_ns for span in self.spans)

    @property
    def end_ns(self) -> int:
        """When the render ended, in nanoseconds since the epoch, as far as it is known."""
        return self.root.end_ns if self.root else max(span.end_ns for span in self.spans)

    @property
    def duration_s(self) -> float:
        """Wall time of the render in seconds, as far as it is known."""
        return (self.end_ns - self.start_ns) / 1e9

    @property
    def error(self) -> str | None:
        """The failure's text, as scaly.viz has it, or why the recording is incomplete; else None."""
        if self.root is not None and self.root.status == "error":
            error = _text(self.root.attributes, a.ERROR)
            return self.root.status_message if error is None else error
        return None if self.complete else f"incomplete: {self.problems[0]}"

    @property
    def status(self) -> str:
        """``ok``, ``failed`` or ``incomplete``."""
        if not self.complete:
            return "incomplete"
        return "failed" if self.error is not None else "ok"

    def undecoded(self) -> Recording:
        """Return a copy that has decoded nothing yet, and holds as little."""
        problems = list(self.problems)
        return Recording(
            self.id, self.root, self.steps, problems, self.missing_steps, self.spans, self.hint
        )

    def data(self, step: Step, kind: str) -> bytes:
        """Return the decoded payload of ``kind``.

        Raises:
            PayloadError: the step has none of that kind, or it cannot be rebuilt.
        """
        payload = step.payloads.get(kind)
        if payload is None:
            raise PayloadError(f"step {step.index} has no {kind}")
        return self._data(payload)

    def text(self, step: Step, kind: str) -> str:
        """Return the decoded payload of ``kind`` as text.

        Raises:
            PayloadError: the step has none of that kind, or it cannot be rebuilt.
        """
        return self.data(step, kind).decode("utf-8", "surrogatepass")

    def graph(self, step: Step) -> graph_table.Graph:
        """Return the step's graph as scaly.viz has it.

        Raises:
            PayloadError: the step has none, or it cannot be rebuilt.
        """
        payload = self._graph_payload(step)
        if payload.media_type == codec.JSON:
            return graph_table.decode_graph(self._data(payload))
        table, delta = self._delta(payload)
        return table.graph(delta.prefix, delta.roots)

    def graph_rows(self, step: Step) -> GraphRows:
        """Return the step's graph as numbered nodes.

        Raises:
            PayloadError: the step has none, or it cannot be rebuilt.
        """
        payload = self._graph_payload(step)
        if payload.media_type == codec.JSON:
            return graph_rows.of_graph(graph_table.decode_graph(self._data(payload)))
        return graph_rows.of_table(*self._delta(payload))

    def _graph_payload(self, step: Step) -> EncodedPayload:
        payload = step.payloads.get(GRAPH)
        if payload is None:
            raise PayloadError(f"step {step.index} has no graph")
        if payload.error:
            raise PayloadError(payload.error)
        return payload

    def _delta(
        self, payload: EncodedPayload
    ) -> tuple[graph_table.GraphTable, graph_table.GraphDelta]:
        if self._graphs is None:
            self._graphs = GraphChain(self._graph_sources())
        return self._graphs.delta(payload.digest)

    def _graph_sources(self) -> Iterator[GraphSource]:
        for step in self.steps:
            payload = step.payloads.get(GRAPH)
            if payload is not None and payload.media_type != codec.JSON:
                data = partial(self._data, payload)
                yield GraphSource(self._where(step), payload.digest, data)
            elif payload is None and step.dialect != _C:
                yield GraphSource(self._where(step), "", None)

    def _data(self, payload: EncodedPayload) -> bytes:
        if self._payloads is None:
            payloads = (each for step in self.steps for each in step.payloads.values())
            self._payloads = PayloadChain(payloads, self._where_of)
        try:
            return self._payloads.data(payload)
        except PayloadError as error:
            if not self.hint:
                raise
            raise PayloadError(f"{error}. {self.hint}") from error

    def _where_of(self, payload: EncodedPayload) -> str:
        step = next(step for step in self.steps if step.payloads.get(payload.kind) is payload)
        return f"the {payload.kind} of {self._where(step)}"

    def _where(self, step: Step) -> str:
        spans = (s for s in self.spans if s.attributes.get(a.STEP_INDEX) == step.index)
        origin = next((span.origin for span in spans if span.origin), "")
        return f"step {step.index} ({origin})" if origin else f"step {step.index}"

    def to_dict(self) -> RecordingDict:
        """Return the recording as the dict that scaly.viz records for the same render.

        An incomplete recording has ``incomplete`` true. A payload that cannot be rebuilt is left
        out, and ``problems`` says which and why.
        """
        problems = list(self.problems)
        recording: RecordingDict = {
            "id": self.id,
            "name": self.name,
            "function": self.function,
            "started_at": self.start_ns / 1e9,
            "error": self.error,
            "steps": [self._step_dict(s, problems) for s in self.steps if not s.placeholder],
        }
        if not self.complete:
            recording["incomplete"] = True
        if problems:
            recording["problems"] = problems
        return recording

    def _step_dict(self, step: Step, problems: list[str]) -> dict[str, Any]:
        result: dict[str, Any] = {
            "name": step.name,
            "phase": step.phase,
            "dialect": step.dialect,
        }
        for kind in step.payloads:
            try:
                result[kind] = self.graph(step) if kind == GRAPH else self._value(step, kind)
            except PayloadError as error:
                problems.append(f"step {step.index} ({step.name}): its {kind} is missing: {error}")
        return result

    def _value(self, step: Step, kind: str) -> str | bytes:
        data = self.data(step, kind)
        try:
            return data.decode("utf-8", "surrogatepass")
        except UnicodeDecodeError:
            return data


def _text(attributes: Attributes, key: str) -> str | None:
    """Return the text at ``key`` as it was before UTF-8, or None where there is none."""
    exact = attributes.get(key + a.JSON_SUFFIX)
    if isinstance(exact, str):
        with contextlib.suppress(ValueError, RecursionError):
            return str(json.loads(exact))
    value = attributes.get(key)
    return None if value is None else str(value)
