"""Owns one recording from begin to finish: the steps that wait, and their way into spans."""

from __future__ import annotations

import linecache
import sys
import threading
import time
import traceback
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import numpy as np
from opentelemetry.context import Context, get_current
from opentelemetry.trace import SpanContext, get_current_span

from scaly_viz import attributes as a
from scaly_viz.frontend.audience import Audience
from scaly_viz.frontend.failed_step import failed_step
from scaly_viz.frontend.guard import Guard
from scaly_viz.frontend.pace import Pace
from scaly_viz.frontend.payloads import Dialect, PendingStep, StepTaker
from scaly_viz.pipeline import Pipeline
from scaly_viz.spans import Failure, Head, RecordingSpans, Value
from scaly_viz.system import system

_INTERRUPTED = "interrupted"
_LONG = 100_000


def _source_line(file: str, line: int) -> str:
    # Only of a regular file: to open a pipe that a script was read from would wait for ever.
    return linecache.getline(file, line) if Path(file).is_file() else ""


@dataclass(frozen=True, slots=True)
class _Call:
    """Where the render was asked for: frames outside scaly and scaly_viz, innermost first."""

    frames: tuple[tuple[CodeType, int], ...]

    def attributes(self) -> dict[str, Value]:
        if not self.frames:
            return {}
        code, line = self.frames[0]
        summary = traceback.StackSummary.from_list(
            [
                traceback.FrameSummary(
                    code.co_filename, line, code.co_name, line=_source_line(code.co_filename, line)
                )
                for code, line in reversed(self.frames)
            ]
        )
        return {
            a.FILE_PATH: code.co_filename,
            a.LINE_NUMBER: line,
            a.CODE_FUNCTION: code.co_qualname,
            a.STACKTRACE: "".join(summary.format()).rstrip("\n"),
        }


class Recorder:
    """One render being recorded.

    The compiler's thread appends steps and finishes; whoever encodes takes them in order. All times
    are taken from a monotonic clock, anchored to the wall clock at the beginning.
    """

    def __init__(
        self,
        function: Any,
        label: str | None,
        pipeline: Pipeline,
        guard: Guard,
        frame: FrameType | None,
        compiler_version: str,
        audience: Audience,
    ) -> None:
        source = system()
        self._now = source.monotonic_ns
        self._clock = self._now()
        self._epoch = source.wall_ns() - self._clock
        self.thread = threading.current_thread()
        # In its exit handlers the main thread counts as ended, though it still renders.
        self._thread_lives = self.thread.is_alive()
        self.head = Head(f"{source.number(128):032x}", function.name, label)
        self._pipeline = pipeline
        self._guard = guard
        self._frame = (id(frame), None if frame is None else frame.f_code)
        self._call = _call(frame)
        self._parent = guard.run("reading the caller's context", _caller_context) or Context()
        self._compiler_version = compiler_version
        self.audience = audience
        self.pace = Pace(audience.tick)
        self._taker = StepTaker(guard, self.pace, np.get_printoptions())
        self._pending: deque[PendingStep] = deque()
        self._steps = 0
        self._overhead = 0
        self._boundary = self._clock
        self._end_ns = 0
        self._failure: Failure | None = None
        self._error: str | None = None
        self._failed_step: str | None = None
        self._spans: RecordingSpans | None = None
        # Reentrant: what an exporter or a log handler calls may come back to us.
        self._encoding = threading.RLock()
        self._owned = True
        self.finished = False
        self.done = threading.Event()

    def add(self, name: str, dialect: Dialect, subject: Any) -> bool:
        """Note that the compiler made ``subject``: a function, a program or a source text. Returns true."""
        if not self._owned:
            return True
        now = self._now()
        self._pending.append(
            PendingStep(
                self._steps,
                name,
                dialect,
                subject,
                self._epoch + self._boundary,
                self._epoch + now,
                time.monotonic(),
            )
        )
        self._steps += 1
        return True

    def lose(self) -> None:
        """Note that a step could not be taken: the recording then lacks one, and readers will see it."""
        self._steps += 1

    def resume(self, entered_ns: int) -> None:
        """Hand the clock back to the compiler: what passed since ``entered_ns`` was ours."""
        self._boundary = self._now()
        self._overhead += self._boundary - entered_ns

    def finish(self, error: str | None) -> None:
        """Note that the render has ended, with ``error`` as its exception's repr or without one."""
        self._end_ns = self._epoch + self._now()
        if error is not None:
            self._error = _cut(error)
            self._failure = Failure(error.partition("(")[0], self._error)
            exception = sys.exception()
            if exception is not None:
                what = "describing an exception"
                failure = self._guard.run(what, _failure, self._error, exception)
                self._failure = failure or self._failure
                what = "looking for the pass that failed"
                self._failed_step = self._guard.run(what, failed_step, exception)
        self.finished = True
        self.pace.hurry()

    def interrupt(self) -> None:
        """Note that the render has ended without a word: the compiler dropped its observer."""
        if not self.finished:
            self._end_ns = self._epoch + self._now()
            message = "the render was interrupted: it ended without a result and without an error"
            self._error = f"{_INTERRUPTED}: {message}"
            self._failure = Failure(_INTERRUPTED, message)
            self.finished = True
            self.pace.hurry()

    @property
    def orphaned(self) -> bool:
        """Whether the thread that renders has ended since the render began."""
        return self._thread_lives and not self.thread.is_alive()

    def on_stack(self) -> bool:
        """Return whether the compiler's call that began this render is on the calling thread's stack."""
        frame: FrameType | None = sys._getframe()
        while frame is not None:
            if (id(frame), frame.f_code) == self._frame:
                return True
            frame = frame.f_back
        return False

    @property
    def waiting_since(self) -> float:
        """Monotonic seconds since when the oldest step waits, infinity where none does."""
        try:
            return self._pending[0].since
        except IndexError:
            return float("inf")

    def disown(self) -> None:
        """In a forked child: leave this recording to the parent."""
        self._owned = False
        self.finished = True
        self.done.set()

    def encode_ahead(self) -> None:
        """Turn one waiting step into a span while the render goes on, at a small share of the time."""
        with self._encoding:
            if not self.finished:
                self.pace.slow_down()
            self._encode(1)
            self.pace.rest()

    def encode(self) -> None:
        """Turn waiting steps into spans, and end the root when all is done."""
        self.pace.hurry()
        with self._encoding:
            self.pace.hurry()
            self._encode(len(self._pending))
            if self.finished and not self._pending and not self.done.is_set():
                if self._spans is not None:
                    what = f"ending the recording of {self.head.function}"
                    self._guard.run(what, self._close, self._spans)
                self.done.set()

    def _encode(self, count: int) -> None:
        if not self._owned:
            return
        began = time.thread_time_ns()
        if self._spans is None:
            what = f"recording {self.head.function}"
            self._spans = self._guard.run(what, self._open)
        for _ in range(count):
            step = self._pending.popleft()
            if self._spans is not None:
                what = f"recording step {step.name} of {self.head.function}"
                self._guard.run(what, self._encode_step, self._spans, step)
        self._overhead += time.thread_time_ns() - began

    def forget_dead(self) -> None:
        """Release what steps that are encoded no longer need."""
        with self._encoding:
            self._guard.run("releasing memory", self._taker.forget_dead)

    def _open(self) -> RecordingSpans:
        return RecordingSpans(
            self._pipeline.tracer,
            self.head,
            self._parent,
            self._epoch + self._clock,
            {a.COMPILER_VERSION: self._compiler_version, **self._call.attributes()},
        )

    def _encode_step(self, spans: RecordingSpans, step: PendingStep) -> None:
        spans.add_step(self._taker.take(step))

    def _close(self, spans: RecordingSpans) -> None:
        attributes: dict[str, Value] = {
            a.RECORDING_STEPS: self._steps,
            a.OVERHEAD: self._overhead / 1e9,
        }
        if self._error is not None:
            attributes[a.ERROR] = self._error
        if self._failed_step is not None:
            attributes[a.FAILED_STEP] = self._failed_step
        spans.finish(self._end_ns, attributes, self._failure)


def _caller_context() -> Context:
    """Return the current context, baggage and all; without its span where that is none to build on."""
    context = get_current()
    valid = isinstance(get_current_span(context).get_span_context(), SpanContext)
    return context if valid else Context()


def _cut(text: str) -> str:
    """Return ``text``, the end of it where it is endless: a line of the file has its limits."""
    return text if len(text) <= _LONG else f"{text[:_LONG]}... ({len(text):,} characters)"


def _failure(error: str, exception: BaseException) -> Failure:
    kind = type(exception)
    module = "" if kind.__module__ == "builtins" else f"{kind.__module__}."
    try:
        message = str(exception)
    except Exception:
        message = error
    trace = "".join(traceback.format_exception(exception))
    return Failure(f"{module}{kind.__qualname__}", _cut(message), _cut(trace))


def _call(frame: FrameType | None) -> _Call:
    frames: list[tuple[CodeType, int]] = []
    while frame is not None:
        if not _internal(frame):
            frames.append((frame.f_code, frame.f_lineno))
        frame = frame.f_back
    return _Call(tuple(frames))


def _internal(frame: FrameType) -> bool:
    module = str(frame.f_globals.get("__name__", ""))
    return module.partition(".")[0] in ("scaly", "scaly_viz")
