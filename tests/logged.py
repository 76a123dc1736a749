"""Owns what was said in the log while a test ran."""

from __future__ import annotations

import logging

import pytest


def warnings_of(caplog: pytest.LogCaptureFixture, logger: str | None = None) -> list[str]:
    """Return the warnings and errors in order, of one logger or of all."""
    return [
        record.getMessage()
        for record in caplog.records
        if record.levelno >= logging.WARNING and logger in (None, record.name)
    ]
