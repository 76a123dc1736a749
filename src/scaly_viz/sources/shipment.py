"""Owns what of recording files is sent to a backend: the spans of recordings, each once, in their order."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from scaly_viz.respan import span_of_record, spans_of_dict
from scaly_viz.sources.address import is_address
from scaly_viz.sources.backend import load_backend
from scaly_viz.sources.files import Document, read_documents
from scaly_viz.sources.folder import scaly_viz_files
from scaly_viz.sources.lines import Report
from scaly_viz.sources.recorded_lines import SpanLine, lines_of
from scaly_viz.sources.scaly_viz_json import read_recordings
from scaly_viz_exporters.parcels import Message, Parcel, spans_in
from scaly_viz_exporters.shipped import key_of
from scaly_viz_exporters.span_lines import line_of


class Shipment:
    """The spans of the recordings in ``paths``, but for those in ``known``, which the backend has."""

    def __init__(
        self,
        paths: Sequence[str | os.PathLike[str]],
        known: Collection[bytes],
        report: Report,
    ) -> None:
        self._paths = paths
        self._known = known
        self._report = report
        self._done: set[bytes] = set()
        self.already = 0
        """Spans that were left out because they are known to be delivered."""
        self.others = 0
        """Spans that were left out because they belong to no recording."""
        self.bytes_read = 0

    def parcels(self) -> Iterator[Parcel]:
        """Yield what is not delivered, one span a parcel; asked again, from the start."""
        self.already = self.others = self.bytes_read = 0
        seen: set[bytes] = set()
        for span, line in self._spans():
            key = key_of(span)
            if key in self._done or key in seen:
                continue
            seen.add(key)
            if key in self._known:
                self.already += 1
            else:
                yield Parcel(line, [span], len(line))

    def delivered(self, message: Message) -> None:
        """Do not send ``message`` again."""
        self._done.update(map(key_of, spans_in(message)))

    def refused(self, message: Message, why: str) -> None:
        """Leave ``message`` where it is, in its file, and do not send it again."""
        self.delivered(message)

    def partly_rejected(self, message: Message, why: str) -> None:
        """Leave ``message`` where it is, in its file, and do not send it again."""
        self.delivered(message)

    def _spans(self) -> Iterator[SpanLine]:
        for given in self._paths:
            if is_address(given):
                for recording in load_backend(os.fspath(given), self._report):
                    for span in map(span_of_record, recording.spans):
                        yield SpanLine(span, line_of(span))
                continue
            path = Path(given)
            foreign = scaly_viz_files(path)
            for file in foreign:
                for data in read_recordings(file, self._report):
                    for span in spans_of_dict(data, file.name):
                        yield SpanLine(span, line_of(span))
                self.bytes_read += file.stat().st_size
            if foreign and not path.is_dir():
                continue
            for document in read_documents(path, self._report):
                yield from self._of(document)
                self.bytes_read += len(document.line.data) + 1

    def _of(self, document: Document) -> Iterator[SpanLine]:
        lines, others = lines_of(document)
        self.others += others
        yield from lines
