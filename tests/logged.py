"""Owns what was said in the log while a test ran."""

from __future__ import annotations

import logging

import pytest


def warnings_of(caplog: pytest.LogCaptureFixture) -> list[str]:
    """Return the warnings and errors, in order."""
    return [r.getMessage() for r in caplog.records if r.levelno >= logging.WARNING]
