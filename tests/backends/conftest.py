"""Owns what the tests of backends share: some recordings, written by the real SDK and exporter."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import scaly_viz
from viewer.recorded import Recorder

from .stand_ins import Document, resources_of

# The recorder's clock begins in 2026.
WINDOW = "since=2026-01-01&until=2028-01-01"


@dataclass
class Recorded:
    """A file of recordings that a backend is to have."""

    path: Path
    ids: list[str]

    @property
    def dicts(self) -> list[dict[str, Any]]:
        """The recordings as they are read from the file."""
        return scaly_viz.load_recordings(self.path)

    @property
    def resources(self) -> list[Document]:
        """The spans, each with its resource, as backends answer them."""
        return resources_of(self.path)


@pytest.fixture
def recorded(tmp_path: Path) -> Recorded:
    """Three recordings of a function: plain ones, and one whose payloads are long enough to be packed."""
    path = tmp_path / "made" / "recordings.jsonl"
    recorder = Recorder(path)
    ids = [recorder.record("f", label="first"), recorder.record("f")]
    long = "\n".join(f"  %{i} = prog.load @x[{i * i % 97}]" for i in range(3000))
    ids.append(recorder.record("f", steps=[{"assembly": long}, {"assembly": long + "\n}"}]))
    return Recorded(path, ids)
