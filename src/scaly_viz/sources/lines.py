"""Owns cutting a stream of bytes into numbered lines, and lines into OTLP JSON documents."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from scaly_viz.errors import RecordingFileError
from scaly_viz.sources.otlp_json import decode_line
from scaly_viz.span_record import SpanRecord

MAX_LINE_BYTES = 64 * 1024**2
MAX_REPORTS = 100

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"

# Inside JSON strings the quotes would be escaped, so this is always the start of a document.
_DOCUMENT_START = re.compile(rb'(?=\{"resource_?[sS]pans")')

type Report = Callable[[str], None]


class Line(NamedTuple):
    """One line without its line end; ``is_ended`` tells whether it had one."""

    number: int
    data: bytes
    is_ended: bool
    start: int = 0
    """Where the line begins, in bytes from where its splitter began."""


class LineSplitter:
    """Cuts chunks of bytes into lines; drops those too long to be held in memory."""

    def __init__(self, overlong: Callable[[int], None], number: int = 1, skips: bool = False):
        self.number = number
        """The number of the line that the next byte belongs to."""
        self.ended_at = 0
        """How many bytes the complete lines so far take."""
        self.skips = skips
        """Whether the line that the next byte belongs to is too long, so that it is left out."""
        self._overlong = overlong
        self._parts: list[bytes] = []
        self._length = 0

    def feed(self, chunk: bytes) -> Iterator[Line]:
        """Yield the lines that ``chunk`` completes, blank ones left out."""
        *ended, rest = chunk.split(b"\n")
        for data in ended:
            line = self._end(data)
            if line:
                yield line
        self._hold(rest)

    def rest(self) -> Line | None:
        """Return the last line, which has no line end, None where it is blank."""
        data = b"".join(self._parts)
        return Line(self.number, data, False, self.ended_at) if data.strip() else None

    def held(self) -> int:
        """Return how many bytes the line takes that is not complete yet."""
        return self._length

    def _end(self, data: bytes) -> Line | None:
        self._hold(data)
        whole = b"".join(self._parts)
        number, start = self.number, self.ended_at
        self.number += 1
        self.ended_at += self._length + 1
        self.skips = False
        self._parts.clear()
        self._length = 0
        return Line(number, whole, True, start) if whole.strip() else None

    def _hold(self, data: bytes) -> None:
        if self.number == 1 and self._length == 0:
            self.ended_at += len(data) - len(data.removeprefix(_BYTE_ORDER_MARK))
            data = data.removeprefix(_BYTE_ORDER_MARK)
        self._length += len(data)
        if not self.skips and self._length > MAX_LINE_BYTES:
            self.skips = True
            self._overlong(self.number)
        if self.skips:
            self._parts.clear()
        elif data:
            self._parts.append(data)


def documents(lines: Iterable[Line]) -> Iterator[Line]:
    """Yield lines as they are, but join those of an indented document.

    Such a document, as ``jq`` writes it, starts with a line of one brace and ends with another. A
    torn line can look like its start: the next line that is a document of its own ends it.
    """
    opened: list[Line] = []
    size = 0
    for line in lines:
        brace = line.data.rstrip()
        starts = line.data.startswith(b"{")
        if opened and (starts or size + len(line.data) > MAX_LINE_BYTES):
            yield _joined(opened)
            opened = []
        if opened or brace == b"{":
            opened.append(line)
            size = len(line.data) + (size if len(opened) > 1 else 0)
            if brace == b"}":
                yield _joined(opened)
                opened = []
        else:
            yield line
    if opened:
        yield _joined(opened)


def _joined(lines: list[Line]) -> Line:
    data = b"\n".join(line.data for line in lines)
    return Line(lines[0].number, data, lines[-1].is_ended, lines[0].start)


def spans_of(line: Line, name: str, report: Report, *, events: bool = True) -> list[SpanRecord]:
    """Return the spans of ``line``, or without their ``events``; damage is reported, the rest kept.

    A torn line that another tool has appended a whole one to gives the whole one.
    """
    origin = f"{name}:{line.number}"
    try:
        return decode_line(line.data, origin, events=events)
    except RecordingFileError as error:
        parts = [part for part in _DOCUMENT_START.split(line.data) if part]
        if len(parts) == 1:
            fate = "the line" if line.is_ended else "the line, which is torn or being written,"
            report(f"{error}; {fate} was left out")
            return []
    return [span for part in parts for span in _spans_of_part(part, origin, report, events)]


def _spans_of_part(part: bytes, origin: str, report: Report, events: bool) -> list[SpanRecord]:
    try:
        return decode_line(part, origin, events=events)
    except RecordingFileError as error:
        report(f"{error}; this part of a torn line was left out")
        return []


def overlong(name: str, report: Report) -> Callable[[int], None]:
    """Return what tells of a line of the file ``name`` that is too long to be held in memory."""
    return lambda number: report(
        f"{name}:{number}: longer than {MAX_LINE_BYTES} bytes; the line was left out"
    )


class ReportLimit:
    """Passes on the first ``MAX_REPORTS`` reports on one file, and counts the others."""

    def __init__(self, name: str, report: Report) -> None:
        self._name = name
        self._report = report
        self._count = 0

    def __call__(self, text: str) -> None:
        """Report ``text``, unless there have been enough."""
        self._count += 1
        if self._count <= MAX_REPORTS:
            self._report(text)

    def close(self) -> None:
        """Tell how many reports were left out."""
        if self._count > MAX_REPORTS:
            self._report(f"{self._name}: {self._count - MAX_REPORTS} more problems like these")
