"""Owns what was recorded in a run: by the script's process in memory, by its children in a file for them."""

from __future__ import annotations

import json
import os
import threading
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import msgspec

from scaly_viz import attributes as a
from scaly_viz.analysis.summary import RecordingSummary, summarize
from scaly_viz.assembling import assemble
from scaly_viz.running.config import RunConfig
from scaly_viz.span_record import SpanRecord
from scaly_viz_exporters.line_file import append_lines, open_to_append

# A program that renders all day is not to keep all of it in memory.
MOST_LISTED = 100


@dataclass(frozen=True, slots=True)
class Recorded:
    """What was recorded: how much, and of the newest also what, the oldest of them first."""

    count: int
    failed: int
    listed: list[RecordingSummary]


class Journal:
    """Puts the spans of this process together, and adds what other processes have said."""

    def __init__(self, config: RunConfig) -> None:
        self._config = config
        self._lock = threading.Lock()
        self._growing: dict[str, list[SpanRecord]] = {}
        self._listed: deque[RecordingSummary] = deque(maxlen=MOST_LISTED)
        self._count = 0
        self._failed = 0
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._forget)

    def add(self, span: SpanRecord) -> None:
        """Take note of a span; its payloads are not kept."""
        if self._config.is_silent:
            return
        recording = str(span.attributes[a.RECORDING_ID])
        bare = msgspec.structs.replace(span, events=())
        with self._lock:
            self._growing.setdefault(recording, []).append(bare)
            if a.RECORDING_STEPS not in span.attributes:
                return
            spans = self._growing.pop(recording)
        for ended in assemble(spans):
            self._take(summarize(ended))

    def recorded(self) -> Recorded:
        """Return what all processes have recorded, the oldest first."""
        theirs = self._of_children()
        everything = sorted([*self._listed, *theirs], key=lambda summary: summary.started_at)
        failed = self._failed + sum(summary.status == "failed" for summary in theirs)
        return Recorded(self._count + len(theirs), failed, everything[-MOST_LISTED:])

    def _take(self, summary: RecordingSummary) -> None:
        if os.getpid() != self._config.process:
            with open_to_append(Path(self._config.journal)) as file:
                # Not by msgspec: it refuses a label that is no Unicode text.
                append_lines(file, json.dumps(msgspec.to_builtins(summary)).encode() + b"\n")
            return
        self._listed.append(summary)
        self._count += 1
        self._failed += summary.status == "failed"

    def _of_children(self) -> list[RecordingSummary]:
        path = Path(self._config.journal)
        found = []
        with suppress(OSError):
            for line in path.read_bytes().splitlines():
                # A child may have been killed while it wrote.
                with suppress(ValueError):
                    found.append(msgspec.convert(json.loads(line), RecordingSummary))
            path.unlink()
        return found

    def _forget(self) -> None:
        """Leave to the parent what it has begun."""
        self._lock = threading.Lock()
        self._growing.clear()
