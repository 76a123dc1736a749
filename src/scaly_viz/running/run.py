"""Owns recording in one process of a run, from the import of scaly on."""

from __future__ import annotations

from scaly_viz.frontend.instrumented import Instrumented
from scaly_viz.frontend.session import SESSION
from scaly_viz.running.config import RunConfig, decode
from scaly_viz.running.journal import Journal
from scaly_viz.running.progress import Progress
from scaly_viz.span_record import SpanRecord


class Run:
    """The run that this process belongs to."""

    def __init__(self, config: RunConfig) -> None:
        self.config = config
        self.journal = Journal(config)
        self.progress = Progress(config)
        self.instrumented: Instrumented | None = None
        self.renders = 0

    def began(self, recording: str, name: str) -> None:
        """Note a render."""
        self.renders += 1
        self.progress.began(recording, name)

    def took(self, recording: str, step: str) -> None:
        """Note a step."""
        self.progress.took(recording, step)

    def ended(self, recording: str) -> None:
        """Note a render's end."""
        self.progress.ended(recording)

    def wrote(self, span: SpanRecord) -> None:
        """Note a span."""
        self.progress.wrote(span)
        self.journal.add(span)

    def tick(self) -> None:
        """Show progress."""
        if not self.config.quiet:
            self.progress.tick()


_runs: list[Run] = []


def begin(config: str) -> None:
    """Record as the instrumentor does, and listen; scaly has just been imported."""
    run = Run(decode(config))
    _runs[:] = [run]
    SESSION.listen(run)
    run.instrumented = SESSION.instrument(None, run.config.functions or None, run.config.label)


def current() -> Run | None:
    """Return this process's run; None where scaly was never imported."""
    return _runs[0] if _runs else None
