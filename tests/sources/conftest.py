"""Owns what tests of recording files begin with: where the file is to be, and what is too long for a line."""

from __future__ import annotations

from pathlib import Path

import pytest

from scaly_viz.sources import lines


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "recordings.jsonl"


@pytest.fixture
def short_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let lines of more than 1000 bytes be too long."""
    monkeypatch.setattr(lines, "MAX_LINE_BYTES", 1000)
