"""Owns the static cost of a text: of each line, loop and procedure, weighted by constant trip counts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from scaly_viz.analysis.text_model import FREE, LARGEST, Cost, Loop, Procedure, TextModel


class Totals(msgspec.Struct, frozen=True):
    """What is done in all: floating-point operations, elements loaded and stored, bytes moved."""

    flops: int
    loads: int
    stores: int
    bytes: int


class LineCost(msgspec.Struct, frozen=True):
    """What a line costs each time that it runs, what it calls included.

    ``trips`` is how often it runs in one run of its procedure; ``total`` is what it costs in such a
    run. Both are None where a loop around it runs as often as only a run knows.
    """

    line: int
    flops: int
    loads: int
    stores: int
    bytes: int
    trips: int | None
    total: Totals | None


class LoopCost(msgspec.Struct, frozen=True):
    """A loop: ``trips`` each time that it is entered, ``total`` in one run of its procedure.

    ``trips`` is None where it varies or is not known. Where lanes of vectors take several elements
    at once, it is ``per_element``, over all chunks of lanes; a program's loop over the chunks, around that
    over the lanes, has no trips of its own.
    """

    line: int
    end: int
    name: str
    trips: int | None
    total: Totals | None
    per_element: bool = False


class ProcedureCost(msgspec.Struct, frozen=True):
    """A procedure: ``runs`` in one run of the program, ``total`` in one run of the procedure.

    One that takes an element a lane has both ``per_element``: it is called less often.
    """

    name: str
    line: int
    end: int
    runs: int
    total: Totals
    per_element: bool = False


class TextCost(msgspec.Struct, frozen=True):
    """The static cost of a text; ``totals`` is one run of the program. Lines without cost are left out.

    ``uncounted`` says what the figures leave out and why; where it is empty, they are exact by the
    conventions of ``docs/schema.md``.
    """

    lines: list[LineCost]
    loops: list[LoopCost]
    procedures: list[ProcedureCost]
    totals: Totals
    uncounted: list[str]


def cost_of(model: TextModel) -> TextCost:
    """Return the static cost of the text that ``model`` describes."""
    runs = _inclusive(model)
    lines: list[LineCost] = []
    loops: list[LoopCost] = []
    procedures: list[ProcedureCost] = []
    times = _times(model)
    for procedure in model.procedures:
        found = list(_lines(procedure, runs))
        lines += found
        loops += _loops(procedure, found)
        name, line, end = procedure.name, procedure.line, procedure.end
        run = _totals(runs.get(name, FREE))
        runs_of = times.get(name, 0)
        procedures.append(ProcedureCost(name, line, end, runs_of, run, procedure.per_element))
    total = FREE
    for root in model.roots:
        total = _plus(total, runs.get(root, FREE))
    lines.sort(key=lambda each: each.line)
    uncounted = list(model.uncounted)
    if any(loop.passes == LARGEST for each in model.procedures for loop in each.loops) or (
        LARGEST in total
    ):
        uncounted.append(f"whatever is beyond {LARGEST:,}")
    return TextCost(lines, loops, procedures, _totals(total), uncounted)


def _plus(cost: Cost, other: Cost, times: int = 1) -> Cost:
    a, b, c, d = other
    sums = cost[0] + a * times, cost[1] + b * times, cost[2] + c * times, cost[3] + d * times
    return sums if max(sums) <= LARGEST else _limited(sums)


def _limited(cost: Cost) -> Cost:
    a, b, c, d = cost
    return min(a, LARGEST), min(b, LARGEST), min(c, LARGEST), min(d, LARGEST)


def _totals(cost: Cost) -> Totals:
    loads, stores, flops, moved = cost
    return Totals(flops, loads, stores, moved)


def _passes(procedure: Procedure, line: int) -> int | None:
    loop = procedure.loop_at(line)
    if loop is not None and loop.chunks:
        loop = loop.parent
    return 1 if loop is None else loop.passes


def _inclusive(model: TextModel) -> dict[str, Cost]:
    """What one run of each procedure costs, callees included; what is recursive or unknown is left out."""
    by_name = {each.name: each for each in model.procedures}
    runs: dict[str, Cost] = {}
    entered: set[str] = set()
    stack = [each.name for each in model.procedures]
    while stack:
        procedure = by_name[stack[-1]]
        if procedure.name in runs:
            stack.pop()
            continue
        missing = [
            callee
            for called in procedure.calls.values()
            for callee in called
            if callee in by_name and callee not in runs
        ]
        if missing and procedure.name not in entered:
            entered.add(procedure.name)
            stack += [name for name in missing if name not in entered]
        else:
            stack.pop()
            runs[procedure.name] = _own(procedure, runs)
    return runs


def _own(procedure: Procedure, runs: Mapping[str, Cost]) -> Cost:
    total = FREE
    for line in {**procedure.costs, **procedure.calls}:
        passes = _passes(procedure, line)
        if passes:
            total = _plus(total, _line_cost(procedure, line, runs), passes)
    return total


def _line_cost(procedure: Procedure, line: int, runs: Mapping[str, Cost]) -> Cost:
    cost = procedure.costs.get(line, FREE)
    for callee in procedure.calls.get(line, ()):
        cost = _plus(cost, runs.get(callee, FREE))
    return cost


def _times(model: TextModel) -> dict[str, int]:
    """How often each procedure runs in one run of the program."""
    by_name = {each.name: each for each in model.procedures}
    times = dict.fromkeys(by_name, 0)
    for name in _callers_first(model, by_name):
        if name in model.roots:
            times[name] += 1
        procedure = by_name[name]
        for line, called in procedure.calls.items():
            passes = _passes(procedure, line) or 0
            for callee in called:
                if callee in times and callee != name:
                    times[callee] = min(LARGEST, times[callee] + times[name] * passes)
    return times


def _callers_first(model: TextModel, by_name: Mapping[str, Procedure]) -> Sequence[str]:
    order: list[str] = []
    seen: set[str] = set()
    stack = [(each.name, False) for each in model.procedures]
    while stack:
        name, done = stack.pop()
        if done:
            order.append(name)
        elif name not in seen:
            seen.add(name)
            stack.append((name, True))
            called = {callee for each in by_name[name].calls.values() for callee in each}
            stack += ((callee, False) for callee in called if callee in by_name)
    return order[::-1]


def _lines(procedure: Procedure, runs: Mapping[str, Cost]) -> Iterator[LineCost]:
    for line in sorted({*procedure.costs, *procedure.calls}):
        cost = _line_cost(procedure, line, runs)
        passes = _passes(procedure, line)
        loads, stores, flops, moved = cost
        total = None if passes is None else _totals(_plus(FREE, cost, passes))
        yield LineCost(line, flops, loads, stores, moved, passes, total)


def _loops(procedure: Procedure, lines: Sequence[LineCost]) -> Iterator[LoopCost]:
    sums: dict[int, Cost | None] = {loop.line: FREE for loop in procedure.loops}

    def add(loop: Loop | None, cost: Cost | None) -> None:
        if loop is not None:
            known = sums[loop.line]
            sums[loop.line] = None if cost is None or known is None else _plus(known, cost)

    for each in lines:
        total = each.total
        known = None if total is None else (total.loads, total.stores, total.flops, total.bytes)
        add(procedure.loop_at(each.line), known)
    # Inner loops come after those around them.
    for loop in reversed(procedure.loops):
        add(loop.parent, sums[loop.line])
    for loop in procedure.loops:
        cost = sums[loop.line]
        total = None if cost is None else _totals(cost)
        yield LoopCost(loop.line, loop.end, loop.name, loop.trips, total, loop.per_element)
