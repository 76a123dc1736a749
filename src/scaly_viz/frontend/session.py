"""Owns this process's recording: one set of marks, one worker, one store, armed on first use."""

from __future__ import annotations

import atexit
import os
import sys
import threading
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from opentelemetry.environment_variables import OTEL_TRACES_EXPORTER
from opentelemetry.sdk.trace.export import SpanExporter
from opentelemetry.trace import TracerProvider

from scaly_viz import settings
from scaly_viz.application import Application
from scaly_viz.assembling import assemble
from scaly_viz.frontend.audience import Audience, Listener
from scaly_viz.frontend.guard import Guard
from scaly_viz.frontend.worker import Worker
from scaly_viz.pipeline import Pipeline
from scaly_viz.recording import Recording, RecordingDict
from scaly_viz.store import SpanStore

if TYPE_CHECKING:
    from scaly_viz.frontend.instrumented import Instrumented
    from scaly_viz.frontend.marks import Marks
    from scaly_viz.frontend.scaly_types import Concrete
    from scaly_viz.settings import Settings

_FLUSH_S = 10.0


class Unmarked(Protocol):
    """What decides which functions are recorded without a mark, and through whose provider."""

    @property
    def application(self) -> Application | None:
        """Whose provider gets a copy of each span; None: nobody's."""

    @property
    def label(self) -> str | None:
        """The label of what is marked without one."""

    def label_of(self, function: Concrete) -> tuple[str | None] | None:
        """Return the label of ``function`` in a tuple, None where it is not to be recorded."""


class Session:
    """What the public functions of ``scaly_viz`` act on.

    A second one has marks, recordings and a ``directory`` of its own, and neither knows of the other.
    """

    def __init__(self, directory: Path | None = None) -> None:
        self._directory = directory
        self._lock = threading.RLock()
        self.guard = Guard()
        self._audience = Audience(self.guard)
        self._worker = Worker(self.guard, self._audience)
        self._store = SpanStore(settings.read().memory_bytes)
        self._exporters: Sequence[str | SpanExporter] | None = None
        self._application: Application | None = None
        self._instrumented: Unmarked | None = None
        self._pipeline: Pipeline | None = None
        self._fingerprint: tuple[str | None, ...] = ()
        self._process = 0
        self.marks: Marks | None = None

    def pipeline(self) -> Pipeline:
        """Return the pipeline that the environment, ``configure`` and the instrumentor ask for now."""
        with self._lock:
            application = self._application
            if application is None and self._instrumented is not None:
                application = self._instrumented.application
            provider = None if application is None else application.provider()
            fingerprint = (*settings.fingerprint(), os.environ.get(OTEL_TRACES_EXPORTER))
            current = self._pipeline
            if (
                current is None
                or fingerprint != self._fingerprint
                or current.provider is not provider
            ):
                read = settings.read()
                if self._directory is not None:
                    read = replace(read, directory=self._directory)
                self.guard.strict = read.strict
                self._close_pipeline()
                exporters = self._exporters_for(read, provider)
                current = Pipeline(read, self._store, exporters, application, provider)
                self._pipeline, self._fingerprint = current, fingerprint
                if provider is not None and self.marks is not None:
                    self._flush_at_exit()
            if self._process != os.getpid():
                self._process = os.getpid()
                self._flush_where_multiprocessing_ends()
            return current

    def _exporters_for(
        self, read: Settings, provider: TracerProvider | None
    ) -> Sequence[str | SpanExporter]:
        if self._exporters is not None:
            return self._exporters
        if self._application is not None:
            return ()
        if self._instrumented is not None and not settings.exporters_given():
            if provider is not None:
                return ()
            asked = settings.items(os.environ.get(OTEL_TRACES_EXPORTER, ""))
            return asked or read.exporters
        return read.exporters

    def configure(
        self,
        exporters: Sequence[str | SpanExporter] | None,
        tracer_provider: TracerProvider | None,
        directory: Path | None,
    ) -> None:
        """Use these exporters, this provider and this directory for renders that begin from now on."""
        application = None if tracer_provider is None else self._of(tracer_provider)
        self.drain()
        with self._lock:
            settings.configure_directory(directory)
            self._exporters, self._application = exporters, application
            self.guard.strict = settings.read().strict
            self._close_pipeline()
            if tracer_provider is not None:
                # What it will lose is told now, and not in the middle of a compile.
                self.guard.run("looking at the tracer provider", self.pipeline)

    def instrument(
        self,
        tracer_provider: TracerProvider | None,
        functions: Sequence[str] | None,
        label: str | None = None,
    ) -> Instrumented:
        """Record functions by name and by their marks in scaly.viz, from now on."""
        from scaly_viz.frontend.instrumented import Instrumented

        application = self._of(tracer_provider)
        with self._lock:
            instrumented = Instrumented(application, functions, self.guard, label)
            self._instrumented = instrumented
        self.armed()
        return instrumented

    def listen(self, listener: Listener) -> None:
        """Tell ``listener`` of renders, from now on."""
        self._audience.listener = listener
        self._store.added = self._audience.wrote

    def destinations(self) -> list[str]:
        """Return where recordings go: names of exporters, and of an application's provider."""
        pipeline = self._pipeline
        if pipeline is None:
            return []
        application = [] if pipeline.provider is None else [type(pipeline.provider).__name__]
        return [*pipeline.names, *application]

    def record(self, exporters: Sequence[str | SpanExporter], unmarked: Unmarked) -> None:
        """Record what ``unmarked`` has a label for, into ``exporters``, from now on."""
        with self._lock:
            self._exporters, self._instrumented = exporters, unmarked
        self.armed()

    def uninstrument(self) -> None:
        """Record only what is marked here, from now on."""
        self.drain()
        with self._lock:
            self._instrumented = None

    def _of(self, provider: TracerProvider | None) -> Application:
        return Application(provider, self._write_out)

    def _write_out(self, timeout_s: float) -> bool:
        return bool(self.guard.run("writing what has ended", self._worker.drain, timeout_s))

    def _close_pipeline(self) -> None:
        # A render in progress goes on with the pipeline that it began with.
        if self._pipeline is not None and self._worker.idle:
            self.guard.run("closing exporters", self._pipeline.close, _FLUSH_S)
        self._pipeline = None

    def drain(self) -> None:
        """Wait until what has ended is encoded and kept."""
        self._worker.drain()
        self.guard.raise_kept()

    def flush(self, timeout_s: float) -> bool:
        """Wait until what has ended is encoded, and exporters have it."""
        deadline = time.monotonic() + timeout_s
        if not self._worker.drain(timeout_s):
            return False
        pipeline = self._pipeline
        return pipeline is None or pipeline.flush(max(0.0, deadline - time.monotonic()))

    def recordings(self) -> list[RecordingDict]:
        """Return this process's finished recordings, oldest first."""
        return [recording.to_dict() for recording in self.recorded()]

    def recorded(self) -> list[Recording]:
        """Return this process's finished recordings, oldest first, with their payloads undecoded."""
        self.drain()
        return [recording for recording in self.written() if recording.complete]

    @contextmanager
    def watching(self, functions: Sequence[str] | None, label: str | None) -> Generator[None]:
        """Record functions by name inside a ``with`` block, as the instrumentor does, under ``label``."""
        before = self._instrumented
        self.instrument(None, functions, label)
        try:
            yield
        finally:
            self.drain()
            with self._lock:
                self._instrumented = before

    def written(self) -> list[Recording]:
        """Return this process's recordings as far as they are written, oldest first."""
        return assemble(self._store.spans())

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
        try:
            from scaly_viz.frontend.marks import Marks
        except ModuleNotFoundError as error:
            if error.name != "scaly":
                raise
            raise ModuleNotFoundError(
                f"there is nothing to record without scaly, which {sys.executable} has not:"
                " pip install 'scaly-viz[scaly]'",
                name="scaly",
            ) from None

        marks = Marks()
        self.guard.run("watching scaly's renders", self._register, marks)
        self._flush_at_exit()
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

        observer = Observer(
            marks,
            self._worker,
            self.guard,
            self.pipeline,
            self._label_where_instrumented,
            self._label_of_marked,
            self._audience,
        )
        aot.register_render_observer(observer.begin)
        self.guard.run("watching the JIT", write_before_loading, self._worker.drain, self.guard)

    def _label_where_instrumented(self, function: Concrete) -> tuple[str | None] | None:
        instrumented = self._instrumented
        return None if instrumented is None else instrumented.label_of(function)

    def _label_of_marked(self) -> str | None:
        instrumented = self._instrumented
        return None if instrumented is None else instrumented.label

    def _flush_at_exit(self) -> None:
        # Handlers run in reverse order: before the one that shuts an application's provider down.
        atexit.unregister(self._flush)
        atexit.register(self._flush)

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
