"""Owns the recordings that are exported: what there are at a place, and those that are wanted, whole, one by one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from scaly_viz.assembling import assemble
from scaly_viz.errors import RecordingFileError
from scaly_viz.recording import Recording
from scaly_viz.respan import span_of_record, spans_of_dict
from scaly_viz.scaly_viz_dict import from_dict
from scaly_viz.sources.files import read_documents, read_spans
from scaly_viz.sources.folder import scaly_viz_files
from scaly_viz.sources.lines import Report
from scaly_viz.sources.recorded_lines import lines_of
from scaly_viz.sources.scaly_viz_json import read_recordings
from scaly_viz.span_record import SpanRecord
from scaly_viz_exporters.span_lines import line_of


@dataclass(frozen=True, slots=True)
class Chosen:
    """A recording, and its spans as lines of OTLP JSON in the order in which they were recorded."""

    recording: Recording
    lines: Sequence[bytes]


def chosen(recording: Recording) -> Chosen:
    """Return a recording that is in memory as one to be exported.

    One of scaly.viz, which has no spans, gets some whose ids follow from its content.
    """
    if recording.head.span_id:
        spans = [span_of_record(record) for record in recording.spans]
    else:
        spans = [*spans_of_dict(recording.to_dict(), recording.head.origin)]
    return Chosen(recording, [line_of(span) for span in spans])


class Shelf:
    """What a file or a folder holds. ``recordings`` are oldest first, those with spans without payloads."""

    def __init__(self, path: Path, report: Report) -> None:
        self._path = path
        files = scaly_viz_files(path)
        self._foreign = [
            from_dict(data, f.name) for f in files for data in read_recordings(f, report)
        ]
        is_whole = files and not path.is_dir()
        ours = [] if is_whole else assemble(read_spans(path, report, events=False))
        self.recordings = sorted([*self._foreign, *ours], key=lambda recording: recording.end_ns)

    def take(self, wanted: Sequence[Recording]) -> Iterator[Chosen]:
        """Yield those of ``recordings`` that are ``wanted``, whole, in the order in which they were written.

        Only those are held in memory that the file has begun and not ended.

        Raises:
            RecordingFileError: one is gone, as the file was changed meanwhile.
        """
        foreign = {id(recording) for recording in self._foreign}
        parts: dict[str, _Parts] = {}
        for recording in wanted:
            if id(recording) in foreign:
                yield chosen(recording)
            else:
                parts[recording.id] = _Parts({_span_id(span) for span in recording.spans})
        if parts:
            yield from self._read(parts)

    def _read(self, parts: dict[str, _Parts]) -> Iterator[Chosen]:
        for document in read_documents(self._path, _say_nothing):
            if _has_none_of(parts, document.line.data):
                continue
            read = document.spans()
            records = {_span_id(record): record for record in read}
            for line in lines_of(document, read)[0]:
                part = parts.get(line.recording)
                if part is None or line.span_id not in part.missing:
                    continue
                part.missing.discard(line.span_id)
                part.spans.append(records[line.span_id])
                part.lines.append(line.line)
                if not part.missing:
                    del parts[line.recording]
                    yield Chosen(assemble(part.spans)[0], part.lines)
            if not parts:
                return
        gone = ", ".join(parts)
        raise RecordingFileError(f"{self._path}: changed while it was read; gone is {gone}")


# To look for so many ids in a line costs less than to parse it.
_FEW = 50


@dataclass(slots=True)
class _Parts:
    missing: set[str]
    spans: list[SpanRecord] = field(default_factory=list)
    lines: list[bytes] = field(default_factory=list)


def _span_id(record: SpanRecord) -> str:
    return record.span_id or "0" * 16


def _has_none_of(parts: dict[str, _Parts], data: bytes) -> bool:
    """Tell lines of other recordings without parsing them, where ids are as they should be."""
    return len(parts) < _FEW and not any(
        not (id_.isascii() and id_.isalnum()) or id_.encode() in data for id_ in parts
    )


def _say_nothing(_: str) -> None:
    """What is wrong with the file was told when its recordings were looked for."""
