"""Owns the boundary to the user's compile: an error of ours is told once and goes no further."""

from __future__ import annotations

from collections.abc import Callable

from scaly_viz import log
from scaly_viz.log import said


class Guard:
    """Runs our own code so that its errors never reach the compile.

    With ``strict``, for our tests, errors are kept for ``raise_kept`` besides being told.
    """

    def __init__(self) -> None:
        self.strict = False
        self._told: set[tuple[type, str, int]] = set()
        self._kept: list[Exception] = []

    def run[**P, R](
        self, what: str, function: Callable[P, R], *args: P.args, **kwargs: P.kwargs
    ) -> R | None:
        """Return ``function(*args, **kwargs)``, or None where it raises."""
        try:
            return function(*args, **kwargs)
        except Exception as error:
            self.tell(what, error)
            return None

    def tell(self, what: str, error: Exception) -> None:
        """Log that ``what`` failed with ``error``, once for each place and kind; details at debug level."""
        if self.strict:
            self._kept.append(error)
        cause = said(error)
        log.debug("%s failed: %s", what, cause, error=error)
        place = _place(error)
        if place not in self._told:
            self._told.add(place)
            log.warn(
                "%s failed and is lost: %s (said once for this cause; the compile goes on)",
                what,
                cause,
            )

    def forget_told(self) -> None:
        """Tell again what was told before."""
        self._told.clear()

    def raise_kept(self) -> None:
        """Raise the oldest error that was told since the last call, if there is one and we are strict."""
        if self._kept:
            error = self._kept[0]
            self._kept.clear()
            raise error


def _place(error: Exception) -> tuple[type, str, int]:
    """Return what makes an error the same as another: its class, and the line that raised it."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return type(error), "", 0
    return type(error), trace.tb_frame.f_code.co_filename, trace.tb_lineno
