"""Owns which step packed a program, and what was put into its slots there."""

from __future__ import annotations

from scaly_viz.analysis.workspace_tenants import Life, moved, tenants
from scaly_viz.analysis.workspace_text import ProcedureText, read_program
from scaly_viz.errors import PayloadError
from scaly_viz.recording import Recording, Step

_ASSEMBLY = "assembly"


class History:
    """The step that packed a program, and the one before it."""

    def __init__(self, recording: Recording, step: Step) -> None:
        self.packed: Step | None = None
        self._before: dict[str, ProcedureText] = {}
        self._after: dict[str, ProcedureText] = {}
        before: Step | None = None
        for each in recording.steps:
            if each.index > step.index or each.dialect != step.dialect:
                continue
            if _is_packed(recording, each):
                self.packed = each
                break
            before = each
        if self.packed is not None and before is not None:
            self._before = _by_name(recording, before)
            self._after = _by_name(recording, self.packed)

    def tenants(self, procedure: ProcedureText) -> dict[str, list[Life]]:
        """Return by slot what packing put into it, in statements of ``procedure``."""
        before, after = self._before.get(procedure.name), self._after.get(procedure.name)
        if before is None or after is None or procedure.size is None:
            return {}
        found = tenants(before, after)
        return (moved(found, after, procedure) if found else None) or {}


def _by_name(recording: Recording, step: Step) -> dict[str, ProcedureText]:
    try:
        program = read_program(recording.text(step, _ASSEMBLY))
    except PayloadError:
        return {}
    return {each.name: each for each in program.procedures}


def _is_packed(recording: Recording, step: Step) -> bool:
    try:
        return " sz_w=" in recording.text(step, _ASSEMBLY)
    except PayloadError:
        return False
