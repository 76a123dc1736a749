"""Owns which pass or stage of scaly an exception came from, read from the frames that it passed through."""

from __future__ import annotations

import traceback
from types import CodeType, FrameType

from scaly.passes import program as program_passes

# scaly's functions that stand for a stage of the render; they call each other, the innermost tells.
_STAGES = {
    "lower_function": "lower",
    "_normalize_function": "normalize",
    "verify_program": "verify",
    "_render_source": "emit C",
}
_PASSES = "optimize_program"
# Passes that options insert into the pipeline, by their functions, and what they are called.
_INSERTED = {
    "hoist_reciprocals": "hoist_reciprocals",
    "prepare_scalar_expressions": "prepare_scalar",
    "widen_ranges": "widen_ranges",
}


def failed_step(exception: BaseException) -> str | None:
    """Return the step or stage that raised ``exception``: ``pass:NAME``, or a stage; None outside of all.

    scaly's own loop over its passes is among the frames, and knows which one it was at.
    """
    frames = [frame for frame, _ in traceback.walk_tb(exception.__traceback__)]
    stage: str | None = None
    for at, frame in enumerate(frames):
        if not str(frame.f_globals.get("__name__", "")).startswith("scaly."):
            continue
        name = frame.f_code.co_name
        if name == _PASSES and isinstance(frame.f_locals.get("name"), str):
            return f"pass:{_pass_in(frame, frames[at + 1 :])}"
        stage = _STAGES.get(name, stage)
    return stage


def _pass_in(loop: FrameType, called: list[FrameType]) -> str:
    """The name of the pass: the one that the loop is at, unless it called another in between."""
    name, own = loop.f_locals["name"], _code_of(loop.f_locals.get("fn"))
    code = called[0].f_code if called else None
    if code is not None and code is not own:
        for function, inserted in _INSERTED.items():
            if code is _code_of(getattr(program_passes, function, None)):
                return inserted
    return str(name)


def _code_of(function: object) -> CodeType | None:
    code = getattr(function, "__code__", None)
    return code if isinstance(code, CodeType) else None
