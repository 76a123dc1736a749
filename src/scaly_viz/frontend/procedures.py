"""Owns what a run of each procedure does, its callees' runs included."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Self

from scaly_viz.frontend.program_nodes import ProgramNode
from scaly_viz.frontend.regions import Region, plus_calls, waiting
from scaly_viz.frontend.straight_line import Line, plus
from scaly_viz.frontend.trips import Nests, UncountableError


@dataclass(slots=True)
class Procedure:
    """A region under a name, all of whose loops are counted or else in ``uncounted``."""

    name: str
    region: Region
    line: Line
    callees: Mapping[str, int]
    uncounted: tuple[str, ...] = ()
    workspace: int | None = None
    is_host: bool = True


@dataclass(slots=True)
class Solvers:
    """The solvers of a program, which call back its oracles; ``root`` if one is the entry."""

    oracles: Mapping[str, Sequence[str]] = field(default_factory=dict)
    root: str | None = None
    external_workspace: int = 0

    @classmethod
    def of(cls, program: ProgramNode) -> Self:
        """The solvers that ``program`` says it has."""
        oracles = program.attrs.get("solver_oracles")
        root = program.attrs.get("solver_root")
        external = program.attrs.get("solver_external_workspace")
        return cls(
            oracles if isinstance(oracles, Mapping) else {},
            root if isinstance(root, str) else None,
            external.get(root, 0) if isinstance(external, Mapping) else 0,
        )

    def all_oracles(self) -> Iterator[str]:
        """The oracles of every solver."""
        return chain.from_iterable(self.oracles.values())

    def unknown(self, solver: str) -> str:
        """What is not known of a run of ``solver``."""
        names = self.oracles.get(solver)
        if not names:
            return "what it runs is unknown"
        return f"how often it runs {', '.join(names)} is unknown, each is counted once"


def close(name: str, region: Region, tables: Mapping[str, Sequence[int]]) -> Procedure:
    """Count the loops that ``region`` left open, knowing the constants of its procedure."""
    line, callees, nests = region.line, region.callees, Nests(tables)
    uncounted = []
    for each in waiting(region):
        try:
            times = each.times * nests.passes(each.ranges)
        except UncountableError as error:
            loop, reason = error.args
            uncounted.append(f"loop {loop} in proc {name}: {reason}")
        else:
            line = plus(line, each.line, times)
            callees = plus_calls(callees, each.callees, times)
    region.opens = ()
    return Procedure(name, region, line, callees, tuple(uncounted))


def runs_of(
    roots: Iterable[Procedure], by_name: Mapping[str, Procedure]
) -> tuple[dict[str, tuple[Line, int]], set[tuple[str, str]]]:
    """What one run of each reached procedure does and calls, its callees' runs included.

    Beside it the calls, as (caller, callee), that close a circle and so are left out.
    """
    runs: dict[str, tuple[Line, int]] = {}
    recursive: set[tuple[str, str]] = set()
    entered: set[str] = set()
    stack = list(roots)
    while stack:
        caller = stack[-1]
        called = {name: n for name, n in caller.callees.items() if n and name in by_name}
        missing = [name for name in called if name not in runs]
        if caller.name in runs:
            stack.pop()
        elif missing and caller.name not in entered:
            entered.add(caller.name)
            stack += (by_name[name] for name in missing if name not in entered)
        else:
            stack.pop()
            recursive.update((caller.name, name) for name in missing)
            run, calls = caller.line, sum(caller.callees.values())
            for name, times in called.items():
                if name in runs and by_name[name].is_host:
                    run = plus(run, runs[name][0], times)
                    calls += runs[name][1] * times
            runs[caller.name] = run, calls
    return runs, recursive


def uncounted_calls(
    caller: Procedure,
    by_name: Mapping[str, Procedure],
    solvers: Solvers,
    recursive: set[tuple[str, str]],
) -> list[str]:
    """Which calls of a procedure that runs are not in the totals, and why."""
    found = []
    for callee, times in caller.callees.items():
        if not times:
            continue
        if callee in solvers.oracles:
            what, reason = f"call of solver {callee}", solvers.unknown(callee)
        elif callee not in by_name:
            what, reason = f"call of {callee}", "it is not in the program, what it runs is unknown"
        elif not by_name[callee].is_host:
            what, reason = f"launch of {callee}", "what its threads run is not counted"
        elif (caller.name, callee) in recursive:
            what, reason = f"call of {callee}", "it is recursive, how deep is unknown"
        else:
            continue
        found.append(f"{what} in proc {caller.name}: {reason}")
    return found
