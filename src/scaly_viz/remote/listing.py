"""Owns the list of a backend's recordings: what is asked again, and what is remembered."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence

import msgspec

from scaly_viz.analysis.summary import RecordingSummary, summarize
from scaly_viz.errors import BackendError
from scaly_viz.recording import Recording
from scaly_viz.remote.cache import Cache, Entry, Listed, Memory
from scaly_viz.settings import read_backend
from scaly_viz.sources.address import Address
from scaly_viz.sources.backend import (
    Backend,
    connect,
    found_traces,
    recordings_of,
    whole_trace,
)
from scaly_viz.sources.found_trace import FoundTrace
from scaly_viz.sources.http import HttpClient
from scaly_viz.sources.lines import Report
from scaly_viz.span_record import SpanRecord

_SECOND = 10**9
# Spans that a batch, a queue or a retry held back come this much later.
_LATE_NS = 600 * _SECOND
# A list that took longer than this is not made anew for a while, up to an hour.
_CHEAP_S = 2.0
_TRUST_TIMES = 30
_TRUST_S = 3600.0
# A recording that lacks something is looked at again for a day, some of them with each list.
_HOPE_NS = 86_400 * _SECOND
_MOST_AGAIN = 20


class Listing:
    """What one backend has, as its address asks for it. Nothing is asked before ``refresh``."""

    def __init__(self, address: Address) -> None:
        self.address = address
        self._settings = read_backend()
        self._cache = Cache(address, self._settings)
        self._memory = self._cache.read()
        self._window = address.window()
        self._lock = threading.Lock()
        self.cost_s = 0.0
        """How long the last ``refresh`` took, in seconds."""

    def refresh(self, report: Report) -> None:
        """Ask the backend what it has now. What changed is told by ``summaries``.

        A backend of which a whole list takes long is asked for what is recent only, for a while: what
        was shipped late, or deleted, is noticed after that.

        Raises:
            BackendError: it does not answer as it should.
        """
        start = time.monotonic()
        self._window = self.address.window()
        with self._lock, HttpClient(self.address, self._settings) as client:
            look = _Look(connect(self.address, client, report), self.address, self._memory, report)
            if self.address.trace:
                look.note_trace(whole_trace(look.backend, self.address))
            else:
                self._list(look)
            self._cache.write(self._memory)
        self.cost_s = time.monotonic() - start

    def _list(self, look: _Look) -> None:
        since, until = self._window
        listed = self._memory.listed
        trusted_s = min(_TRUST_TIMES * listed.cost_s, _TRUST_S) if listed.cost_s > _CHEAP_S else 0
        now_ns = time.time_ns()
        if 0 <= now_ns - listed.at_ns < trusted_s * _SECOND:
            reached = look.list(max(since, listed.at_ns - _LATE_NS), until)
            if reached <= listed.at_ns - _LATE_NS and listed.since_ns - since > _LATE_NS:
                listed.since_ns = look.list(since, listed.since_ns)
            look.again(listed.at_ns - _LATE_NS)
        else:
            start = time.monotonic()
            reached = look.list(since, until)
            self._memory.listed = Listed(reached, now_ns, time.monotonic() - start)

    def summaries(self) -> list[RecordingSummary]:
        """Return the short forms of the newest recordings, in the order of their ends."""
        since, until = self._window
        address = self.address
        if address.trace:
            entry = self._memory.entries.get(address.trace)
            found = entry.recordings if entry else []
        else:
            listed = [s for entry in self._memory.entries.values() for s in entry.recordings]
            found = [s for s in listed if since <= s.started_at * _SECOND <= until]
        if address.recording:
            found = [summary for summary in found if summary.id == address.recording]
        return sorted(found, key=lambda s: s.started_at + s.duration_s)[-address.limit :]

    def open(self, trace_id: str, recording_id: str, report: Report) -> Recording:
        """Return a recording with its payloads.

        Raises:
            BackendError: the backend does not answer as it should, or has it no more.
        """
        with HttpClient(self.address, self._settings) as client:
            backend = connect(self.address, client, report)
            recordings = recordings_of(backend.trace(trace_id), backend)
        for recording in recordings:
            if recording.id == recording_id:
                return recording
        with self._lock:
            self._memory.entries.pop(trace_id, None)
            self._memory.listed = Listed()
            self._cache.write(self._memory)
        raise BackendError(f"{self.address}: it has no recording {recording_id} any more")


class _Look:
    """One look at a backend, which brings what is remembered of it up to date."""

    def __init__(self, backend: Backend, address: Address, memory: Memory, report: Report) -> None:
        self.backend = backend
        self._address = address
        self._entries = memory.entries
        self._report = report
        self._seen: set[str] = set()
        self._now_ns = time.time_ns()

    def list(self, since_ns: int, until_ns: int) -> int:
        """Take note of all in a span of time, from its end on, and forget what is there no more.

        Returns the time down to which it came before there was enough.
        """
        reached = [until_ns]

        def is_enough(seen_to_ns: int) -> bool:
            reached[0] = seen_to_ns
            return self._count(seen_to_ns) >= self._address.limit

        window = (since_ns, until_ns)
        for found in found_traces(self.backend, self._address, window, self._report, is_enough):
            self._seen.add(found.trace_id)
            self._note(found)
        for trace_id, entry in [*self._entries.items()]:
            if reached[0] <= entry.start_ns <= until_ns and trace_id not in self._seen:
                del self._entries[trace_id]
        return reached[0]

    def again(self, before_ns: int) -> None:
        """Look again at traces that are older than ``before_ns`` and lacked something."""
        hopeful = [
            trace_id
            for trace_id, entry in self._entries.items()
            if not entry.is_complete
            and self._now_ns - _HOPE_NS < entry.start_ns < before_ns
            and trace_id not in self._seen
        ]
        for trace_id in hopeful[-_MOST_AGAIN:]:
            self._keep(trace_id, self._entries[trace_id].start_ns, self.backend.trace(trace_id), "")

    def note_trace(self, spans: Sequence[SpanRecord]) -> None:
        """Take note of one trace."""
        self._keep(self._address.trace, 0, spans, "")

    def _count(self, since_ns: int) -> int:
        return sum(
            len(entry.recordings) for entry in self._entries.values() if entry.start_ns >= since_ns
        )

    def _note(self, found: FoundTrace) -> None:
        spans = found.spans
        if spans is None:
            entry = self._entries.get(found.trace_id)
            if entry and entry.is_complete and entry.mark == found.mark:
                return
            spans = self.backend.trace(found.trace_id)
        self._keep(found.trace_id, found.start_ns, spans, found.mark)

    def _keep(self, trace_id: str, start_ns: int, spans: Sequence[SpanRecord], mark: str) -> None:
        if not spans and not mark:
            self._entries.pop(trace_id, None)
            return
        start_ns = min((span.start_ns for span in spans), default=start_ns)
        bare = [msgspec.structs.replace(span, events=()) for span in spans]
        recordings = recordings_of(bare, self.backend)
        summaries = [_hinted(summarize(recording), recording.hint) for recording in recordings]
        self._entries[trace_id] = Entry(start_ns, summaries, mark)


def _hinted(summary: RecordingSummary, hint: str) -> RecordingSummary:
    """Say what to look at where steps are missing."""
    problems = [f"{p}. {hint}" if p.endswith("missing") else p for p in summary.problems]
    return msgspec.structs.replace(summary, problems=problems) if problems else summary
