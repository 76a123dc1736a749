"""Owns one measurement in a process of its own: prints what it saw as one line of JSON."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

type Seen = dict[str, float]


def _viz(name: str) -> Any:
    if name == "ours":
        import scaly_viz

        return scaly_viz
    if name == "theirs":
        import scaly.viz

        return scaly.viz
    return None


def _timed(act: Callable[[], object], flush: Callable[[], object]) -> Seen:
    """Return the wall time of ``act``, and the CPU time of it and of what it leaves to a thread."""
    cpu = time.process_time()
    wall = time.perf_counter()
    act()
    wall = time.perf_counter() - wall
    flush()
    return {"wall": wall, "cpu": time.process_time() - cpu}


def _flush(name: str) -> Callable[[], object]:
    if name != "ours":
        return lambda: None
    from scaly_viz.frontend.session import SESSION

    return SESSION.drain


def _function(built: Any) -> Any:
    return getattr(built, "function", built)


def render(name: str, marked: bool = True) -> dict[str, Seen | float]:
    """Render the cart-pole NMPC twice."""
    from scaly.codegen.aot import render_c_source

    from programs import cartpole

    function = _function(cartpole.build())
    viz = _viz(name)
    # Unmarked: another function is, which is kept, so that the observer has something to look for.
    target = function if marked else _function(cartpole.build(2))
    if viz is not None:
        viz.visualize(target)
    seen: dict[str, Seen | float] = {
        f"render {i}": _timed(lambda: render_c_source(function), _flush(name)) for i in (1, 2)
    }
    if viz is not None and marked:
        seen["bytes"] = (
            sum(
                file.stat().st_size for file in viz.recording_dir().iterdir() if "json" in file.name
            )
            / 2
        )
    return seen


def call(name: str) -> dict[str, Seen]:
    """Call the cart-pole NMPC's function for the first time: render, C compiler, load, run."""
    import numpy as np

    from programs import cartpole

    function = _function(cartpole.build())
    viz = _viz(name)
    if viz is not None:
        viz.visualize(function)
    concrete = function.instantiate() if hasattr(function, "instantiate") else function
    values = [np.zeros(expr.shape) for expr in concrete.inputs]
    return {"call": _timed(lambda: concrete._flat_numerical_call(*values), _flush(name))}


def many(name: str, count: int = 1000) -> dict[str, float]:
    """Render a small function many times: does the last recording cost what the first did?"""
    from scaly.codegen.aot import render_c_source

    from programs import PROGRAMS

    program = next(program for program in PROGRAMS if program.name == "saturation")
    function = _viz(name).visualize(program.build())
    flush = _flush(name)
    times = []
    for _ in range(count):
        cpu = time.process_time()
        render_c_source(function)
        flush()
        times.append(time.process_time() - cpu)
    edge = max(1, count // 20)
    first, last = sorted(times[1 : edge + 1]), sorted(times[-edge:])
    return {"first": first[len(first) // 2], "last": last[len(last) // 2]}


def deep(name: str) -> dict[str, bool]:
    """Render a chain of 1,000 operations."""
    from scaly.codegen.aot import render_c_source

    from programs import chain

    function = chain.build(1000)
    viz = _viz(name)
    viz.visualize(function)
    try:
        render_c_source(function)
    except RecursionError:
        return {"compiled": False, "recorded": False}
    return {"compiled": True, "recorded": len(viz.recordings()) == 1}


def load(name: str) -> dict[str, Any]:
    """Record 25 renders; one of several processes that do so at once."""
    from scaly.codegen.aot import render_c_source

    from programs import PROGRAMS

    program = next(program for program in PROGRAMS if program.name == "saturation")
    for _ in range(25):
        render_c_source(_viz(name).visualize(program.build()))
    return {"done": True}


def kept(name: str) -> dict[str, int]:
    """Count the whole recordings in the file."""
    recordings = _viz(name).load_recordings()
    return {"kept": sum(not recording.get("incomplete") for recording in recordings)}


def import_time(name: str) -> dict[str, float]:
    """Import the package."""
    began = time.perf_counter()
    _viz(name)
    return {"import": time.perf_counter() - began}


_MODES: dict[str, Callable[[str], Any]] = {
    "render": render,
    "unmarked": lambda name: render(name, marked=False),
    "call": call,
    "many": many,
    "deep": deep,
    "load": load,
    "kept": kept,
    "import": import_time,
}

if __name__ == "__main__":
    os.environ.pop("SCALY_VIZ_STRICT", None)
    print(json.dumps(_MODES[sys.argv[1]](sys.argv[2])))
