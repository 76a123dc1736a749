"""Owns a source that is no file: recordings that are in memory already."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import msgspec

from scaly_viz.analysis.summary import RecordingSummary, summarize
from scaly_viz.recording import Recording
from scaly_viz_viewer.source import Source, keyed, new_revision


class GivenSource(Source):
    """Recordings that never change, under a name that stands in the place of a file's."""

    def __init__(self, name: str, recordings: Iterable[Recording]) -> None:
        super().__init__(Path(name))
        self._recordings = keyed(recordings)
        self.revisions = {key: new_revision() for key in self._recordings}

    def refresh(self) -> None:
        """Do nothing: nothing changes."""

    def summary(self, key: str) -> RecordingSummary:
        """Return the short form."""
        return msgspec.structs.replace(summarize(self._recordings[key]), id=key)

    def open(self, key: str) -> Recording | None:
        """Return a copy, so that what is decoded of it can be forgotten."""
        return self._recordings[key].undecoded()
