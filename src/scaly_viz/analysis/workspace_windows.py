"""Owns the windows of ``w[]``: what each procedure and solver of a program needs, and where it begins."""

from __future__ import annotations

from scaly_viz.analysis.workspace_text import ProgramText

_MOST_BASES = 16


class Windows:
    """What each procedure and solver needs of ``w[]``, and where its window begins."""

    def __init__(self, program: ProgramText) -> None:
        self.program = program
        self.by_name = {each.name: each for each in program.procedures}

    def need(self, name: str) -> int | None:
        """Return the bytes that a call of ``name`` needs; a solver lends its own to its oracles."""
        procedure = self.by_name.get(name)
        if procedure is not None:
            return procedure.size
        if name not in self.program.oracles:
            return 0
        sizes = [self.by_name[each].size for each in self._oracles(name)]
        known = [size for size in sizes if size is not None]
        if len(known) < len(sizes):
            return None
        return max([*known, self.program.external.get(name, 0)])

    def entries(self) -> list[str]:
        """Return the procedures that are called from outside."""
        if self.program.solver_root is not None:
            return self._oracles(self.program.solver_root)
        return [self.program.procedures[-1].name] if self.program.procedures else []

    def total(self) -> int | None:
        """Return the bytes of the entry's ``w[]``, None before packing."""
        if self.program.solver_root is not None:
            return self.need(self.program.solver_root)
        entries = self.entries()
        return self.by_name[entries[0]].size if entries else None

    def bases(self) -> dict[str, list[int]]:
        """Return where the windows of each procedure begin, for all chains of calls."""
        found: dict[str, list[int]] = {}
        stack = [(name, 0) for name in reversed(self.entries())]
        while stack:
            name, base = stack.pop()
            known = found.setdefault(name, [])
            if base in known or len(known) == _MOST_BASES:
                continue
            known.append(base)
            procedure = self.by_name[name]
            inner = base + (procedure.own or 0)
            callees = dict.fromkeys(
                callee for statement in procedure.statements for callee in statement.callees
            )
            for callee in callees:
                reached = [callee] if callee in self.by_name else self._oracles(callee)
                stack += [(each, inner) for each in reached]
        return {name: sorted(bases) for name, bases in found.items()}

    def _oracles(self, solver: str) -> list[str]:
        return [name for name in self.program.oracles.get(solver, ()) if name in self.by_name]
