"""Owns the thread that delivers: when it tries, how long it rests, and how it ends."""

from __future__ import annotations

import functools
import os
import random
import threading
import time
import weakref
from collections.abc import Callable

from scaly_viz import log
from scaly_viz.threads import await_end
from scaly_viz_exporters.courier import End, Round

# What comes within this time goes out together.
LINGER_S = 0.5
FIRST_BACKOFF_S = 1.0
LONGEST_BACKOFF_S = 60.0
_BUSY_S = 0.2
_MOST_DOUBLINGS = 10
_JOIN_S = 1.0

type Deliver = Callable[[Callable[[], bool]], Round]
"""Delivers what waits; is given what tells it to stop between two messages."""


class Sender:
    """Delivers on a thread that lives while there is something to deliver.

    The thread is a daemon: an exit waits for it only as long as ``flush`` says.
    """

    def __init__(self, deliver: Deliver, rest: Callable[[], None]) -> None:
        self._deliver = deliver
        self._rest = rest
        self._reset()
        _senders.add(self)
        _watch_forks()

    def _reset(self) -> None:
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._asked = 0
        self._served = 0
        self._failures = 0
        self._is_hopeless = False
        self._due = 0.0
        self._not_before = 0.0
        self._hurries = False
        self._stops = False
        self._is_over = False

    def notify(self) -> None:
        """Take note that there is something to deliver."""
        with self._changed:
            if self._asked == self._served:
                self._due = max(self._due, time.monotonic() + LINGER_S)
            self._asked += 1
            self._start()

    def flush(self, timeout_s: float) -> bool:
        """Deliver at once; return whether all is delivered within ``timeout_s``.

        With the backend down it is one try; where the backend asks to wait, it is waited for if the
        time suffices.
        """
        deadline = time.monotonic() + timeout_s
        with self._changed:
            asked = self._asked
            self._hurries, self._is_hopeless = True, False
            may_use_thread = self._start()
            self._changed.notify_all()
            while may_use_thread and self._served < asked:
                rest = deadline - time.monotonic()
                if rest <= 0 or not self._may_still(deadline):
                    return False
                self._changed.wait(rest)
        return may_use_thread or self._flush_here(deadline)

    def _flush_here(self, deadline: float) -> bool:
        """Deliver in the calling thread, as an interpreter that shuts down starts no other."""
        while self._served < self._asked and not self._is_over:
            rest = self._not_before - time.monotonic()
            if self._not_before >= deadline or self._is_hopeless:
                break
            time.sleep(max(rest, 0.0))
            asked = self._asked
            self._take_note(self._round(lambda: time.monotonic() > deadline), asked)
        return self._served >= self._asked

    def stop(self) -> None:
        """End the thread after the message that it is sending; later notes start none."""
        self._is_over = True
        self.pause()

    def pause(self) -> None:
        """End the thread, until ``resume``."""
        with self._changed:
            self._stops = True
            self._changed.notify_all()
            thread = self._thread
        if thread is None or thread is threading.current_thread():
            self._rest()
            return
        thread.join(_JOIN_S)
        if not thread.is_alive():
            await_end(thread)
            self._rest()

    def resume(self) -> None:
        """Go on after ``pause``."""
        with self._changed:
            self._stops = False
            if self._served < self._asked:
                self._start()

    def after_fork_in_child(self) -> None:
        """Start afresh: the thread is the parent's, and so is what waits."""
        is_over = self._is_over
        self._reset()
        self._is_over = is_over

    def _start(self) -> bool:
        """Have a thread, unless it is not to be; return False where there cannot be any more."""
        if self._thread is not None or self._stops or self._is_over:
            return True
        thread = threading.Thread(target=self._run, name="scaly_viz sender", daemon=True)
        try:
            thread.start()
        except RuntimeError:  # the interpreter is shutting down
            return False
        self._thread = thread
        return True

    def _may_still(self, deadline: float) -> bool:
        """Whether there will be a try before ``deadline`` that has a chance."""
        return self._thread is not None and not self._is_hopeless and self._not_before <= deadline

    def _run(self) -> None:
        while self._awaits_turn():
            with self._changed:
                asked = self._asked
                self._hurries = False
            ended = self._round(lambda: self._stops)
            with self._changed:
                self._take_note(ended, asked)
                self._changed.notify_all()

    def _awaits_turn(self) -> bool:
        """Rest until it is time to try; return False where the thread is to end."""
        with self._changed:
            while self._served < self._asked and not self._stops:
                now = time.monotonic()
                rest = self._not_before - now
                if not self._hurries:
                    rest = max(rest, self._due - now)
                if rest <= 0:
                    return True
                self._changed.wait(rest)
            self._thread = None
            self._changed.notify_all()
            return False

    def _round(self, stop: Callable[[], bool]) -> Round:
        try:
            return self._deliver(stop)
        except Exception as error:
            log.debug("delivering failed", error=error)
            log.warn("otlp: delivering failed and is tried again: %s", log.said(error))
            return Round(End.LATER)

    def _take_note(self, ended: Round, asked: int) -> None:
        now = time.monotonic()
        self._not_before = 0.0
        if ended.end is End.DONE:
            self._served, self._failures = asked, 0
            self._due = now + LINGER_S
        elif ended.end is End.BUSY:
            self._not_before = now + _BUSY_S
        elif ended.end is End.STOPPED:
            self._is_hopeless = True
        elif ended.end is End.CLOSED:
            self._is_hopeless = True
            self._stops = self._is_over = True
        elif ended.end is End.LATER:
            wait_s = ended.outcome.wait_s if ended.outcome else None
            if wait_s is None:
                backoff = min(FIRST_BACKOFF_S * 2**self._failures, LONGEST_BACKOFF_S)
                self._failures = min(self._failures + 1, _MOST_DOUBLINGS)
                self._due = now + backoff * random.SystemRandom().uniform(0.8, 1.2)
                self._is_hopeless = True
            else:
                self._due = self._not_before = now + wait_s


_senders: weakref.WeakSet[Sender] = weakref.WeakSet()


@functools.cache
def _watch_forks() -> None:
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(
            before=lambda: _each(Sender.pause),
            after_in_parent=lambda: _each(Sender.resume),
            after_in_child=lambda: _each(Sender.after_fork_in_child),
        )


def _each(act: Callable[[Sender], None]) -> None:
    for sender in list(_senders):
        act(sender)
