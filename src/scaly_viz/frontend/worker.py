"""Owns when steps are encoded: after the render, or while it runs where it takes long."""

from __future__ import annotations

import contextlib
import queue
import sys
import threading
import time
from collections.abc import Iterable
from typing import TYPE_CHECKING

from scaly_viz.frontend.audience import Audience
from scaly_viz.frontend.guard import Guard
from scaly_viz.frontend.reentrance import reentrant
from scaly_viz.threads import await_end

if TYPE_CHECKING:
    from scaly_viz.frontend.recorder import Recorder

# A step that has waited this long is written while the render runs: it may hang or be killed.
PATIENCE_S = 2.0
# Recordings that may wait to be encoded: beyond it, the next render waits for them.
BACKLOG = 4
_LOOK_S = 0.25
_PATIENT_S = 10.0


class Worker:
    """Encodes recordings in the order in which they finish, on a thread that lives while there are any.

    The thread is no daemon: the interpreter, and a ``multiprocessing`` child, wait for it at exit.
    """

    def __init__(self, guard: Guard, audience: Audience) -> None:
        self._guard = guard
        self._audience = audience
        self._reset()

    def _reset(self) -> None:
        # Reentrant: the garbage collector may end an observer while this thread holds the lock.
        self._lock = threading.RLock()
        self._live: dict[int, Recorder] = {}
        self._wake: queue.SimpleQueue[None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._latest: threading.Thread | None = None
        self._paced: Recorder | None = None
        self._ending = False

    @property
    def idle(self) -> bool:
        """Whether no recording is in progress or waits to be encoded."""
        return all(recorder.done.is_set() for recorder in list(self._live.values()))

    def watch(self, recorder: Recorder) -> None:
        """Take charge of a recording that has begun, once there is room for it."""
        if sum(recorder.finished for recorder in list(self._live.values())) >= BACKLOG:
            self.drain(_PATIENT_S)
        with self._lock:
            self._end_interrupted()
            self._live[id(recorder)] = recorder
            if self._thread is None and not self._ending:
                thread = threading.Thread(target=self._run, name="scaly_viz encoder", daemon=False)
                try:
                    thread.start()
                except RuntimeError:
                    # The interpreter is shutting down: finished() will encode by itself.
                    return
                self._thread = self._latest = thread

    def finished(self, recorder: Recorder) -> None:
        """Take note that ``recorder`` has finished. Safe to call from a finalizer."""
        if self._thread is None:
            self._encode(recorder)
        else:
            self._call()
            if _in_pool_worker():
                self._wait(recorder, time.monotonic() + _PATIENT_S)

    def _call(self) -> None:
        """Have the thread look at once, even if it works slowly on another recording."""
        self._wake.put(None)
        paced = self._paced
        if paced is not None:
            paced.pace.hurry()

    def drain(self, timeout_s: float = float("inf")) -> bool:
        """Wait until every render that has ended is encoded; return False where time runs out.

        Called from within our own work, by a signal handler say, it waits for nothing.
        """
        if threading.current_thread() is self._latest or reentrant():
            return False
        deadline = time.monotonic() + timeout_s
        with self._lock:
            self._end_interrupted()
            ended = [recorder for recorder in self._live.values() if recorder.finished]
        if ended:
            self._call()
        return all(self._wait(recorder, deadline) for recorder in ended)

    def _wait(self, recorder: Recorder, deadline: float) -> bool:
        while not recorder.done.wait(min(_LOOK_S, max(0.0, deadline - time.monotonic()))):
            thread = self._thread
            if thread is None or not thread.is_alive():
                self._encode(recorder)
            elif time.monotonic() >= deadline:
                return False
        return True

    def end(self, timeout_s: float) -> None:
        """Drain, as the process ends: nobody waits for a thread any more, so later renders do without."""
        self._ending = True
        self.drain(timeout_s)

    def before_fork(self) -> None:
        """Finish what has ended, then hold still: the child must find nothing half done.

        Without a render in progress the thread ends first: CPython warns of a fork with threads.
        """
        self.drain(_PATIENT_S)
        latest = self._latest
        if latest is not None and latest is not threading.current_thread() and self.idle:
            self._call()
            latest.join(_PATIENT_S)
            await_end(latest)
        self._lock.acquire()

    def after_fork_in_parent(self) -> None:
        """Go on."""
        self._lock.release()

    def after_fork_in_child(self) -> None:
        """Start afresh: the thread is gone, and renders in progress belong to the parent."""
        for recorder in self._live.values():
            recorder.disown()
        self._reset()

    def _run(self) -> None:
        try:
            while True:
                rest = self._turn()
                self._audience.tick()
                if rest is None and self._retire():
                    return
                with contextlib.suppress(queue.Empty):
                    self._wake.get(timeout=rest)
        except Exception as error:
            # Those who wait for a recording will encode it themselves.
            self._guard.tell("encoding", error)
            self._thread = None

    def _retire(self) -> bool:
        with self._lock:
            if self._live:
                return False
            self._thread = None
            return True

    def _turn(self) -> float | None:
        """Encode what has ended, else one step that waits too long; return seconds to rest, None if idle."""
        with self._lock:
            if not threading.main_thread().is_alive():
                # The interpreter does not wait for daemon threads, nor shall it for their renders.
                self._end(r for r in self._live.values() if r.thread.daemon)
            self._end_interrupted()
            ended = [recorder for recorder in self._live.values() if recorder.finished]
        for recorder in ended:
            self._encode(recorder)
        with self._lock:
            waiting = [(r.waiting_since, r) for r in self._live.values() if not r.finished]
        if not waiting:
            return 0.0 if self._live else None
        since, recorder = min(waiting, key=lambda pair: pair[0])
        due = since + PATIENCE_S - time.monotonic()
        if due > 0:
            return min(due, _LOOK_S)
        self._paced = recorder
        recorder.encode_ahead()
        self._paced = None
        return 0.0

    def _encode(self, recorder: Recorder) -> None:
        self._guard.run("writing a recording", recorder.encode)
        recorder.done.set()
        with self._lock:
            self._live.pop(id(recorder), None)

    def _end_interrupted(self) -> None:
        # Only this thread's own stack: to walk another's while it runs has crashed CPython 3.12.1.
        here = threading.current_thread()
        self._end(
            recorder
            for recorder in self._live.values()
            if (not recorder.on_stack() if recorder.thread is here else recorder.orphaned)
        )

    @staticmethod
    def _end(recorders: Iterable[Recorder]) -> None:
        for recorder in [recorder for recorder in recorders if not recorder.finished]:
            recorder.interrupt()


def _in_pool_worker() -> bool:
    """Whether this is a child of ``multiprocessing``, which a pool may end without a word."""
    multiprocessing = sys.modules.get("multiprocessing.process")
    return multiprocessing is not None and multiprocessing.parent_process() is not None
