"""Owns what a tracing backend is to its readers: something to search, and to ask for one trace."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from scaly_viz.assembling import assemble
from scaly_viz.errors import BackendError
from scaly_viz.recording import Recording
from scaly_viz.sources.address import Address, parse_address
from scaly_viz.sources.found_trace import FoundTrace
from scaly_viz.sources.http import HttpClient
from scaly_viz.sources.lines import Report
from scaly_viz.sources.windows import walk
from scaly_viz.span_record import SpanRecord


class Backend(Protocol):
    """A backend that answers over HTTP. Each call raises ``BackendError`` where it does not."""

    narrowest_ns: int
    """A window of search that is not cut any further."""
    widest_ns: int
    """The widest window that one search may have."""
    hint: str
    """What to change where payloads were cut or spans were lost on their way through it."""

    def searches(self) -> Sequence[Callable[[int, int, int], Iterator[FoundTrace]]]:
        """Return the searches that together find all recordings."""

    def trace(self, trace_id: str) -> list[SpanRecord]:
        """Return the spans of the trace's recordings, none where it does not have the trace."""


def connect(address: Address, client: HttpClient, report: Report) -> Backend:
    """Return the backend at ``address``. Nothing is asked yet."""
    from scaly_viz.sources.jaeger import Jaeger
    from scaly_viz.sources.tempo import Tempo

    return (Jaeger if address.kind == "jaeger" else Tempo)(address, client, report)


def found_traces(
    backend: Backend,
    address: Address,
    window: tuple[int, int],
    report: Report,
    is_enough: Callable[[int], bool],
) -> Iterator[FoundTrace]:
    """Yield each trace in ``window`` once, by and large the newest first."""
    for search in backend.searches():
        seen: set[str] = set()
        for found in walk(
            search,
            window,
            address.page,
            narrowest_ns=backend.narrowest_ns,
            widest_ns=backend.widest_ns,
            is_enough=is_enough,
            report=report,
        ):
            if found.trace_id not in seen:
                seen.add(found.trace_id)
                yield found


def recordings_of(spans: Sequence[SpanRecord], backend: Backend) -> list[Recording]:
    """Put the recordings of one trace together; what is lost or damaged will name what to change."""
    recordings = assemble(spans)
    for recording in recordings:
        recording.hint = backend.hint
    return recordings


def load_backend(text: str, report: Report) -> list[Recording]:
    """Return the recordings of a backend with all their payloads, the newest as many as its limit says.

    They are in the order of their ends.

    Raises:
        BackendError: ``text`` is no address, or the backend does not answer as it should.
    """
    address = parse_address(text)
    with HttpClient(address) as client:
        backend = connect(address, client, report)
        if address.trace:
            found = recordings_of(whole_trace(backend, address), backend)
        else:
            found = _search(backend, address, report)
    if address.recording:
        found = [recording for recording in found if recording.id == address.recording]
    return sorted(found, key=lambda recording: recording.end_ns)[-address.limit :]


def whole_trace(backend: Backend, address: Address) -> Sequence[SpanRecord]:
    """Return the spans of the one trace that ``address`` names.

    Raises:
        BackendError: the backend has no such trace.
    """
    spans = backend.trace(address.trace)
    if not spans:
        raise BackendError(f"{address}: it has no trace {address.trace} with recordings")
    return spans


def _search(backend: Backend, address: Address, report: Report) -> list[Recording]:
    recordings: dict[tuple[str, str], Recording] = {}

    def is_enough(seen_to_ns: int) -> bool:
        newest = [r for r in recordings.values() if r.end_ns >= seen_to_ns]
        return len(newest) >= address.limit

    for found in found_traces(backend, address, address.window(), report, is_enough):
        spans = found.spans
        if spans is None or not found.is_whole:
            spans = backend.trace(found.trace_id)
        for recording in recordings_of(spans, backend):
            recordings[found.trace_id, recording.id] = recording
    return list(recordings.values())
