"""Owns the recording as readers see it: spans put together, payloads decoded on request."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeGuard

from scaly_viz import attributes as a
from scaly_viz import codec, graph_rows, graph_table
from scaly_viz.codec import EncodedPayload
from scaly_viz.errors import PayloadError
from scaly_viz.graph_chain import GraphChain, GraphSource
from scaly_viz.graph_rows import GraphRows
from scaly_viz.span_record import Attributes, AttributeValue, SpanRecord

type Report = Callable[[str], None]
type RecordingDict = dict[str, Any]

GRAPH = "graph"
# Kinds whose decoded form scaly.viz has under the same name, in the order of its dicts.
_MANY_STEPS = 1_000
_TEXT_KINDS = ("assembly", "listing")
_CODE = "code"
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
    _decoded: dict[str, bytes] = field(default_factory=dict)
    _by_digest: dict[str, dict[str, EncodedPayload]] = field(default_factory=dict)
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
        return self._hinted_data(kind, payload)

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
            return graph_table.decode_graph(self._hinted_data(GRAPH, payload))
        table, delta = self._delta(payload)
        return table.graph(delta.prefix, delta.roots)

    def graph_rows(self, step: Step) -> GraphRows:
        """Return the step's graph as numbered nodes.

        Raises:
            PayloadError: the step has none, or it cannot be rebuilt.
        """
        payload = self._graph_payload(step)
        if payload.media_type == codec.JSON:
            return graph_rows.of_graph(graph_table.decode_graph(self._hinted_data(GRAPH, payload)))
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
                data = partial(self._hinted_data, GRAPH, payload)
                yield GraphSource(self._where(step), payload.digest, data)
            elif payload is None and step.dialect != _C:
                yield GraphSource(self._where(step), "", None)

    def _where_of(self, kind: str, payload: EncodedPayload) -> str:
        step = next(step for step in self.steps if step.payloads.get(kind) is payload)
        return f"the {kind} of {self._where(step)}"

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

    def _hinted_data(self, kind: str, payload: EncodedPayload) -> bytes:
        try:
            return self._data(kind, payload)
        except PayloadError as error:
            if not self.hint:
                raise
            raise PayloadError(f"{error}. {self.hint}") from error

    def _data(self, kind: str, payload: EncodedPayload) -> bytes:
        """Decode ``payload`` after all that it builds on, oldest first; each only once."""
        known = self._payloads_by_digest(kind)
        chain: list[EncodedPayload] = []
        current: EncodedPayload | None = payload
        digest = payload.digest
        while digest not in self._decoded:
            if current is not None and current.encoding == "same" and not current.error:
                current = known.get(digest)
                if current is None:
                    raise PayloadError(f"it equals payload {digest[:12]}, which is missing")
            if current is None:
                break
            if len(chain) > len(known):
                raise PayloadError("it builds on itself")
            chain.append(current)
            digest = current.base
            if not digest:
                break
            current = known.get(digest)
        while chain:
            current = chain.pop()
            try:
                data = codec.unpack(current, self._decoded.get(current.base))
            except PayloadError as error:
                if current.digest == payload.digest:
                    raise
                where = self._where_of(kind, current)
                raise PayloadError(
                    f"it builds on {where}, which cannot be read: {error}"
                ) from error
            self._decoded[current.digest] = data
        return self._decoded[payload.digest]

    def _payloads_by_digest(self, kind: str) -> dict[str, EncodedPayload]:
        if kind not in self._by_digest:
            self._by_digest[kind] = {
                payload.digest: payload
                for step in self.steps
                if (payload := step.payloads.get(kind)) is not None and payload.encoding != "same"
            }
        return self._by_digest[kind]


def _text(attributes: Attributes, key: str) -> str | None:
    """Return the text at ``key`` as it was before UTF-8, or None where there is none."""
    exact = attributes.get(key + a.JSON_SUFFIX)
    if isinstance(exact, str):
        with contextlib.suppress(ValueError, RecursionError):
            return str(json.loads(exact))
    value = attributes.get(key)
    return None if value is None else str(value)


def assemble(spans: Iterable[SpanRecord]) -> list[Recording]:
    """Put ``spans`` together, in any order and from any number of recordings; others are passed over.

    Returns recordings in the order in which their renders ended; a span that comes twice counts once.
    """
    groups: dict[str, dict[str, SpanRecord]] = {}
    for span in spans:
        recording = span.attributes.get(a.RECORDING_ID)
        if isinstance(recording, str) and recording:
            groups.setdefault(recording, {}).setdefault(span.span_id, span)
    recordings = [_recording(id_, list(group.values())) for id_, group in groups.items()]
    return sorted(recordings, key=lambda recording: recording.end_ns)


def _recording(id_: str, spans: list[SpanRecord]) -> Recording:
    root = next((span for span in spans if a.RECORDING_STEPS in span.attributes), None)
    steps = {step.index: step for step in _steps(spans)}
    problems = list(_schema_problems(spans))
    expected = max(steps, default=-1) + 1
    if root is None:
        problems.append("the render is still running, or its process was ended in the middle")
    else:
        declared = root.attributes.get(a.RECORDING_STEPS)
        expected = max(expected, declared) if _is_count(declared) else expected
    missing = expected - len(steps)
    if missing:
        problems.append(f"{missing:,} of {expected:,} steps are missing")
    if missing <= _MANY_STEPS:
        for index in set(range(expected)) - set(steps):
            steps[index] = Step(index, {a.STEP_NAME: "missing"}, 0, 0, placeholder=True)
    ordered = [steps[index] for index in sorted(steps)]
    return Recording(id_, root, ordered, problems, missing, spans)


def _steps(spans: Sequence[SpanRecord]) -> Iterator[Step]:
    parts: dict[int, list[SpanRecord]] = {}
    for span in spans:
        index = span.attributes.get(a.STEP_INDEX)
        if _is_count(index):
            parts.setdefault(index, []).append(span)
    for index, group in parts.items():
        step = next((span for span in group if a.STEP_NAME in span.attributes), None)
        if step is None:
            continue
        events = [(event.name, event.attributes) for span in group for event in span.events]
        payloads = {payload.kind: payload for payload in codec.collect(events)}
        yield Step(index, step.attributes, step.start_ns, step.end_ns, _ordered(payloads))


def _is_count(value: object) -> TypeGuard[int]:
    return type(value) is int and 0 <= value < 1 << 63


def _ordered(payloads: dict[str, EncodedPayload]) -> dict[str, EncodedPayload]:
    order = (*_TEXT_KINDS, GRAPH, _CODE)
    return {kind: payloads[kind] for kind in order if kind in payloads} | payloads


def _schema_problems(spans: Sequence[SpanRecord]) -> Iterator[str]:
    major = a.SCHEMA_VERSION.partition(".")[0]
    versions = {str(span.attributes.get(a.SCHEMA, a.SCHEMA_VERSION)) for span in spans}
    for version in sorted(versions):
        if version.partition(".")[0] != major:
            yield (
                f"it was written by schema version {version}, this version knows"
                f" {a.SCHEMA_VERSION}: what it does not know is left out"
            )


def from_dict(data: Mapping[str, Any], origin: str) -> Recording:
    """Return a recording of scaly.viz, of any age, in our form; keys that it lacks stay empty."""
    start_ns = _nanoseconds(data.get("started_at"))
    error = data.get("error")
    listed = data.get("steps") or []
    attributes: dict[str, AttributeValue] = {
        a.RECORDING_ID: str(data.get("id", "")),
        a.RECORDING_STEPS: len(listed),
        a.FUNCTION_NAME: str(data.get("function", "")),
    }
    if data.get("name") not in (None, data.get("function")):
        attributes[a.LABEL] = str(data["name"])
    if error is not None:
        attributes[a.ERROR] = str(error)
    root = SpanRecord(
        trace_id="",
        span_id="",
        parent_span_id="",
        name=f"{a.SPAN_RENDER} {data.get('function', '')}",
        start_ns=start_ns,
        end_ns=start_ns,
        attributes=attributes,
        events=(),
        status="unset" if error is None else "error",
        status_message="" if error is None else str(error),
        resource={},
        scope="scaly.viz",
        origin=origin,
    )
    before: dict[str, str] = {}
    steps = []
    for i, step in enumerate(listed):
        steps.append(_step_from_dict(i, step, start_ns, before))
        before |= {kind: payload.digest for kind, payload in steps[-1].payloads.items()}
    return Recording(str(data.get("id", "")), root, steps, [], spans=(root,))


def _nanoseconds(seconds: object) -> int:
    usable = isinstance(seconds, int | float) and 0 <= seconds < _LATEST_S
    return round(seconds * 1e9) if usable and isinstance(seconds, int | float) else 0


# The year 2262, beyond which nanoseconds exceed 64 bits.
_LATEST_S = 9_223_372_036
_STEP_KEYS = ("name", "phase", "dialect")


def _step_from_dict(
    index: int, data: Mapping[str, Any], start_ns: int, before: Mapping[str, str]
) -> Step:
    attributes: dict[str, AttributeValue] = {
        a.STEP_NAME: str(data.get("name", "")),
        a.STEP_INDEX: index,
        a.STEP_PHASE: str(data.get("phase", "")),
        a.STEP_DIALECT: str(data.get("dialect", "")),
    }
    step = Step(index, attributes, start_ns, start_ns)
    for kind, value in data.items():
        if kind in _STEP_KEYS or value is None:
            continue
        payload = (
            codec.text_payload(kind, value)
            if isinstance(value, str)
            else codec.Payload(kind, graph_table.encode_json(value), codec.JSON)
        )
        step.payloads[kind] = codec.as_read(payload)
    attributes[a.STEP_CHANGED] = any(
        before.get(kind) != payload.digest for kind, payload in step.payloads.items()
    )
    graph = data.get("graph")
    for key, name in ((a.GRAPH_NODES, "nodes"), (a.GRAPH_EDGES, "edges")):
        if isinstance(graph, Mapping) and isinstance(graph.get(name), list):
            attributes[key] = len(graph[name])
    if isinstance(data.get("code"), str):
        attributes[a.CODE_BYTES] = len(data["code"].encode("utf-8", "surrogatepass"))
        attributes[a.CODE_LINES] = len(data["code"].splitlines())
    return step
