"""Owns this process's recording: one set of marks, one worker, one store, armed on first use."""

from __future__ import annotations

import atexit
import os
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from opentelemetry.sdk.trace.export import SpanExporter
from opentelemetry.trace import TracerProvider

from scaly_viz import settings
from scaly_viz.frontend.guard import Guard
from scaly_viz.frontend.worker import Worker
from scaly_viz.pipeline import Pipeline
from scaly_viz.recording import RecordingDict, assemble
from scaly_viz.store import SpanStore

if TYPE_CHECKING:
    from scaly_viz.frontend.marks import Marks

_FLUSH_S = 10.0


class Session:
    """What the public functions of ``scaly_viz`` act on."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self.guard = Guard()
        self._worker = Worker(self.guard)
        self._store = SpanStore(settings.read().memory_bytes)
        self._exporters: Sequence[str | SpanExporter] | None = None
        self._provider: TracerProvider | None = None
        self._pipeline: Pipeline | None = None
        self._fingerprint: tuple[str | None, ...] = ()
        self._process = 0
        self.marks: Marks | None = None

    def pipeline(self) -> Pipeline:
        """Return the pipeline that the environment and ``configure`` ask for now."""
        with self._lock:
            fingerprint = settings.fingerprint()
            if self._pipeline is None or fingerprint != self._fingerprint:
                read = settings.read()
                self.guard.strict = read.strict
                self._close_pipeline()
                self._pipeline = Pipeline(read, self._store, self._exporters, self._provider)
                self._fingerprint = fingerprint
            if self._process != os.getpid():
                self._process = os.getpid()
                self._flush_where_multiprocessing_ends()
            return self._pipeline

    def configure(
        self,
        exporters: Sequence[str | SpanExporter] | None,
        tracer_provider: TracerProvider | None,
        directory: Path | None,
    ) -> None:
        """Use these exporters, this provider and this directory for renders that begin from now on."""
        self.drain()
        with self._lock:
            settings.configure_directory(directory)
            self._exporters, self._provider = exporters, tracer_provider
            self.guard.strict = settings.read().strict
            self._close_pipeline()

    def _close_pipeline(self) -> None:
        # A render in progress goes on with the pipeline that it began with.
        if self._pipeline is not None and self._worker.idle:
            self.guard.run("closing exporters", self._pipeline.close, _FLUSH_S)
        self._pipeline = None

    def drain(self) -> None:
        """Wait until what has ended is encoded and kept."""
        self._worker.drain()
        self.guard.raise_kept()

    def recordings(self) -> list[RecordingDict]:
        """Return this process's finished recordings, oldest first."""
        self.drain()
        return [r.to_dict() for r in assemble(self._store.spans()) if r.complete]

    def clear(self) -> None:
        """Forget this process's recordings."""
        self.drain()
        self._store.clear()

    def armed(self) -> Marks:
        """Return the marks, and have scaly tell us of its renders from the first call on."""
        with self._lock:
            if self.marks is None:
                self.marks = self._watch()
                # Exporters take a while to import: not at the render's expense.
                self.guard.run("making exporters", self.pipeline)
            return self.marks

    def _watch(self) -> Marks:
        from scaly_viz.frontend.marks import Marks

        marks = Marks()
        self.guard.run("watching scaly's renders", self._register, marks)
        atexit.register(self._flush)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(
                before=self._before_fork,
                after_in_parent=self._after_fork_in_parent,
                after_in_child=self._after_fork_in_child,
            )
        return marks

    def _register(self, marks: Marks) -> None:
        from scaly.codegen import aot

        from scaly_viz.frontend.jit import write_before_loading
        from scaly_viz.frontend.observer import Observer

        observer = Observer(marks, self._worker, self.guard, self.pipeline)
        aot.register_render_observer(observer.begin)
        self.guard.run("watching the JIT", write_before_loading, self._worker.drain, self.guard)

    def _flush_where_multiprocessing_ends(self) -> None:
        # A multiprocessing child leaves without atexit; one of its own kind of hooks serves there.
        util = sys.modules.get("multiprocessing.util")
        if util is not None and sys.modules["multiprocessing"].parent_process():
            util.Finalize(self, self._flush, exitpriority=0)

    def _flush(self) -> None:
        self.guard.run("writing recordings at exit", self._worker.end, _FLUSH_S)
        if self._pipeline is not None:
            self.guard.run("flushing exporters at exit", self._pipeline.flush, _FLUSH_S)

    def _before_fork(self) -> None:
        self._worker.before_fork()
        self._lock.acquire()

    def _after_fork_in_parent(self) -> None:
        self._lock.release()
        self._worker.after_fork_in_parent()

    def _after_fork_in_child(self) -> None:
        self._lock = threading.RLock()
        self._worker.after_fork_in_child()
        self._store.after_fork()
        if self.marks is not None:
            self.marks.after_fork()
        # Another process: its provider says so in the resource, its exporters have their own threads.
        self._pipeline = None


SESSION = Session()
