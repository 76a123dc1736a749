"""Owns what the viewer's tests share: a recording file, and a client of an application that shows it."""

from __future__ import annotations

from pathlib import Path

import pytest
from flask.testing import FlaskClient

from scaly_viz_viewer import create_app

from .recorded import Recorder


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "recordings.jsonl"


@pytest.fixture
def recorder(path: Path) -> Recorder:
    return Recorder(path)


@pytest.fixture
def client(path: Path) -> FlaskClient:
    return create_app(path).test_client()
