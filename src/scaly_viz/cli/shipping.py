"""Owns one run of ``scaly-viz ship``: its tasks, its patience, its progress bar, and how it is interrupted."""

from __future__ import annotations

import sys
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from scaly_viz import settings as own_settings
from scaly_viz.cli import output
from scaly_viz.cli.quantities import plural
from scaly_viz.errors import ScalyVizError
from scaly_viz.sources.address import is_address
from scaly_viz.sources.files import segments
from scaly_viz.sources.folder import data_files, scaly_viz_files
from scaly_viz.sources.recorded_lines import recording_of
from scaly_viz.sources.shipment import Shipment
from scaly_viz_exporters.courier import Courier, End, Round, Told
from scaly_viz_exporters.otlp import default_folder
from scaly_viz_exporters.otlp_settings import OtlpSettings
from scaly_viz_exporters.outbox import Outbox
from scaly_viz_exporters.outcome import Fate
from scaly_viz_exporters.parcels import Message, spans_in
from scaly_viz_exporters.shipped import Shipped

_ASKED_WAIT_S = 60.0
_BUSY_S = 0.2
_LONGEST_BACKOFF_S = 10.0
_LOOK_S = 0.1

type Stop = Callable[[], bool]


@dataclass(frozen=True, slots=True)
class Ended:
    """How a run ended: ``text`` says what was sent, ``error`` what was not, and why."""

    text: str
    error: str = ""
    interrupted: bool = False


@dataclass(frozen=True, slots=True)
class Outlook:
    """What would be sent, in words and in figures."""

    text: str
    figures: dict[str, int]


class Task(ABC):
    """Something to be sent: ``done`` of ``total`` bytes are, as far as that is known."""

    def __init__(self, settings: OtlpSettings) -> None:
        self.settings = settings
        self.sent = 0
        self.kept = 0
        self.recordings: set[str] = set()
        self.shipped = Shipped(own_settings.recording_dir(), settings.where)
        self._told: set[tuple[Fate, str]] = set()

    @abstractmethod
    def total(self) -> int:
        """Return how many bytes there are."""

    @abstractmethod
    def done(self) -> int:
        """Return how many of them have been gone through."""

    @abstractmethod
    def outlook(self) -> Outlook:
        """Say what would be sent."""

    @abstractmethod
    def deliver(self, stop: Stop) -> Round:
        """Send what is left, as far as it goes."""

    @abstractmethod
    def nothing(self) -> str:
        """Say why nothing was sent."""

    def tell(self, told: Told) -> None:
        """Warn of spans that the backend does not take, once a cause."""
        if told.fate in (Fate.LATER, Fate.CLOSED):
            return
        self.kept += told.spans or 1
        if told.fate is Fate.PARTLY:
            self.sent -= told.spans  # which ``note`` counts
        if (told.fate, told.why) not in self._told:
            self._told.add((told.fate, told.why))
            output.warn(f"{plural(told.spans, 'span')}, first {told.first!r}: {told.why}")

    def note(self, message: Message) -> None:
        """Count what is delivered, and remember it."""
        spans = spans_in(message)
        self.shipped.note(spans)
        self.sent += len(spans)
        self.recordings.update(filter(None, map(recording_of, spans)))

    def figures(self) -> dict[str, int]:
        """Return how many spans and recordings were sent, and how many spans were not taken."""
        return {"spans": self.sent, "recordings": len(self.recordings), "not_taken": self.kept}

    def text(self) -> str:
        """Say what was sent."""
        whose = f" of {plural(len(self.recordings), 'recording')}" if self.recordings else ""
        return f"{plural(self.sent, 'span')}{whose} delivered to {self.settings.where}"


class OutboxTask(Task):
    """What waits in the outbox."""

    def __init__(self, settings: OtlpSettings) -> None:
        super().__init__(settings)
        self._outbox = Outbox(default_folder(), own_settings.read().outbox_max_bytes)
        self._total = self._outbox.waiting_bytes()
        self._courier = Courier(settings, self.tell, self.note)
        self._is_first = True

    def total(self) -> int:
        """Return how many bytes wait."""
        return self._total

    def done(self) -> int:
        """Return how many are gone."""
        return max(0, self._total - self._outbox.waiting_bytes())

    def outlook(self) -> Outlook:
        """Say what would be sent."""
        size, refused = self._outbox.waiting_bytes(), self._outbox.refused_bytes()
        text = (
            f"{size:,} bytes wait in {self._outbox.folder} for {self.settings.where}, and"
            f" {refused:,} bytes that were refused before would be sent again"
        )
        return Outlook(text, {"waiting_bytes": size, "refused_bytes": refused})

    def deliver(self, stop: Stop) -> Round:
        """Send what waits, and once what was refused."""
        with self._outbox.delivering() as delivery:
            if delivery is None:
                return Round(End.BUSY)
            if self._is_first:
                self._is_first = False
                delivery.put_back_refused()
                self._total = self._outbox.waiting_bytes()
            ended = self._courier.deliver(delivery.segments(), stop)
            return ended if delivery.complete else Round(End.BUSY)

    def nothing(self) -> str:
        """Say that there is nothing."""
        return f"nothing to ship: nothing waits in {self._outbox.folder}"


class FilesTask(Task):
    """The recordings in files."""

    def __init__(self, settings: OtlpSettings, paths: Sequence[str | Path], *, again: bool) -> None:
        super().__init__(settings)
        self._paths = paths
        known = set() if again else self.shipped.keys()
        self._shipment = Shipment(paths, known, self._report)
        self._courier = Courier(settings, self.tell, self.note)
        self._reported: set[str] = set()

    def total(self) -> int:
        """Return the size of the files."""
        return sum(file.stat().st_size for path in self._paths for file in _files(path))

    def done(self) -> int:
        """Return how much of them is read; of a packed one it is what is unpacked."""
        return self._shipment.bytes_read

    def outlook(self) -> Outlook:
        """Say what would be sent."""
        parcels = list(self._sizes())
        recordings = {name for _, name in parcels}
        size = sum(size for size, _ in parcels)
        already = self._shipment.already
        known = f"; {plural(already, 'span')} more are known to be delivered" if already else ""
        what = f"{plural(len(parcels), 'span')} of {plural(len(recordings), 'recording')}"
        text = f"{what}, {size:,} bytes, would be sent to {self.settings.where}{known}"
        figures = {"spans": len(parcels), "recordings": len(recordings), "bytes": size}
        return Outlook(text, {**figures, "already": already})

    def deliver(self, stop: Stop) -> Round:
        """Send what is not delivered yet."""
        return self._courier.deliver([self._shipment], stop)

    def nothing(self) -> str:
        """Say whether there is nothing, or nothing new."""
        if self._shipment.already:
            return (
                f"nothing to ship: {plural(self._shipment.already, 'span')} are known to be"
                f" delivered to {self.settings.where} (--again sends them again)"
            )
        return "nothing to ship: no recordings there"

    def _sizes(self) -> Iterator[tuple[int, str]]:
        for parcel in self._shipment.parcels():
            yield parcel.size, recording_of(parcel.spans[0])

    def _report(self, text: str) -> None:
        if text not in self._reported:  # a second try reads the files again
            self._reported.add(text)
            output.warn(text)


def outbox_task(settings: OtlpSettings) -> Task:
    """Return the task of sending what waits in the outbox."""
    return OutboxTask(settings)


def files_task(settings: OtlpSettings, paths: Sequence[str | Path], *, again: bool) -> Task:
    """Return the task of sending the recordings in ``paths``."""
    return FilesTask(settings, paths, again=again)


def run(task: Task, *, wait_s: float | None) -> Ended:
    """Do ``task``. Ctrl-C lets the message that is being sent end; a second one does not.

    Raises:
        ScalyVizError: another process ships to the same backend.
    """
    with ExitStack() as stack:
        if not stack.enter_context(task.shipped.shipping()):
            raise ScalyVizError(f"another scaly-viz ship to {task.settings.where} is running")
        progress = stack.enter_context(_progress(task))
        work = _Work(task, wait_s)
        thread = threading.Thread(target=work.run, name="scaly-viz ship", daemon=True)
        thread.start()
        interrupted = False
        # Not by join: CPython 3.12 takes a thread whose join is interrupted for one that has ended.
        while True:
            try:
                if work.finished.wait(_LOOK_S):
                    break
                progress()
            except KeyboardInterrupt:
                if interrupted:
                    raise
                interrupted = True
                work.stopped.set()
    thread.join()
    if work.error is not None:
        raise work.error
    return _ended(task, work.last, interrupted=interrupted and work.last.end is End.STOPPED)


class _Work:
    """The rounds of deliveries, on a thread that no Ctrl-C interrupts between an answer and its note."""

    def __init__(self, task: Task, wait_s: float | None) -> None:
        self._task = task
        self._wait_s = wait_s
        self.stopped = threading.Event()
        self.finished = threading.Event()
        self.last = Round(End.STOPPED)
        self.error: BaseException | None = None

    def run(self) -> None:
        """Deliver until all is delivered, patience ends, or ``stopped`` is set."""
        try:
            self._run()
        except BaseException as error:
            self.error = error
        finally:
            self.finished.set()

    def _run(self) -> None:
        waited, tries = 0.0, 0
        while True:
            self.last = self._task.deliver(self.stopped.is_set)
            rest = self._rest(tries, waited)
            if rest is None:
                return
            if self.stopped.wait(rest):
                self.last = Round(End.STOPPED)
                return
            waited += rest
            tries += 1

    def _rest(self, tries: int, waited: float) -> float | None:
        """Return for how long to rest before another try; None where there is to be none."""
        outcome = self.last.outcome
        asked = outcome.wait_s if outcome else None
        patience = self._wait_s
        if self.last.end is End.BUSY:
            rest = _BUSY_S
            patience = _ASKED_WAIT_S if patience is None else patience
        elif self.last.end is End.LATER:
            rest = min(0.5 * 2**tries, _LONGEST_BACKOFF_S) if asked is None else asked
            if patience is None:
                patience = 0.0 if asked is None else _ASKED_WAIT_S
        else:
            return None
        return rest if waited + rest <= patience else None


def _ended(task: Task, last: Round, *, interrupted: bool) -> Ended:
    if interrupted:
        return Ended(task.text(), interrupted=True)
    cause = last.outcome.cause if last.outcome else last.end.value
    if last.end is not End.DONE:
        error = f"{task.settings.where}: {cause}"
        return Ended(f"{task.text()}, the rest is kept: run it again to go on", error)
    if task.kept:
        error = f"{plural(task.kept, 'span')} not taken by {task.settings.where}"
        return Ended(task.text(), error)
    return Ended(task.text() if task.sent else task.nothing())


@contextmanager
def _progress(task: Task) -> Iterator[Callable[[], None]]:
    """Show a bar on a terminal; yield what brings it up to date."""
    if not sys.stderr.isatty():
        yield lambda: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("shipping", markup=False),
        BarColumn(),
        DownloadColumn(),
        TextColumn("{task.fields[spans]:,} spans", markup=False),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        shown = bar.add_task("", total=task.total() or None, spans=0)

        def update() -> None:
            total = max(task.total(), task.done())
            bar.update(shown, completed=task.done(), total=total or None, spans=task.sent)

        yield update
        update()


def _files(given: str | Path) -> Iterator[Path]:
    if is_address(given):
        return
    path = Path(given)
    for file in scaly_viz_files(path):
        yield file
    if path.is_dir() or not scaly_viz_files(path):
        for file in data_files(path, lambda text: None):
            yield from (segment for segment in segments(file) if segment.exists())
