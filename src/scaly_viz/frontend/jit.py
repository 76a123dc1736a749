"""Owns the moment before code that the JIT compiled runs for the first time: it may crash the process."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from scaly.codegen import jit

from scaly_viz.frontend.guard import Guard

# Encoding is over long before the C compiler is; only a reused library makes the wait felt.
_PATIENCE_S = 10.0


def write_before_loading(drain: Callable[[float], bool], guard: Guard) -> None:
    """Have scaly's JIT wait, before it loads a library, until recordings are written.

    A crash in the library then leaves the recording that explains it on disk.
    """
    load_library = jit.load_library

    @functools.wraps(load_library)
    def load(*args: Any, **kwargs: Any) -> Any:
        guard.run("writing before a library is loaded", drain, _PATIENCE_S)
        return load_library(*args, **kwargs)

    jit.load_library = load
