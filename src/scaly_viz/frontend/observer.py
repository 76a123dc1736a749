"""Owns scaly's callbacks: the one place where the compiler meets us, and the guard around it."""

from __future__ import annotations

import sys
from importlib.metadata import PackageNotFoundError, version
from types import FrameType
from typing import TYPE_CHECKING

from scaly_viz.frontend.audience import Audience
from scaly_viz.frontend.guard import Guard
from scaly_viz.frontend.memory import MemoryBudget
from scaly_viz.frontend.payloads import Dialect
from scaly_viz.frontend.recorder import Recorder
from scaly_viz.frontend.worker import Worker
from scaly_viz.pipeline import Pipeline
from scaly_viz.system import system

if TYPE_CHECKING:
    from collections.abc import Callable

    from scaly.ir.program import ProgramNode

    from scaly_viz.frontend.marks import Marks
    from scaly_viz.frontend.scaly_types import Concrete


class RenderObserver:
    """What scaly calls during one render (its ``RenderObserver`` protocol).

    scaly drops it without ``finish`` where the render is interrupted by a ``KeyboardInterrupt``.
    """

    __slots__ = ("_budget", "_guard", "_recorder", "_worker")

    def __init__(
        self, recorder: Recorder, worker: Worker, guard: Guard, budget: MemoryBudget
    ) -> None:
        self._recorder = recorder
        self._worker = worker
        self._guard = guard
        self._budget = budget

    def add_expression(self, fun: Concrete) -> None:
        """Take the expression graph as it was built."""
        self._add("expression", "expr", fun)

    def add_normalized_expr(self, name: str, fun: Concrete) -> None:
        """Take an expression graph after normalization."""
        self._add(f"{name}:{fun.name}", "expr", fun)

    def add_program(self, name: str, root: ProgramNode) -> None:
        """Take the program after a stage."""
        self._add(name, "prog", root)

    def add_code(self, source: str) -> None:
        """Take the generated source."""
        self._add("generated C", "c", source)

    def finish(self, *, error: str | None = None) -> None:
        """Take the outcome."""
        self._guard.run("finishing a recording", self._recorder.finish, error)
        self._recorder.audience.ended(self._recorder.head.recording_id)
        self._guard.run("handing over a recording", self._worker.finished, self._recorder)

    def __del__(self) -> None:
        recorder = self._recorder
        # With its modules gone, the interpreter can record nothing any more.
        if not recorder.finished and not sys.is_finalizing():
            self._guard.run("ending a recording", recorder.interrupt)
            recorder.audience.ended(recorder.head.recording_id)
            self._guard.run("handing over a recording", self._worker.finished, recorder)

    def _add(self, name: str, dialect: Dialect, subject: object) -> None:
        entered = system().monotonic_ns()
        if not self._guard.run(f"taking step {name}", self._recorder.add, name, dialect, subject):
            self._recorder.lose()
        self._recorder.audience.took(self._recorder.head.recording_id, name)
        self._guard.run(f"releasing step {name}", self._release)
        self._guard.run("keeping time", self._recorder.resume, entered)

    def _release(self) -> None:
        if self._budget.exhausted():
            self._recorder.encode()
            self._recorder.forget_dead()


class Observer:
    """Begins a recording for each render of a function that is marked, or recorded ``unmarked``.

    A mark without a label gets that of ``label``.
    """

    def __init__(
        self,
        marks: Marks,
        worker: Worker,
        guard: Guard,
        pipeline: Callable[[], Pipeline],
        unmarked: Callable[[Concrete], tuple[str | None] | None],
        label: Callable[[], str | None],
        audience: Audience,
    ) -> None:
        self._marks = marks
        self._unmarked = unmarked
        self._label = label
        self._audience = audience
        self._worker = worker
        self._guard = guard
        self._pipeline = pipeline
        self._version = _scaly_version()

    def begin(self, fun: Concrete) -> RenderObserver | None:
        """Return the observer of a render of ``fun``, or None where it is not to be recorded."""
        marked = self._guard.run("looking up a mark", self._marks.label_of, fun)
        if marked is None:
            marked = self._guard.run("looking up a function", self._unmarked, fun)
        if marked is None:
            return None
        return self._guard.run("beginning a recording", self._begin, fun, marked[0])

    def _begin(self, fun: Concrete, label: str | None) -> RenderObserver:
        entered = system().monotonic_ns()
        label = self._label() if label is None else label
        frame = _render_frame()
        pipeline = self._pipeline()
        recorder = Recorder(fun, label, pipeline, self._guard, frame, self._version, self._audience)
        budget = MemoryBudget(pipeline.settings.pending_bytes)
        observer = RenderObserver(recorder, self._worker, self._guard, budget)
        self._worker.watch(recorder)
        self._audience.began(recorder.head.recording_id, label or fun.name)
        observer.add_expression(fun)
        recorder.resume(entered)
        return observer


def _scaly_version() -> str:
    try:
        return version("scaly")
    except PackageNotFoundError:
        return "unknown"


def _render_frame() -> FrameType | None:
    """Return the frame of scaly's render: the first outside this package."""
    frame: FrameType | None = sys._getframe()
    while frame is not None and (
        str(frame.f_globals.get("__name__", "")).startswith("scaly_viz.")
        or frame.f_code.co_name.startswith("<")
    ):
        frame = frame.f_back
    return frame
