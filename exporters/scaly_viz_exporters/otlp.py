"""Owns the exporter to an OTLP backend: spans go to the outbox on disk, and a thread delivers from there."""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

from scaly_viz import log, settings
from scaly_viz.errors import RecordingFolderError
from scaly_viz_exporters import otlp_settings
from scaly_viz_exporters.courier import Courier, End, Round, Told
from scaly_viz_exporters.memory_queue import MemoryQueue
from scaly_viz_exporters.otlp_settings import OtlpSettings
from scaly_viz_exporters.outbox import Outbox
from scaly_viz_exporters.outcome import Fate
from scaly_viz_exporters.parcels import Message, spans_in
from scaly_viz_exporters.sender import Sender
from scaly_viz_exporters.shipped import Shipped
from scaly_viz_exporters.span_lines import lines_of

_EXIT_S = 10.0
_MOST_TOLD = 100


class OtlpExporter(SpanExporter):
    """Deliver finished spans to the backend that ``OTEL_EXPORTER_OTLP_*`` describe.

    ``export`` appends them to the outbox in ``folder`` (default: ``outbox`` in ``recording_dir()``),
    and a thread sends what waits there, what earlier processes left included. The outbox takes
    ``max_bytes`` (default: ``SCALY_VIZ_OUTBOX_MAX_BYTES``).
    """

    def __init__(
        self, folder: str | os.PathLike[str] | None = None, *, max_bytes: int | None = None
    ) -> None:
        self._folder = None if folder is None else Path(folder)
        limit = settings.size(os.environ, settings.OUTBOX_MAX_BYTES)
        self._max_bytes = limit if max_bytes is None else max_bytes
        self._settings = otlp_settings.read()
        self._voice = Voice(self._settings, self._outbox)
        self._courier = Courier(self._settings, self._voice.tell, self._delivered)
        self._courier.prepare()
        self._memory = MemoryQueue()
        self._memory_use = threading.Lock()
        self._process = os.getpid()
        self._sender = Sender(self._deliver, self._courier.close)

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Keep ``spans`` for delivery, on disk; raise an OSError only if they are lost."""
        self._after_fork()
        lines = lines_of(spans)
        if lines:
            self._keep(lines)
            self._sender.notify()
        complete = len(lines) == len(spans)
        return SpanExportResult.SUCCESS if complete else SpanExportResult.FAILURE

    def force_flush(self, timeout_millis: int = 30000) -> bool:
        """Deliver what waits, within ``timeout_millis``; return whether all is delivered.

        The rest stays in the outbox. With the backend down this takes one try, not all the time.
        """
        self._after_fork()
        done = self._sender.flush(timeout_millis / 1000)
        if not done and self._memory.bytes:
            self._voice.memory(self._memory.bytes)
        return done

    def shutdown(self, timeout_millis: float = _EXIT_S * 1000) -> None:
        """Deliver what waits within ``timeout_millis``, and end the thread; later spans wait on disk."""
        self.force_flush(int(min(timeout_millis, _EXIT_S * 1000)))
        self._sender.stop()

    def _outbox(self) -> Outbox:
        return Outbox(self._folder or default_folder(), self._max_bytes)

    def _keep(self, lines: Sequence[bytes]) -> None:
        # What is in memory goes first, unless it is being sent from there.
        has_memory = self._memory_use.acquire(blocking=False)
        try:
            if not has_memory and self._memory.bytes:
                self._remember(lines, OSError(errno.EBUSY, "being sent"))
                return
            earlier = self._memory.lines() if self._memory.bytes else b""
            try:
                self._outbox().append(earlier + b"".join(lines))
            except OSError as error:
                self._voice.disk(error)
                self._remember(lines, error)
            else:
                self._memory.forget(len(earlier))
        finally:
            if has_memory:
                self._memory_use.release()

    def _remember(self, lines: Sequence[bytes], cause: OSError) -> None:
        lost = sum(not self._memory.append(line) for line in lines)
        if lost:
            why = f"{cause.strerror or cause}, and memory is full, too: {lost} spans are lost"
            raise OSError(cause.errno or errno.ENOSPC, why, cause.filename)

    def _deliver(self, stop: Callable[[], bool]) -> Round:
        ended = Round(End.DONE)
        try:
            with self._outbox().delivering() as delivery:
                if delivery is None:
                    return Round(End.BUSY)
                ended = self._courier.deliver(delivery.segments(), stop)
                if not delivery.complete:
                    ended = Round(End.BUSY)
        except OSError as error:
            self._voice.stuck(error)
            ended = Round(End.LATER)
        if self._memory.bytes and ended.end in (End.DONE, End.LATER) and not ended.outcome:
            with self._memory_use:
                from_memory = self._courier.deliver([self._memory], stop)
            ended = from_memory if ended.end is End.DONE else ended
        return ended

    def _delivered(self, message: Message) -> None:
        log.debug("otlp: %d spans delivered to %s", len(message), self._settings.where)
        with suppress(OSError):
            self._shipped().note(spans_in(message))

    def _shipped(self) -> Shipped:
        return Shipped(self._outbox().folder.parent, self._settings.where)

    def _after_fork(self) -> None:
        if self._process != os.getpid():
            self._process = os.getpid()
            self._courier.forget_connections()
            self._memory = MemoryQueue()
            self._memory_use = threading.Lock()


class Voice:
    """Says once a cause, in one line, what is not delivered, why, and what becomes of it."""

    def __init__(self, to: OtlpSettings, outbox: Callable[[], Outbox]) -> None:
        self._where = to.where
        self._outbox = outbox
        self._told: set[tuple[object, str]] = set()

    def tell(self, told: Told) -> None:
        """Say what became of some spans."""
        folder = self._outbox().folder
        what = f"{told.spans} span(s), first {told.first!r}: " if told.fate is Fate.REFUSED else ""
        fate = _FATES[told.fate].format(outbox=folder)
        self._say(told.fate, told.why, f"otlp: {self._where}: {what}{told.why}; {fate}")

    def disk(self, error: OSError) -> None:
        """Say that the outbox takes nothing."""
        cause = self._cause(error)
        self._say(
            "disk",
            cause,
            f"otlp: {cause}; spans are sent from memory, and lost if the backend does not take them"
            " before the process ends",
        )

    def stuck(self, error: OSError) -> None:
        """Say that what waits in the outbox cannot be sent from there."""
        cause = self._cause(error)
        fate = _FATES[Fate.LATER].format(outbox=self._outbox().folder)
        self._say("stuck", cause, f"otlp: {cause}; {fate}")

    def _cause(self, error: OSError) -> str:
        # A write that fails, on a full disk, does not say where.
        return f"{error.filename or self._outbox().folder}: {error.strerror or error}"

    def memory(self, size: int) -> None:
        """Say that spans are nowhere but in memory."""
        self._say(
            "memory",
            "",
            f"otlp: {size} bytes of spans are neither delivered nor in the outbox, and are lost if"
            " the process ends now",
        )

    def _say(self, kind: object, cause: str, text: str) -> None:
        if (kind, cause) in self._told or len(self._told) >= _MOST_TOLD:
            log.debug("%s", text)
        else:
            self._told.add((kind, cause))
            log.warn("%s", text)


_FATES = {
    Fate.LATER: "spans wait in {outbox} until this or a later process, or scaly-viz ship, delivers"
    " them",
    Fate.CLOSED: "this process sends nothing more, and spans wait in {outbox} for the next one or"
    " for scaly-viz ship",
    Fate.REFUSED: "such spans are kept in {outbox}/refused, which only scaly-viz ship sends again",
    Fate.UNREADABLE: "such a line, torn by a process that was killed or changed by hand, is kept in"
    " {outbox}/unreadable",
    Fate.PARTLY: "which ones is not said, so all of the message are kept in"
    " {outbox}/partly-rejected, and not sent again",
}


def default_folder() -> Path:
    """Return the outbox in ``recording_dir()``.

    Raises:
        OSError: the user has no home folder.
    """
    try:
        return settings.recording_dir() / settings.OUTBOX_NAME
    except RecordingFolderError as error:
        raise OSError(errno.ENOENT, str(error), settings.OUTBOX_NAME) from error
