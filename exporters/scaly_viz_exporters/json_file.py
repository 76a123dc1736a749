"""Owns the local file: one line of OTLP JSON a span, appended by many processes at once."""

from __future__ import annotations

import errno
import io
import logging
import os
from collections.abc import Sequence
from pathlib import Path

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

from scaly_viz import settings
from scaly_viz.errors import RecordingFolderError
from scaly_viz_exporters import segments
from scaly_viz_exporters.file_lock import writers_lock
from scaly_viz_exporters.line_file import append_lines, open_to_append
from scaly_viz_exporters.private_files import make_private_folder
from scaly_viz_exporters.span_lines import lines_of

FILE_NAME = "recordings.jsonl"
LOCK_TIMEOUT_S = 10.0
SHORT_LOCK_TIMEOUT_S = 0.1

_KIB = 1024
_SMALLEST_SEGMENT = 64 * _KIB
_LARGEST_SEGMENT = 256 * _KIB * _KIB

_log = logging.getLogger("scaly_viz")


class JsonFileExporter(SpanExporter):
    """Append finished spans to ``path``, by default ``recordings.jsonl`` in ``recording_dir()``.

    A file that would outgrow ``segment_bytes`` (default: a sixteenth of ``max_bytes``) is renamed
    to a numbered segment first; then the oldest segments go until all fit ``max_bytes`` (default:
    ``SCALY_VIZ_MAX_BYTES``). The disk is not touched before the first export.
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        max_bytes: int | None = None,
        segment_bytes: int | None = None,
    ) -> None:
        self._path = None if path is None else Path(path)
        limit = settings.size(os.environ, settings.MAX_BYTES)
        self._max_bytes = limit if max_bytes is None else max_bytes
        self._segment_bytes = (
            _default_segment(self._max_bytes) if segment_bytes is None else segment_bytes
        )
        self._is_shut_down = False
        self._is_lock_stuck = False
        self._told: set[str] = set()

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Append ``spans`` with one write; raise an OSError that names the file and the cause."""
        if self._is_shut_down:
            _log.warning("%d spans came after the exporter's shutdown and are lost", len(spans))
            return SpanExportResult.FAILURE
        lines = lines_of(spans)
        if lines:
            self._append(b"".join(lines))
        complete = len(lines) == len(spans)
        return SpanExportResult.SUCCESS if complete else SpanExportResult.FAILURE

    def force_flush(self, timeout_millis: int = 30000) -> bool:
        """Return True: every export has reached the file when it returns."""
        return True

    def shutdown(self) -> None:
        """Refuse further spans; no file is open between two exports."""
        self._is_shut_down = True

    def _append(self, lines: bytes) -> None:
        path = self._path or _default_path()
        try:
            try:
                self._append_locked(path, lines)
            except FileNotFoundError:
                make_private_folder(path.parent)
                self._append_locked(path, lines)
        except OSError as error:
            cause = f"{error.strerror or error}; these spans are not in the file"
            raise OSError(error.errno or errno.EIO, cause, str(path)) from error

    def _append_locked(self, path: Path, lines: bytes) -> None:
        timeout_s = SHORT_LOCK_TIMEOUT_S if self._is_lock_stuck else LOCK_TIMEOUT_S
        with writers_lock(path, timeout_s) as locked:
            self._is_lock_stuck = not locked
            if not locked:
                # One write at the end of a local file is whole all the same.
                self._warn("%s: its lock is held or unsupported; written to without it", path)
            with open_to_append(path) as file:
                if not locked or not self._is_full(file, len(lines)):
                    append_lines(file, lines)
                    return
            self._rotate(path)
            self._make_room(path, max(len(lines), self._segment_bytes))
            with open_to_append(path) as file:
                append_lines(file, lines)

    def _is_full(self, file: io.FileIO, more: int) -> bool:
        size = os.fstat(file.fileno()).st_size
        return size > 0 and size + more > self._segment_bytes

    def _rotate(self, path: Path) -> None:
        try:
            segments.rotate(path)
        except OSError as error:
            self._warn("%s: cannot be renamed and grows on: %s", path, error)

    def _make_room(self, path: Path, more: int) -> None:
        try:
            dropped = segments.drop_oldest(path, self._max_bytes - more)
        except OSError as error:
            self._warn("%s: its oldest segments cannot be deleted: %s", path, error)
            return
        for segment in dropped:
            self._warn(
                "%s: deleted, as the oldest of more than %d bytes; %s sets another limit",
                segment,
                self._max_bytes,
                settings.MAX_BYTES.name,
            )

    def _warn(self, message: str, *arguments: object) -> None:
        """Warn of a kind of event when it happens first; later ones are for debugging."""
        level = logging.DEBUG if message in self._told else logging.WARNING
        self._told.add(message)
        _log.log(level, message, *arguments)


def delete(path: str | os.PathLike[str]) -> None:
    """Delete the recording file ``path`` and its segments; where there are none, do nothing."""
    path = Path(path)
    with writers_lock(path, LOCK_TIMEOUT_S, create=False):
        # Youngest first: whoever reads meanwhile finds unfinished recordings, not gutted ones.
        for file in (path, *reversed(segments.rotated(path))):
            file.unlink(missing_ok=True)


def _default_path() -> Path:
    try:
        return settings.recording_dir() / FILE_NAME
    except RecordingFolderError as error:
        raise OSError(errno.ENOENT, str(error), FILE_NAME) from error


def _default_segment(max_bytes: int) -> int:
    wanted = min(max(max_bytes // 16, _SMALLEST_SEGMENT), _LARGEST_SEGMENT)
    return min(wanted, max_bytes // 2)
