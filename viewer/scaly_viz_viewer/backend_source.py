"""Owns what is known of one tracing backend, and keeps it current without letting anybody wait for it."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec

from scaly_viz.analysis.summary import RecordingSummary
from scaly_viz.errors import BackendError
from scaly_viz.recording import Recording
from scaly_viz.remote import Listing
from scaly_viz.sources.address import Address
from scaly_viz_viewer.source import Source, key_of, new_revision

# A backend that is quick seems to be asked at once.
_PATIENCE_S = 1.0
_INTERVAL_S = 2.0
# Asking takes at most a tenth of the time.
_REST = 10


class BackendSource(Source):
    """A backend, asked again every few seconds while somebody looks, on a thread of its own."""

    def __init__(self, address: Address) -> None:
        super().__init__(Path(str(address)))
        self.address = address
        self._listing = Listing(address)
        self._summaries: dict[str, RecordingSummary] = {}
        self._ids: dict[str, str] = {}
        self._thread: threading.Thread | None = None
        self._found: list[RecordingSummary] | None = None
        self._told: dict[str, None] = {}
        self._due = 0.0

    def refresh(self) -> None:
        """Take over what the backend was found to have, and ask again where that is some time ago."""
        if self._thread is None and time.monotonic() >= self._due:
            self._told = {}
            self._thread = threading.Thread(target=self._ask, name="scaly-viz backend", daemon=True)
            self._thread.start()
            self._thread.join(_PATIENCE_S)
        if self._thread is not None and not self._thread.is_alive():
            self._thread = None
            self._take_over()

    def summary(self, key: str) -> RecordingSummary:
        """Return the short form."""
        return self._summaries[key]

    def open(self, key: str) -> Recording | None:
        """Ask for one trace; None where the backend does not have it any more, or does not answer."""
        summary = self._summaries[key]
        try:
            return self._listing.open(summary.trace_id, self._ids[key], self._report)
        except BackendError as error:
            self._report(str(error))
            self._due = 0.0
            return None

    def _ask(self) -> None:
        try:
            self._listing.refresh(self._tell)
            self._found = self._listing.summaries()
        except BackendError as error:
            self._tell(str(error))
        self._due = time.monotonic() + max(_INTERVAL_S, _REST * self._listing.cost_s)

    def _tell(self, problem: str) -> None:
        self._told[problem] = None

    def _take_over(self) -> None:
        self.problems.clear()
        for problem in self._told:
            self._report(problem)
        found, self._found = self._found, None
        if found is None:
            return
        keyed = dict(_keyed(found))
        kept = {
            k: r
            for k, r in self.revisions.items()
            if k in keyed and keyed[k][1] == self._summaries[k]
        }
        # What is new or has changed comes last, with a number higher than all.
        self.revisions = kept | {key: new_revision() for key in keyed if key not in kept}
        self._ids = {key: recording_id for key, (recording_id, _) in keyed.items()}
        self._summaries = {key: summary for key, (_, summary) in keyed.items()}


def _keyed(found: list[RecordingSummary]) -> Iterator[tuple[str, tuple[str, RecordingSummary]]]:
    counts: dict[str, int] = {}
    for summary in found:
        position = counts.get(summary.id, 0)
        counts[summary.id] = position + 1
        key = key_of(summary.id, position)
        yield key, (summary.id, msgspec.structs.replace(summary, id=key))
