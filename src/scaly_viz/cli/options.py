"""Owns the options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click


def reading_options[F: Callable[..., Any]](command: F) -> F:
    """Add ``--recording-path`` and ``--strict``."""
    path = click.option(
        "--recording-path",
        "path",
        metavar="PATH",
        help="File or folder to read: scaly-viz's, any OTLP JSON lines, or scaly.viz's"
        " recordings.json; plain, .gz or .zst.  [default: this user's recordings]",
    )
    strict = click.option(
        "--strict",
        is_flag=True,
        help="Fail at the first thing that cannot be read, instead of warning and going on.",
    )
    return path(strict(command))


def json_option[F: Callable[..., Any]](command: F) -> F:
    """Add ``--json``."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")(
        command
    )
