"""Owns what a test program is: a scaly function built afresh, how it is rendered, how it ends."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from scaly.codegen.aot import render_c_source


@dataclass(frozen=True, slots=True)
class Program:
    """One scaly program: ``render(build())`` compiles it, or raises the error it names."""

    name: str
    build: Callable[[], Any]
    """Returns the function to mark and render, a new one at each call."""
    render: Callable[[Any], Any] = render_c_source
    error: str | None = None
    """Class name of the exception that ``render`` raises."""
    solver: str | None = None
    """The solver plugin that ``build`` needs."""

    def run(self, function: Any) -> None:
        """Render ``function``, which ``build`` returned, and see that it ends as it should."""
        error = None
        try:
            self.render(function)
        except Exception as raised:
            error = type(raised).__name__
        assert error == self.error, f"{self.name}: {error}"
