"""Owns talking to the user while a compile runs: through logging, and never at the compile's expense."""

from __future__ import annotations

import contextlib

# Those of logging, which takes as long to import as the rest of what `scaly-viz --version` needs.
_DEBUG, _WARNING = 10, 30


def warn(message: str, *arguments: object) -> None:
    """Log a warning. A handler or filter of the user that raises is no reason to fail."""
    _write(_WARNING, message, *arguments)


def debug(message: str, *arguments: object, error: BaseException | None = None) -> None:
    """Log for debugging, with the traceback of ``error``."""
    _write(_DEBUG, message, *arguments, error=error)


def said(error: BaseException) -> str:
    """Return what ``error`` says, whatever its own methods do."""
    name = type(error).__name__
    try:
        return f"{name}: {error}"
    except Exception:
        return name


def _write(
    level: int, message: str, *arguments: object, error: BaseException | None = None
) -> None:
    import logging

    with contextlib.suppress(Exception):
        logging.getLogger("scaly_viz").log(level, message, *arguments, exc_info=error)
