"""Owns taking what a step made - assembly, listing, graph, code, figures - from scaly's objects."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scaly.passes import program as program_passes

from scaly_viz import attributes as a
from scaly_viz import graph_table
from scaly_viz.codec import GRAPH_DELTA, Encoder, FailedPayload, Payload, SamePayload, text_payload
from scaly_viz.frontend.counts import Counter, Counts
from scaly_viz.frontend.expr_text import ExpressionPrinter
from scaly_viz.frontend.graph import GraphStep, GraphTaker
from scaly_viz.frontend.guard import Guard
from scaly_viz.frontend.memory import NODES_CHANGE
from scaly_viz.frontend.pace import Pace
from scaly_viz.frontend.program_text import ProgramPrinter
from scaly_viz.log import said
from scaly_viz.spans import StepSpan, Value, step_span_name

if TYPE_CHECKING:
    from scaly.ir.program import ProgramNode

type Dialect = Literal["expr", "prog", "c"]
type AnyPayload = Payload | SamePayload | FailedPayload
type Events = list[tuple[str, Mapping[str, Value]]]

_PHASES: dict[Dialect, str] = {
    "expr": "expression dialect",
    "prog": "program dialect",
    "c": "generated code",
}
_KINDS: dict[Dialect, tuple[str, ...]] = {
    "expr": ("assembly", "graph"),
    "prog": ("assembly", "listing", "graph"),
    "c": ("code",),
}


@dataclass(frozen=True, slots=True)
class PendingStep:
    """A step as the compiler handed it over: a reference to an immutable object, and when it was made.

    ``start_ns`` and ``end_ns`` are nanoseconds since the epoch, ``since`` monotonic seconds.
    """

    index: int
    name: str
    dialect: Dialect
    subject: Any
    start_ns: int
    end_ns: int
    since: float

    @property
    def span_name(self) -> str:
        """The low-cardinality name of the step's span."""
        return step_span_name(self.name, self.dialect)


class StepTaker:
    """Turns the steps of one recording, in order, into spans; remembers what they share."""

    def __init__(self, guard: Guard, pace: Pace, print_options: Mapping[str, Any]) -> None:
        self._guard = guard
        self._print_options = print_options
        self._encoder = Encoder()
        self._graphs = GraphTaker(pace)
        self._programs = ProgramPrinter(pace)
        self._expressions = ExpressionPrinter(pace)
        self._counter = Counter(pace)
        self._new: list[Any] = []
        self._latest_graph: tuple[str, list[int]] | None = None
        self._previous: dict[Dialect, tuple[Any, dict[str, Value]]] = {}

    def take(self, step: PendingStep) -> StepSpan:
        """Return the span of ``step``; a payload that cannot be made says why in its place."""
        attributes: dict[str, Value] = {
            a.STEP_NAME: step.name,
            a.STEP_INDEX: step.index,
            a.STEP_PHASE: _PHASES[step.dialect],
            a.STEP_DIALECT: step.dialect,
            **_pass_location(step.name),
        }
        previous = self._previous.get(step.dialect)
        if NODES_CHANGE:
            self._forget_texts()
        if previous is not None and previous[0] is step.subject and not NODES_CHANGE:
            figures = previous[1] | {a.GRAPH_ADDED: 0, a.GRAPH_REMOVED: 0}
            events = self._repeat(step)
        else:
            # NumPy's print options belong to a thread: those of the render's thread count.
            with np.printoptions(**self._print_options):
                figures, events = self._make(step)
        self._previous[step.dialect] = (step.subject, figures)
        encodings = (event[1].get(a.PAYLOAD_ENCODING) for event in events)
        attributes[a.STEP_CHANGED] = any(encoding != "same" for encoding in encodings)
        return StepSpan(step.span_name, step.start_ns, step.end_ns, attributes | figures, events)

    def forget_dead(self) -> None:
        """Release what the latest steps no longer reach."""
        kept = self._graphs.forget_dead()
        self._programs.forget(kept)
        self._expressions.forget(kept)
        self._counter.forget(kept)

    def _forget_texts(self) -> None:
        for printer in (self._programs, self._expressions, self._counter):
            printer.forget(())

    def _repeat(self, step: PendingStep) -> Events:
        kinds = _KINDS[step.dialect]
        return [(k, part) for k in kinds for part in self._encoder.encode(SamePayload(k))]

    def _make(self, step: PendingStep) -> tuple[dict[str, Value], Events]:
        figures: dict[str, Value] = {}
        events: Events = []
        for payload in self._payloads(step, figures):
            events += [(payload.kind, part) for part in self._encoder.encode(payload)]
        order = _KINDS[step.dialect]
        return figures, sorted(events, key=lambda event: order.index(event[0]))

    def _payloads(self, step: PendingStep, figures: dict[str, Value]) -> Iterator[AnyPayload]:
        if step.dialect == "c":
            yield self._try(step, "code", lambda: text_payload("code", step.subject))
            data = step.subject.encode("utf-8", "surrogatepass")
            figures[a.CODE_BYTES] = len(data)
            figures[a.CODE_LINES] = len(step.subject.splitlines())
        elif step.dialect == "expr":
            yield self._try(step, "graph", lambda: self._graph(step, figures))
            render = self._expressions.render
            yield self._try(
                step, "assembly", lambda: text_payload("assembly", render(step.subject))
            )
        else:
            # The graph first: it tells the printer which nodes are new.
            yield self._try(step, "graph", lambda: self._graph(step, figures))
            yield from self._program_texts(step)
            counts = self._guard.run(f"counting step {step.name}", self._count, step.subject)
            if counts is not None:
                figures |= _count_figures(counts)

    def _try(self, step: PendingStep, kind: str, make: Callable[[], AnyPayload]) -> AnyPayload:
        try:
            return make()
        except Exception as error:
            self._guard.tell(f"taking the {kind} of step {step.name}", error)
            return FailedPayload(kind, said(error))

    def _program_texts(self, step: PendingStep) -> Iterator[AnyPayload]:
        texts: list[str] = []

        def assembly() -> Payload:
            texts.extend(self._programs.render(step.subject))
            return text_payload("assembly", texts[0])

        made = self._try(step, "assembly", assembly)
        yield made
        if isinstance(made, FailedPayload):
            yield FailedPayload("listing", made.error)
        else:
            yield text_payload("listing", texts[1])

    def _count(self, program: ProgramNode) -> Counts:
        self._counter.learn(self._new)
        self._new = []
        return self._counter.count(program)

    def _graph(self, step: PendingStep, figures: dict[str, Value]) -> Payload | SamePayload:
        if step.dialect == "expr":
            graph = self._graphs.take_expressions(step.subject.outputs)
        else:
            graph = self._graphs.take_program(step.subject)
            if not NODES_CHANGE:
                self._programs.learn(graph.new)
                self._new = graph.new
        figures |= _graph_figures(graph)
        latest = (graph.delta.prefix, graph.delta.roots)
        if not graph.new and latest == self._latest_graph:
            return SamePayload("graph")
        self._latest_graph = latest
        return Payload("graph", graph_table.encode(graph.delta), GRAPH_DELTA)


def _graph_figures(graph: GraphStep) -> dict[str, Value]:
    return {
        a.GRAPH_NODES: graph.nodes,
        a.GRAPH_EDGES: graph.edges,
        a.GRAPH_ADDED: graph.added,
        a.GRAPH_REMOVED: graph.removed,
    }


def _count_figures(counts: Counts) -> dict[str, Value]:
    figures: dict[str, Value] = {
        a.LOADS: counts.loads,
        a.STORES: counts.stores,
        a.FLOPS: counts.flops,
        a.CALLS: counts.calls,
        a.TRAFFIC: counts.traffic_bytes,
        a.LOAD_SITES: counts.load_sites,
        a.STORE_SITES: counts.store_sites,
        a.FLOP_SITES: counts.flop_sites,
        a.CALL_SITES: counts.call_sites,
        a.LOOPS: counts.loops,
        a.BUFFERS: counts.buffers,
        a.PRIVATE_BYTES: counts.private_bytes,
    }
    if counts.workspace_bytes is not None:
        figures[a.WORKSPACE_BYTES] = counts.workspace_bytes
    if counts.uncounted:
        figures[a.UNCOUNTED] = counts.uncounted
    return figures


@cache
def _pass_location(step_name: str) -> dict[str, Value]:
    """Return where the pass behind ``pass:NAME`` is written, as far as scaly lets it be found."""
    prefix, _, name = step_name.partition(":")
    if prefix != "pass":
        return {}
    function = dict(program_passes.PASS_PIPELINE).get(name) or getattr(program_passes, name, None)
    if not callable(function):
        return {}
    written = inspect.unwrap(function)
    code = getattr(written, "__code__", None)
    if code is None:
        return {}
    return {
        a.CODE_FUNCTION: f"{written.__module__}.{code.co_qualname}",
        a.FILE_PATH: code.co_filename,
        a.LINE_NUMBER: code.co_firstlineno,
    }
