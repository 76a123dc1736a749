"""Owns reading the spans of recording files: one file with its segments, or a folder of them."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterator
from pathlib import Path

from scaly_viz.errors import RecordingFileError
from scaly_viz.sources.follower import Follower
from scaly_viz.sources.lines import (
    MAX_LINE_BYTES,
    Line,
    LineSplitter,
    Report,
    ReportLimit,
    documents,
    spans_of,
)
from scaly_viz.sources.snapshot import open_file, snapshot
from scaly_viz.sources.streams import content
from scaly_viz.span_record import SpanRecord
from scaly_viz_exporters.file_lock import writers_lock
from scaly_viz_exporters.segments import rotated

__all__ = ["Follower", "read_spans", "segments"]

_LOCK_TIMEOUT_S = 1.0
