"""Owns the static counts of a program: what one run loads, stores, computes and calls.

The conventions, which the counts of a step are read by:

- A count is of the program as written, in tree position: the C printer writes a shared node once
  per use, so it counts once per use. What the C compiler then removes or merges is not guessed.
- ``loads`` and ``stores`` are elements of buffers, index and mask tables included; ``store_pair``
  is two stores. Scalar variables live in registers and cost neither. ``traffic_bytes`` weighs each
  by the element size of its buffer.
- ``flops`` is one per floating-point operation node: add, sub, mul, div, mod, neg, abs, floor,
  ceil, minimum, maximum, and each call of a math function (sqrt, sin, exp, pow, atan2, ...). That
  is the rule of XLA's ``HloCostAnalysis::HandleElementwiseOp`` and, for sums and products, of
  LAPACK Working Note 41 (a multiply-add is two); XLA counts transcendental functions apart, here
  each is one flop among the others. Integer arithmetic, and all that computes an index or a loop
  bound, is none.
- ``bit_select`` loads its word and is no flop: it selects, and takes the place of a product by a
  mask. Its value counts as computed, as vector code does; scalar C skips it where the bit is clear.
- A loop's bounds are evaluated once, where the loop is entered.
- A range widened to vector lanes counts one pass of its body per element (``vector_count``), the
  same as before it was widened. The lanes beyond the last element, which GNU C computes in
  registers and throws away, are not counted: how many there are is known only when C compiles.
- One run is one run of the entry, and, since nobody can know how often a solver runs its oracles,
  one of each oracle. A procedure that none of them reaches (inlined everywhere, not yet pruned)
  adds to the sites, not to the run.

The totals leave out what ``uncounted`` names, so they are exact where it is empty and lower bounds
where it is not. They are Python integers, of any size.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Protocol


class DType(Protocol):
    """The element type of a node."""

    @property
    def bits(self) -> int: ...
    @property
    def is_floating(self) -> bool: ...


class ProgramNode(Protocol):
    """The part of scaly's ``ProgramNode`` that counting reads; every released scaly has it."""

    @property
    def op(self) -> str: ...
    @property
    def args(self) -> tuple[ProgramNode, ...]: ...
    @property
    def attrs(self) -> Mapping[str, object]: ...
    @property
    def dtype(self) -> DType: ...


@dataclass(frozen=True, slots=True)
class Counts:
    """What a program does when it runs once, and what its text holds."""

    # Run once: weighted by trip counts, a call counts what its callee runs.
    loads: int
    stores: int
    flops: int
    calls: int
    traffic_bytes: int
    # In the text of all procedures: each place once.
    load_sites: int
    store_sites: int
    flop_sites: int
    call_sites: int
    loops: int
    """Loops as written; a range widened to vector lanes is two, over chunks and over lanes."""
    buffers: int
    """Declarations: parameters, constants, locals and aliases of every procedure."""
    workspace_bytes: int | None
    """The entry's ``w[]``, ``SZ_W`` doubles (without what the CasADi layer adds to gather sparse
    outputs); None before ``pack_workspace`` has run."""
    private_bytes: int
    """Private buffers with storage of their own: aliases point elsewhere, spilled ones into
    ``w[]``."""
    uncounted: tuple[str, ...]
    """What the totals leave out and why, in the order of the program."""


# loads, stores, flops, bytes: executed by straight-line code, whose every place runs once
type _Line = tuple[int, int, int, int]

_NOTHING: _Line = (0, 0, 0, 0)

# An enumeration of loop variables stops here: about 0.1 s of work.
_MAX_VALUES = 100_000

_LEAF, _VALUE, _ARITHMETIC, _INDEX, _LOAD, _STORE, _BODY, _FOR, _CALL, _BUFFER, _PROC, _PROGRAM = (
    range(12)
)
_UNKNOWN = 12

_KINDS: dict[str, int] = {
    **dict.fromkeys(("const_int", "const_float", "var", "barrier"), _LEAF),
    **dict.fromkeys(("assign", "print", "bit_select"), _VALUE),
    **dict.fromkeys(
        # fmt: off
        (
            "add",
            "sub",
            "mul",
            "div",
            "mod",
            "neg",
            "sin",
            "cos",
            "tan",
            "asin",
            "acos",
            "atan",
            "sinh",
            "cosh",
            "tanh",
            "erf",
            "exp",
            "log",
            "sqrt",
            "abs",
            "floor",
            "ceil",
            "pow",
            "atan2",
            "minimum",
            "maximum",
        ),
        # fmt: on
        _ARITHMETIC,
    ),
    **dict.fromkeys(("view", "range"), _INDEX),
    "load": _LOAD,
    **dict.fromkeys(("store", "store_pair"), _STORE),
    "block": _BODY,
    "for": _FOR,
    **dict.fromkeys(("call", "launch"), _CALL),
    "buffer": _BUFFER,
    **dict.fromkeys(("proc", "kernel"), _PROC),
    "program": _PROGRAM,
}


class _Open:
    """Code within loops whose trip counts are not plain constants, outermost loop first."""

    __slots__ = ("callees", "line", "ranges", "times")

    def __init__(
        self,
        ranges: tuple[ProgramNode, ...],
        times: int,
        line: _Line,
        callees: Mapping[str, int],
    ) -> None:
        self.ranges = ranges
        self.times = times
        self.line = line
        self.callees = callees


class _Region:
    """Code with statements in it: what it runs so far as known, what it holds, what stays open."""

    __slots__ = ("buffers", "call_sites", "callees", "line", "loops")
    __slots__ += ("opens", "private_bytes", "sites", "unknown")

    def __init__(self, line: _Line = _NOTHING, sites: _Line = _NOTHING) -> None:
        self.line = line
        self.sites = sites
        self.callees: dict[str, int] = {}
        self.call_sites = 0
        self.loops = 0
        self.buffers = 0
        self.private_bytes = 0
        self.opens: list[_Open] = []
        self.unknown: tuple[str, ...] = ()


class _Procedure:
    """A closed region under a name: every loop is counted or reported in ``uncounted``."""

    __slots__ = ("callees", "is_kernel", "line", "name", "region", "uncounted", "workspace")

    def __init__(self, name: str, region: _Region, tables: Mapping[str, Sequence[int]]) -> None:
        self.name = name
        self.region = region
        self.is_kernel = False
        self.workspace: int | None = None
        line, callees = region.line, dict(region.callees)
        uncounted: dict[str, None] = {}
        for item in region.opens:
            try:
                times = item.times * _iterations(item.ranges, tables)
            except _UncountableLoop as loop:
                uncounted[f"loop {loop.name}{_within(name)}: {loop.reason}"] = None
                times = 0
            line = _plus(line, item.line, times)
            for callee, calls in item.callees.items():
                callees[callee] = callees.get(callee, 0) + times * calls
        self.line = line
        self.callees = callees
        self.uncounted = tuple(uncounted)


class _UncountableLoop(Exception):
    def __init__(self, name: str, reason: str) -> None:
        super().__init__(name, reason)
        self.name = name
        self.reason = reason


class _UnknownValue(Exception):
    """An integer of the program that only a run can tell; the message says why."""


class Counter:
    """Counts the programs of one recording.

    Nodes are remembered by identity, so that a step costs what is new in it. Nodes must outlive
    what is remembered of them: keep them, or ``forget`` those that die.
    """

    def __init__(self) -> None:
        self._kinds: dict[object, int] = dict(_KINDS)
        self._lines: dict[int, _Line] = {}
        self._regions: dict[int, _Region] = {}
        self._procedures: dict[int, _Procedure] = {}
        self._programs: dict[int, Counts] = {}

    def count(self, root: ProgramNode) -> Counts:
        """The counts of ``root``: a program, a procedure or any code within one."""
        known = self._programs.get(id(root))
        if known is None:
            self._visit(root)
            known = self._programs[id(root)] = self._total(root)
        return known

    def forget(self, keep: Callable[[int], bool]) -> None:
        """Drop what is remembered of nodes whose ``id()`` is not kept."""
        self._lines = {key: line for key, line in self._lines.items() if keep(key)}
        self._regions = {key: region for key, region in self._regions.items() if keep(key)}
        self._procedures = {key: proc for key, proc in self._procedures.items() if keep(key)}
        self._programs = {key: counts for key, counts in self._programs.items() if keep(key)}

    def _visit(self, root: ProgramNode) -> None:
        """Remember every node below ``root``, children first."""
        lines, regions, kinds = self._lines, self._regions, self._kinds
        stack = [root]
        while stack:
            node = stack[-1]
            key = id(node)
            if key in lines or key in regions:
                stack.pop()
                continue
            args = node.args
            missing = [arg for arg in args if id(arg) not in lines and id(arg) not in regions]
            if missing:
                stack += missing
                continue
            stack.pop()
            kind = kinds.get(node.op)
            if kind is None:
                kind = self._learn(node.op)
            if kind == _LEAF and not args:
                lines[key] = _NOTHING
            elif kind <= _STORE:
                try:
                    loads = stores = flops = moved = 0
                    for arg in args:
                        a, b, c, d = lines[id(arg)]
                        loads += a
                        stores += b
                        flops += c
                        moved += d
                except KeyError:
                    # Below it is a kind that this version does not know, and a line has no notes.
                    regions[key] = self._around(node, kind, self._gather(args))
                    continue
                if kind == _ARITHMETIC:
                    if node.dtype.is_floating:
                        flops += 1
                elif kind == _LOAD:
                    loads += 1
                    moved += args[0].dtype.bits >> 3
                elif kind == _STORE:
                    elements = len(args) - 1
                    stores += elements
                    moved += elements * (args[0].dtype.bits >> 3)
                elif kind == _INDEX:
                    flops = 0
                lines[key] = (loads, stores, flops, moved)
            else:
                regions[key] = self._region(node, kind)

    def _learn(self, op: str) -> int:
        """The kind of an op seen for the first time, by its value should it not equal a string."""
        kind = self._kinds[op] = _KINDS.get(getattr(op, "value", op), _UNKNOWN)
        return kind

    def _around(self, node: ProgramNode, kind: int, region: _Region) -> _Region:
        """``region`` as the arguments of a scalar node or simple statement."""
        size = node.args[0].dtype.bits >> 3
        if kind == _INDEX:
            loads, stores, _, moved = region.line
            region.line = region.sites = (loads, stores, 0, moved)
            return region
        own = _NOTHING
        if kind == _ARITHMETIC and node.dtype.is_floating:
            own = (0, 0, 1, 0)
        elif kind == _LOAD:
            own = (1, 0, 0, size)
        elif kind == _STORE:
            elements = len(node.args) - 1
            own = (0, elements, 0, elements * size)
        region.line = _plus(region.line, own)
        region.sites = _plus(region.sites, own)
        return region

    def _region(self, node: ProgramNode, kind: int) -> _Region:
        if kind == _FOR:
            return self._loop(node)
        if kind == _CALL:
            return self._call(node)
        if kind == _BUFFER:
            return _declaration(node)
        if kind == _PROC:
            return self._procedure(node)
        region = self._gather(node.args)
        if kind == _UNKNOWN:
            region.unknown = (*region.unknown, f"unknown node kind {node.op}")
        return region

    def _gather(self, nodes: Iterable[ProgramNode]) -> _Region:
        """The region of ``nodes`` in a row."""
        lines = self._lines
        loads = stores = flops = moved = 0
        parts: list[_Region] = []
        for node in nodes:
            line = lines.get(id(node))
            if line is None:
                parts.append(self._regions[id(node)])
            else:
                a, b, c, d = line
                loads += a
                stores += b
                flops += c
                moved += d
        total = (loads, stores, flops, moved)
        region = _Region(total, total)
        for part in parts:
            region.line = _plus(region.line, part.line)
            region.sites = _plus(region.sites, part.sites)
            region.call_sites += part.call_sites
            region.loops += part.loops
            region.buffers += part.buffers
            region.private_bytes += part.private_bytes
            region.opens += part.opens
            if part.unknown:
                region.unknown += part.unknown
            for callee, calls in part.callees.items():
                region.callees[callee] = region.callees.get(callee, 0) + calls
        return region

    def _loop(self, node: ProgramNode) -> _Region:
        vector_count = node.attrs.get("vector_count")
        if "vector_helper" in node.attrs and isinstance(vector_count, int):
            # A loop over chunks around one over lanes, which together pass each element once.
            region = self._gather(node.args[1].args[1:])
            region.loops += 2
            return _repeated(region, vector_count)
        rng, *body = node.args
        region = self._gather(body)
        region.loops += 1
        trips = _constant_trips(rng)
        if trips is None:
            _open(region, rng)
        else:
            _repeated(region, trips, rng)
        bounds = self._gather((rng,))
        region.line = _plus(region.line, bounds.line)
        region.sites = _plus(region.sites, bounds.sites)
        region.unknown += bounds.unknown
        return region

    def _call(self, node: ProgramNode) -> _Region:
        # A whole buffer as an argument is a pointer to it, not its declaration.
        region = self._gather(arg for arg in node.args if self._kinds.get(arg.op) != _BUFFER)
        region.callees[_text(node, "callee") or _text(node, "kernel")] = 1
        region.call_sites += 1
        return region

    def _procedure(self, node: ProgramNode) -> _Region:
        count = _integer(node, "param_count") or 0
        region = self._gather(node.args[count:])
        region.buffers += count
        procedure = _Procedure(_text(node, "name"), region, _tables(node))
        procedure.is_kernel = node.op == "kernel"
        procedure.workspace = _integer(node, "sz_w")
        self._procedures[id(node)] = procedure
        region.opens = []
        return region

    def _total(self, root: ProgramNode) -> Counts:
        if self._kinds.get(root.op) == _PROGRAM:
            parts = [self._procedures[id(arg)] for arg in root.args if id(arg) in self._procedures]
            return _totals(parts, root.attrs)
        procedure = self._procedures.get(id(root))
        if procedure is None:
            procedure = _Procedure("", self._gather((root,)), {})
        return _totals([procedure], {})


def _totals(procedures: Sequence[_Procedure], attrs: Mapping[str, object]) -> Counts:
    """One run of the entry and of each solver's oracles, and the text of all procedures."""
    oracles = _solver_oracles(attrs)
    solver_root = attrs.get("solver_root")
    by_name = {each.name: each for each in procedures}
    roots = [by_name[name] for names in oracles.values() for name in names if name in by_name]
    entry: _Procedure | None = None
    if solver_root is None:
        entry = next((each for each in reversed(procedures) if not each.is_kernel), None)
        if entry is not None:
            roots.append(entry)
    roots = list(dict.fromkeys(roots))
    runs, recursive = _runs(roots, by_name)
    line, calls = _NOTHING, 0
    for each in roots:
        line = _plus(line, runs[each.name][0])
        calls += runs[each.name][1]
    sites = _NOTHING
    for each in procedures:
        sites = _plus(sites, each.region.sites)
    return Counts(
        loads=line[0],
        stores=line[1],
        flops=line[2],
        calls=calls,
        traffic_bytes=line[3],
        load_sites=sites[0],
        store_sites=sites[1],
        flop_sites=sites[2],
        call_sites=sum(each.region.call_sites for each in procedures),
        loops=sum(each.region.loops for each in procedures),
        buffers=sum(each.region.buffers for each in procedures),
        workspace_bytes=_workspace_bytes(entry, by_name, attrs),
        private_bytes=sum(each.region.private_bytes for each in procedures),
        uncounted=_uncounted(procedures, runs, recursive, oracles, solver_root),
    )


def _runs(
    roots: Iterable[_Procedure], by_name: Mapping[str, _Procedure]
) -> tuple[dict[str, tuple[_Line, int]], set[tuple[str, str]]]:
    """What one run of each reached procedure does and how often it calls, callees included.

    Beside them the calls that close a circle, as (caller, callee); they add nothing.
    """
    runs: dict[str, tuple[_Line, int]] = {}
    recursive: set[tuple[str, str]] = set()
    entered: set[str] = set()
    stack = list(roots)
    while stack:
        procedure = stack[-1]
        name = procedure.name
        if name in runs:
            stack.pop()
            continue
        called = [callee for callee, calls in procedure.callees.items() if calls]
        waiting = [callee for callee in called if callee in by_name and callee not in runs]
        if name not in entered:
            entered.add(name)
            recursive.update((name, callee) for callee in waiting if callee in entered)
            stack += (by_name[callee] for callee in waiting if callee not in entered)
            continue
        stack.pop()
        recursive.update((name, callee) for callee in waiting)
        line, calls = procedure.line, sum(procedure.callees.values())
        for callee in called:
            if callee in runs and by_name[callee].is_kernel is False:
                callee_line, callee_calls = runs[callee]
                line = _plus(line, callee_line, procedure.callees[callee])
                calls += procedure.callees[callee] * callee_calls
        runs[name] = line, calls
    return runs, recursive


def _uncounted(
    procedures: Iterable[_Procedure],
    runs: Mapping[str, object],
    recursive: set[tuple[str, str]],
    oracles: Mapping[str, Sequence[str]],
    solver_root: object,
) -> tuple[str, ...]:
    by_name = {each.name: each for each in procedures}
    found: dict[str, None] = {}
    if isinstance(solver_root, str):
        found[f"solver {solver_root}: {_oracles_run(oracles.get(solver_root, ()))}"] = None
    for each in by_name.values():
        found.update(dict.fromkeys(each.region.unknown))
        if each.name not in runs:
            continue
        found.update(dict.fromkeys(each.uncounted))
        for callee, calls in each.callees.items():
            if not calls:
                continue
            within = _within(each.name)
            if (each.name, callee) in recursive:
                found[f"call of {callee}{within}: it is recursive, how deep is not known"] = None
            elif callee in oracles:
                message = f"call of solver {callee}{within}: {_oracles_run(oracles[callee])}"
                found[message] = None
            elif callee not in by_name:
                reason = "it is not a procedure of the program, what it runs is not known"
                found[f"call of {callee}{within}: {reason}"] = None
            elif by_name[callee].is_kernel:
                found[f"launch of {callee}{within}: what its threads run is not counted"] = None
    return tuple(found)


def _oracles_run(oracles: Sequence[str]) -> str:
    if not oracles:
        return "what it runs is not known"
    return f"how often it runs {', '.join(oracles)} is not known, each is counted once"


def _workspace_bytes(
    entry: _Procedure | None, by_name: Mapping[str, _Procedure], attrs: Mapping[str, object]
) -> int | None:
    """The entry's ``w[]``; a solver passes its own on to its oracles, so it needs their largest."""
    if entry is not None:
        return None if entry.workspace is None else entry.workspace * 8
    solver_root = attrs.get("solver_root")
    if not isinstance(solver_root, str) or not by_name:
        return None
    if any(each.workspace is None for each in by_name.values()):
        return None
    external = attrs.get("solver_external_workspace")
    sizes = [0]
    if isinstance(external, Mapping):
        sizes.append(int(external.get(solver_root, 0)))
    for name in _solver_oracles(attrs).get(solver_root, ()):
        if name in by_name:
            sizes.append(by_name[name].workspace or 0)
    return max(sizes) * 8


def _declaration(node: ProgramNode) -> _Region:
    region = _Region()
    region.buffers = 1
    attrs = node.attrs
    if (
        attrs.get("address_space") in ("private", "local")
        and "alias_of" not in attrs
        and "workspace_offset" not in attrs
    ):
        # C has no empty array, so the printer declares one element.
        region.private_bytes = (prod(_shape(node)) or 1) * (node.dtype.bits >> 3)
    return region


def _open(region: _Region, rng: ProgramNode) -> None:
    """Put a loop around ``region`` whose trips are found where the procedure ends."""
    _enclose(region, rng)
    region.opens.append(_Open((rng,), 1, region.line, dict(region.callees)))
    region.line = _NOTHING
    region.callees = dict.fromkeys(region.callees, 0)


def _repeated(region: _Region, times: int, rng: ProgramNode | None = None) -> _Region:
    """Run ``region`` so many times, once per value of ``rng`` where that is given."""
    if rng is not None:
        _enclose(region, rng)
    else:
        region.opens = [
            _Open(each.ranges, each.times * times, each.line, each.callees) for each in region.opens
        ]
    region.line = _plus(_NOTHING, region.line, times)
    region.callees = {callee: calls * times for callee, calls in region.callees.items()}
    return region


def _enclose(region: _Region, rng: ProgramNode) -> None:
    region.opens = [
        _Open((rng, *each.ranges), each.times, each.line, each.callees) for each in region.opens
    ]


def _constant_trips(rng: ProgramNode) -> int | None:
    """The trips of a range between constants, or None."""
    if any(arg.op != "const_int" for arg in rng.args) or len(rng.args) != 3:
        return None
    start, stop, step = (_integer(arg, "value") for arg in rng.args)
    if start is None or stop is None or step is None or step <= 0:
        return None
    return max(0, -((start - stop) // step))


def _iterations(ranges: Sequence[ProgramNode], tables: Mapping[str, Sequence[int]]) -> int:
    """How often the innermost of nested ``ranges`` is passed; raises ``_UncountableLoop``.

    Variables that no inner bound reads are multiplied out, the others take each of their values.
    """
    bounds = [[_postorder(arg) for arg in rng.args] for rng in ranges]
    reads = [
        {_text(n, "name") for order in each for n in order if n.op == "var"} for each in bounds
    ]
    states: list[tuple[dict[str, int], int]] = [({}, 1)]
    for depth, rng in enumerate(ranges):
        name = _text(rng, "name")
        is_read = any(name in inner for inner in reads[depth + 1 :])
        reached: list[tuple[dict[str, int], int]] = []
        for values, times in states:
            span = _span(name, bounds[depth], values, tables)
            if is_read:
                if len(reached) + len(span) > _MAX_VALUES:
                    raise _UncountableLoop(
                        _text(ranges[depth + 1], "name"),
                        f"its bounds depend on {name}, which takes too many values to try each",
                    )
                reached += [({**values, name: value}, times) for value in span]
            elif span:
                reached.append((values, times * _length(span)))
        states = reached
    return sum(times for _, times in states)


def _span(
    name: str,
    bounds: Sequence[Sequence[ProgramNode]],
    values: Mapping[str, int],
    tables: Mapping[str, Sequence[int]],
) -> range:
    """The values that loop ``name`` takes where the loops around it stand at ``values``."""
    found = []
    for which, order in zip(("start", "stop", "step"), bounds, strict=True):
        try:
            found.append(_evaluate(order, values, tables))
        except _UnknownValue as reason:
            raise _UncountableLoop(name, f"its {which} {reason}") from None
    start, stop, step = found
    if start >= stop:
        return range(0)
    if step <= 0:
        raise _UncountableLoop(name, f"its step is {step}, so it does not end")
    return range(start, stop, step)


def _evaluate(
    order: Sequence[ProgramNode], values: Mapping[str, int], tables: Mapping[str, Sequence[int]]
) -> int:
    """The integer that the last of ``order`` computes from those before it, as C computes it."""
    known: dict[int, int] = {}
    result = 0
    for node in order:
        op = node.op
        if op == "const_int":
            result = _integer(node, "value") or 0
        elif op == "var":
            name = _text(node, "name")
            if name not in values:
                raise _UnknownValue(f"depends on {name}, whose value only a run tells")
            result = values[name]
        elif op == "view":
            continue
        elif op == "load":
            view = node.args[0]
            table, index = tables.get(_text(view, "buffer")), known.get(id(view.args[0]), -1)
            if table is None:
                raise _UnknownValue(f"is loaded from data ({_text(view, 'buffer')})")
            if not 0 <= index < len(table):
                raise _UnknownValue(f"is loaded from beyond the end of {_text(view, 'buffer')}")
            result = table[index]
        elif op in _INTEGER_OPS and not node.dtype.is_floating:
            operands = [known[id(arg)] for arg in node.args]
            if op in ("div", "mod") and operands[1] == 0:
                raise _UnknownValue("divides by zero")
            result = _INTEGER_OPS[op](*operands)
        else:
            raise _UnknownValue(f"is computed by {op}, whose value only a run tells")
        known[id(node)] = result
    return result


def _divide(a: int, b: int) -> int:
    """The quotient as C truncates it."""
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


_INTEGER_OPS: dict[str, Callable[..., int]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": _divide,
    "mod": lambda a, b: a - b * _divide(a, b),
    "neg": lambda a: -a,
    "minimum": min,
    "maximum": max,
}


def _postorder(root: ProgramNode) -> list[ProgramNode]:
    """The distinct nodes of an expression, arguments first."""
    order: list[ProgramNode] = []
    seen: set[int] = set()
    stack = [(root, False)]
    while stack:
        node, ready = stack.pop()
        if ready:
            order.append(node)
        elif id(node) not in seen:
            seen.add(id(node))
            stack.append((node, True))
            stack += ((arg, False) for arg in node.args)
    return order


def _tables(proc: ProgramNode) -> dict[str, Sequence[int]]:
    """The integer constants of a procedure by name: what is loaded from them is known."""
    tables: dict[str, Sequence[int]] = {}
    for arg in proc.args:
        values = arg.attrs.get("values") if arg.op == "buffer" else None
        if isinstance(values, Sequence) and not arg.dtype.is_floating:
            tables[_text(arg, "name")] = values
    return tables


def _solver_oracles(attrs: Mapping[str, object]) -> dict[str, tuple[str, ...]]:
    oracles = attrs.get("solver_oracles")
    if not isinstance(oracles, Mapping):
        return {}
    return {str(solver): tuple(map(str, names)) for solver, names in oracles.items()}


def _plus(line: _Line, other: _Line, times: int = 1) -> _Line:
    return (
        line[0] + other[0] * times,
        line[1] + other[1] * times,
        line[2] + other[2] * times,
        line[3] + other[3] * times,
    )


def _length(span: range) -> int:
    """``len`` of a range that may be longer than an index can say."""
    return max(0, -((span.start - span.stop) // span.step))


def _shape(node: ProgramNode) -> list[int]:
    shape = node.attrs.get("shape", ())
    return [int(size) for size in shape] if isinstance(shape, Sequence) else []


def _text(node: ProgramNode, key: str) -> str:
    return str(node.attrs.get(key, ""))


def _integer(node: ProgramNode, key: str) -> int | None:
    value = node.attrs.get(key)
    return value if isinstance(value, int) else None


def _within(procedure: str) -> str:
    return f" in proc {procedure}" if procedure else ""
