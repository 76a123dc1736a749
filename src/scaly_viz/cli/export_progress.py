"""Owns the line that tells the person at a terminal what an export is at, where it takes long."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from scaly_viz.exports.formats import Options, Report

if TYPE_CHECKING:
    from rich.progress import Progress


@contextmanager
def shown(options: Options) -> Iterator[Options]:
    """Yield ``options`` for a writer whose progress is shown on standard error, if that is a terminal."""
    if not sys.stderr.isatty():
        yield options
        return
    line = _Line(options.report)
    try:
        yield replace(options, report=line.report, progress=line.show)
    finally:
        line.show("")


class _Line:
    """The line, which is there from the first text on until an empty one, with the time that has passed."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._bar: Progress | None = None

    def show(self, text: str) -> None:
        """Show ``text``, in place of what was shown; nothing any more where it is empty."""
        from scaly_viz.cli.characters import visible

        if not text:
            if self._bar is not None:
                self._bar.stop()
            self._bar = None
            return
        if self._bar is None:
            self._bar = _bar()
            self._bar.add_task("", what="")
            self._bar.start()
        self._bar.update(self._bar.task_ids[0], what=visible(text), refresh=True)

    def report(self, text: str) -> None:
        """Report ``text`` in a line of its own."""
        self.show("")
        self._report(text)


def _bar() -> Progress:
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (
        SpinnerColumn("line"),
        TextColumn("{task.fields[what]}", markup=False),
        TimeElapsedColumn(),
    )
    return Progress(*columns, console=Console(stderr=True), transient=True)
