"""Owns what tests need to compare recordings with a snapshot: stepping time, counted ids, spans as text.

See ``docs/testing.md``.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import PurePath

from opentelemetry.sdk.trace import ReadableSpan

import scaly_viz
from scaly_viz import attributes as a
from scaly_viz.span_record import AttributeValue, SpanRecord
from scaly_viz.store import record
from scaly_viz.system import System, replaced

# What differs between two machines, two runs, or two versions of a library that compresses.
_VARIES = {a.STACKTRACE, a.LINE_NUMBER, a.OVERHEAD, a.COMPILER_VERSION, "exception.stacktrace"}
_DIGESTS = {a.PAYLOAD_DIGEST, a.PAYLOAD_BASE}


class SteppingClock:
    """A clock that moves on by ``step_ns`` nanoseconds with each look, from ``start_ns`` on."""

    def __init__(self, start_ns: int = 0, step_ns: int = 1_000_000) -> None:
        self._now_ns = start_ns
        self._step_ns = step_ns

    def __call__(self) -> int:
        """Return the time in nanoseconds."""
        self._now_ns += self._step_ns
        return self._now_ns


class CountingIds:
    """Ids that count from 1 on, for each size on its own: 128 bits for recordings and traces, 64 for spans."""

    def __init__(self) -> None:
        self._latest: dict[int, int] = {}

    def __call__(self, bits: int) -> int:
        """Return the next id of ``bits`` bits."""
        number = self._latest[bits] = self._latest.get(bits, 0) + 1
        return number


@contextmanager
def deterministic(
    clock: SteppingClock | None = None, ids: CountingIds | None = None
) -> Generator[None]:
    """Give the recordings of renders inside the block the times of ``clock`` and ids of ``ids``.

    Render one after the other, in one thread: another thread would look at the clock in between.
    Times begin at the Unix epoch, unless ``clock`` says otherwise. All is written where it ends.
    """
    ticks = clock or SteppingClock()
    started = ticks()
    with replaced(System(lambda: started, ticks, ids or CountingIds())):
        try:
            yield
        finally:
            scaly_viz.flush()


def snapshot(spans: Iterable[ReadableSpan]) -> str:
    """Return ``spans`` as a text to compare: the tree, with all attributes and events, one a line.

    Spans stand below their parents, in the order of their ids, times in milliseconds. What depends
    on the machine, or on the moment, has a placeholder: ``<varies>``, the file's name in place of
    its path, a number in place of a digest. A payload's body is left out, its size stays.
    """
    records = sorted(map(record, spans), key=lambda span: span.span_id)
    return "\n".join(_Snapshot(records).lines()) + "\n"


class _Snapshot:
    def __init__(self, spans: Sequence[SpanRecord]) -> None:
        self._below: dict[str, list[SpanRecord]] = {}
        self._digests: dict[AttributeValue, int] = {}
        known = {span.span_id for span in spans}
        for span in spans:
            parent = span.parent_span_id if span.parent_span_id in known else ""
            self._below.setdefault(parent, []).append(span)

    def lines(self, parent: str = "", pad: str = "") -> Iterator[str]:
        for span in self._below.get(parent, ()):
            start, end = span.start_ns / 1e6, span.end_ns / 1e6
            status = "" if span.status == "unset" else f" {span.status}: {span.status_message}"
            yield f"{pad}{span.name} [{start:g} to {end:g} ms]{status}"
            yield from self._attributes(span.attributes, pad + "    ")
            for event in span.events:
                yield f"{pad}    {event.name} [{event.time_ns / 1e6:g} ms]"
                yield from self._attributes(event.attributes, pad + "        ")
            yield from self.lines(span.span_id, pad + "  ")

    def _attributes(self, attributes: Mapping[str, AttributeValue], pad: str) -> Iterator[str]:
        for key, value in attributes.items():
            if key != a.PAYLOAD_BODY:
                yield f"{pad}{key} = {self._shown(key, value)}"

    def _shown(self, key: str, value: AttributeValue) -> str:
        if key in _VARIES:
            return "<varies>"
        if key in _DIGESTS:
            return f"#{self._digests.setdefault(value, len(self._digests) + 1)}"
        if key == a.FILE_PATH:
            return repr(PurePath(str(value)).name)
        return repr(value)
