"""Owns rendering on request: the one place where we ask the compiler for anything."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaly.codegen.aot import render_c_source

from scaly_viz.frontend.marks import target_of

if TYPE_CHECKING:
    from scaly_viz.frontend.scaly_types import Markable


def render(function: Markable) -> str:
    """Return the C of ``function``, or of a solver's function, rendered anew.

    Raises:
        TypeError: ``function`` is no function of scaly.
    """
    source: str = render_c_source(target_of(function))
    return source
