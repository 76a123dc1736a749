"""Owns the static counts of a program: what one run loads, stores, computes and calls.

The conventions by which the counts of a step are to be read:

- A count is of the program as written, in tree position: the C printer writes a shared node once
  per use, so it counts once per use. What the C compiler then merges or removes is not guessed.
- ``loads`` and ``stores`` are elements of buffers, index and mask tables included; ``store_pair``
  is two stores. Scalar variables cost neither. ``traffic_bytes`` weighs each by the element size
  of its buffer.
- ``flops`` is one per floating-point operation node: add, sub, mul, div, mod, neg, abs, floor,
  ceil, minimum, maximum, and each call of a math function (sqrt, sin, exp, pow, atan2, ...). That
  is how XLA counts (``HloCostAnalysis::HandleElementwiseOp``) and, for sums and products, LAPACK
  (Working Note 41: a multiply-add is two); XLA keeps transcendental functions apart, here each is
  one flop among the others. Integer arithmetic, and all that computes an index or a loop bound, is
  none.
- ``bit_select`` loads its word and is no flop (XLA's select is one): it chooses, in the place of a
  product by a mask. Its value counts as computed, as vector code does; scalar C skips it where the
  bit is clear.
- The bounds of a loop are evaluated once, where it is entered.
- A range widened to vector lanes passes its body once per element (``vector_count``), as before it
  was widened. The lanes beyond the last element, which GNU C computes in registers and drops, are
  not counted: how many there are is settled only when the C is compiled.
- One run is one run of the entry and, as nobody can know how often a solver runs its oracles, one
  of each oracle. A procedure that these do not reach (inlined everywhere, not yet pruned) counts
  in the text only.

Where ``uncounted`` is empty the totals are exact; the loops and calls that it names are left out of
them. They are Python integers of any size: who writes 64 bits has to clamp them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from math import prod
from types import MappingProxyType
from typing import Protocol, Self, cast


class DType(Protocol):
    """The element type of a node."""

    @property
    def bits(self) -> int:
        """The width of an element."""

    @property
    def is_floating(self) -> bool:
        """Whether arithmetic on it is floating-point."""


class ProgramNode(Protocol):
    """What counting reads of scaly's ``ProgramNode``; every released scaly has it."""

    @property
    def op(self) -> str:
        """The kind of node, a string enumeration in scaly."""

    @property
    def args(self) -> tuple[ProgramNode, ...]:
        """The nodes it is made of."""

    @property
    def attrs(self) -> Mapping[str, object]:
        """Its names and numbers."""

    @property
    def dtype(self) -> DType:
        """The element type of its value or buffer."""


@dataclass(frozen=True, slots=True)
class Counts:
    """What a program does when it runs once, and what its text holds."""

    # Run once: weighted by trip counts, a call counts what its callee runs.
    loads: int
    stores: int
    flops: int
    calls: int
    traffic_bytes: int
    # The text of all procedures: each place once.
    load_sites: int
    store_sites: int
    flop_sites: int
    call_sites: int
    loops: int
    """Loops as written: a range widened to vector lanes is two, over chunks and over lanes."""
    buffers: int
    """Declarations: the parameters, constants, locals and aliases of every procedure."""
    workspace_bytes: int | None
    """The entry's ``w[]``, ``SZ_W`` doubles without those that the CasADi layer adds to gather
    sparse outputs; None before ``pack_workspace`` has run."""
    private_bytes: int
    """Private buffers with storage of their own: an alias is a pointer into another buffer, a
    spilled one a pointer into ``w[]``."""
    uncounted: tuple[str, ...]
    """What the totals leave out and why, in the order of the program."""


# Loads, stores, flops and bytes of straight-line code, in which each place runs once.
type _Line = tuple[int, int, int, int]

_NOTHING: _Line = (0, 0, 0, 0)
_NO_CALLS: Mapping[str, int] = MappingProxyType({})
# Stands for the line of a node that has a region; unpacking it fails, so nothing need be checked.
_IN_REGIONS = cast("_Line", ())

# More values of loop variables than this are not tried one by one in a procedure (about 0.5 s).
_MAX_VALUES = 50_000


@dataclass(slots=True)
class _Open:
    """Code in nested loops, of which not all have constant bounds; outermost loop first."""

    ranges: tuple[ProgramNode, ...]
    times: int
    line: _Line
    callees: Mapping[str, int]


@dataclass(slots=True)
class _Region:
    """Code with statements in it: what it surely runs, what waits for its loops, what it holds."""

    line: _Line = _NOTHING
    callees: Mapping[str, int] = _NO_CALLS
    opens: tuple[_Open, ...] = ()
    sites: _Line = _NOTHING
    call_sites: int = 0
    loops: int = 0
    buffers: int = 0
    private_bytes: int = 0

    def repeat(self, times: int) -> None:
        """Run all of it so many times."""
        a, b, c, d = self.line
        self.line = (a * times, b * times, c * times, d * times)
        self.callees = _plus_calls(_NO_CALLS, self.callees, times)
        if self.opens:
            self.opens = tuple(replace(each, times=each.times * times) for each in self.opens)

    def enclose(self, rng: ProgramNode) -> None:
        """Run all of it once per value of ``rng``."""
        opens, self.opens = self.opens, ()
        trips = _constant_trips(rng)
        if trips is None:
            opens = (_Open((), 1, self.line, self.callees), *opens)
            trips = 0
        self.repeat(trips)
        if opens:
            self.opens = tuple(replace(each, ranges=(rng, *each.ranges)) for each in opens)


_DECLARED = _Region(buffers=1)


@dataclass(slots=True)
class _Procedure:
    """A region under a name, all of whose loops are counted or else in ``uncounted``."""

    name: str
    region: _Region
    line: _Line
    callees: Mapping[str, int]
    uncounted: tuple[str, ...] = ()
    workspace: int | None = None
    is_host: bool = True


@dataclass(slots=True)
class _Solvers:
    """The solvers of a program, which call back its oracles; ``root`` if one is the entry."""

    oracles: Mapping[str, Sequence[str]] = field(default_factory=dict)
    root: str | None = None
    external_workspace: int = 0

    def all_oracles(self) -> Iterator[str]:
        """The oracles of every solver."""
        return chain.from_iterable(self.oracles.values())

    def unknown(self, solver: str) -> str:
        """What is not known of a run of ``solver``."""
        names = self.oracles.get(solver)
        if not names:
            return "what it runs is unknown"
        return f"how often it runs {', '.join(names)} is unknown, each is counted once"


class _UncountableError(Exception):
    """Why the trips of a loop cannot be counted."""

    def __init__(self, loop: str, reason: str) -> None:
        super().__init__(loop, reason)


class _UnknownValueError(Exception):
    """Why an integer of the program is known to a run only."""


class Counter:
    """Counts the programs of one recording.

    What lies below a node is remembered by the node's identity, so a step costs what is new in it.
    Nodes must outlive what is remembered of them: keep them, or ``forget`` those that may die.
    """

    def __init__(self) -> None:
        self._lines: dict[int, _Line] = {}
        self._regions: dict[int, _Region] = {}
        self._procedures: dict[int, _Procedure] = {}
        self._unknown: dict[int, tuple[str, ...]] = {}
        self._counts: dict[int, Counts] = {}

    def count(self, root: ProgramNode) -> Counts:
        """The counts of ``root``: a program, a procedure or any code within one."""
        known = self._counts.get(id(root))
        if known is None:
            self._visit(root)
            known = self._counts[id(root)] = self._total(root)
        return known

    def forget(self, keep: Callable[[int], bool]) -> None:
        """Drop what is remembered of nodes whose ``id()`` is not kept."""
        self._lines = {key: line for key, line in self._lines.items() if keep(key)}
        self._regions = {key: region for key, region in self._regions.items() if keep(key)}
        self._procedures = {key: each for key, each in self._procedures.items() if keep(key)}
        self._unknown = {key: kinds for key, kinds in self._unknown.items() if keep(key)}
        self._counts = {key: counts for key, counts in self._counts.items() if keep(key)}

    def _visit(self, root: ProgramNode) -> None:
        """Remember every node below ``root``, arguments first."""
        lines, unknown = self._lines, self._unknown
        stack: list[ProgramNode | None] = [root]
        waiting: list[ProgramNode] = []
        while stack:
            node = stack.pop()
            if node is None:
                node = waiting.pop()
            elif id(node) in lines:
                continue
            else:
                missing = [arg for arg in node.args if id(arg) not in lines]
                if missing:
                    waiting.append(node)
                    stack.append(None)
                    stack += missing
                    continue
            line_of = _LINES.get(node.op)
            try:
                lines[id(node)] = line_of(node, lines) if line_of else self._other(node)
            except ValueError:
                lines[id(node)] = self._other(node)
            if unknown:
                self._note(node)

    def _other(self, node: ProgramNode) -> _Line:
        """The line of a node that has statements in it, calls, declares, or is of unknown kind."""
        if node.op not in _LINES and node.op not in _REGIONS:
            self._unknown[id(node)] = (node.op,)
            lines = [self._lines[id(arg)] for arg in _without_buffers(node)]
            if _IN_REGIONS not in lines:
                return _sum(lines)
        self._regions[id(node)] = self._region(node)
        return _IN_REGIONS

    def _note(self, node: ProgramNode) -> None:
        """Remember which unknown kinds of node there are at and below ``node``."""
        found = [self._unknown.get(id(each), ()) for each in (node, *node.args)]
        if any(found):
            self._unknown[id(node)] = tuple(dict.fromkeys(chain.from_iterable(found)))

    def _region(self, node: ProgramNode) -> _Region:
        match node.op:
            case "for":
                return self._loop(node)
            case "buffer":
                return _declaration(node)
            case "proc" | "kernel":
                return self._procedure(node)
            case "block":
                return self._gather(node.args)
            case "program":
                return _Region()
        region = self._gather(_without_buffers(node))
        if node.op in ("call", "launch"):
            callee = _text(node, "callee") or _text(node, "kernel")
            region.callees = _plus_calls(region.callees, {callee: 1})
            region.call_sites += 1
        return region

    def _gather(self, nodes: Sequence[ProgramNode]) -> _Region:
        """The region of ``nodes`` in a row."""
        lines, regions = self._lines, self._regions
        loads = stores = flops = moved = 0
        parts: list[_Region] = []
        for node in nodes:
            line = lines[id(node)]
            if line is _IN_REGIONS:
                parts.append(regions[id(node)])
            else:
                a, b, c, d = line
                loads += a
                stores += b
                flops += c
                moved += d
        return _row((loads, stores, flops, moved), parts)

    def _loop(self, node: ProgramNode) -> _Region:
        rng, *body = node.args
        elements = _integer(node, "vector_count") if "vector_helper" in node.attrs else None
        if elements is not None:
            # A loop over chunks of nothing but a loop over lanes: together once per element.
            region = self._gather(body[0].args[1:])
            region.repeat(elements)
            region.loops += 2
            return region
        region = self._gather(body)
        region.enclose(rng)
        region.loops += 1
        bounds = self._lines[id(rng)]
        if bounds != _NOTHING:
            region.line = _plus(region.line, bounds)
            region.sites = _plus(region.sites, bounds)
        return region

    def _procedure(self, node: ProgramNode) -> _Region:
        parameters = _integer(node, "param_count") or 0
        region = self._gather(node.args[parameters:])
        region.buffers += parameters
        procedure = _close(_text(node, "name"), region, _tables(node))
        procedure.workspace = _integer(node, "sz_w")
        procedure.is_host = node.op == "proc"
        self._procedures[id(node)] = procedure
        return region

    def _total(self, root: ProgramNode) -> Counts:
        is_program = root.op == "program"
        procedures = []
        for part in root.args if is_program else (root,):
            each = self._procedures.get(id(part))
            if each is None:
                each = _close("", self._gather((part,)), {})
                each.is_host = not is_program
            procedures.append(each)
        kinds = self._unknown.get(id(root), ())
        return _count(procedures, _solvers(root), kinds)


def _count(procedures: Sequence[_Procedure], solvers: _Solvers, unknown: Iterable[str]) -> Counts:
    """The counts of a program of these procedures and solvers, in which are unknown kinds."""
    by_name = {each.name: each for each in procedures}
    entry = None
    if solvers.root is None:
        entry = next((each for each in reversed(procedures) if each.is_host), None)
    oracles = [by_name[name] for name in solvers.all_oracles() if name in by_name]
    roots = list({each.name: each for each in (*oracles, *((entry,) if entry else ()))}.values())
    runs, recursive = _runs(roots, by_name)
    run, calls = _NOTHING, 0
    for each in roots:
        line, calls_within = runs[each.name]
        run = _plus(run, line)
        calls += calls_within
    text = _row(_NOTHING, [each.region for each in procedures])
    uncounted = [f"unknown node kind {kind}" for kind in unknown]
    if solvers.root is not None:
        uncounted.append(f"solver {solvers.root}: {solvers.unknown(solvers.root)}")
    for each in procedures:
        if each.name in runs:
            uncounted += each.uncounted
            uncounted += _uncounted_calls(each, by_name, solvers, recursive)
    return Counts(
        loads=run[0],
        stores=run[1],
        flops=run[2],
        calls=calls,
        traffic_bytes=run[3],
        load_sites=text.sites[0],
        store_sites=text.sites[1],
        flop_sites=text.sites[2],
        call_sites=text.call_sites,
        loops=text.loops,
        buffers=text.buffers,
        workspace_bytes=_workspace_bytes(entry, by_name, solvers),
        private_bytes=text.private_bytes,
        uncounted=tuple(dict.fromkeys(uncounted)),
    )


def _runs(
    roots: Iterable[_Procedure], by_name: Mapping[str, _Procedure]
) -> tuple[dict[str, tuple[_Line, int]], set[tuple[str, str]]]:
    """What one run of each reached procedure does and calls, its callees' runs included.

    Beside it the calls, as (caller, callee), that close a circle and so are left out.
    """
    runs: dict[str, tuple[_Line, int]] = {}
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
                    run = _plus(run, runs[name][0], times)
                    calls += runs[name][1] * times
            runs[caller.name] = run, calls
    return runs, recursive


def _uncounted_calls(
    caller: _Procedure,
    by_name: Mapping[str, _Procedure],
    solvers: _Solvers,
    recursive: set[tuple[str, str]],
) -> list[str]:
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


def _solvers(program: ProgramNode) -> _Solvers:
    oracles = program.attrs.get("solver_oracles")
    root = program.attrs.get("solver_root")
    external = program.attrs.get("solver_external_workspace")
    return _Solvers(
        oracles if isinstance(oracles, Mapping) else {},
        root if isinstance(root, str) else None,
        external.get(root, 0) if isinstance(external, Mapping) else 0,
    )


def _workspace_bytes(
    entry: _Procedure | None, by_name: Mapping[str, _Procedure], solvers: _Solvers
) -> int | None:
    """The size of the entry's ``w[]``; a solver lends its own to one oracle after the other."""
    if solvers.root is not None:
        oracles = [by_name.get(name) for name in solvers.oracles.get(solvers.root, ())]
        sizes = [each.workspace for each in oracles if each]
        sizes.append(solvers.external_workspace)
    else:
        sizes = [entry.workspace if entry else None]
    known = [size for size in sizes if size is not None]
    return 8 * max(known) if len(known) == len(sizes) else None


def _close(name: str, region: _Region, tables: Mapping[str, Sequence[int]]) -> _Procedure:
    """Count the loops that ``region`` left open, knowing the constants of its procedure."""
    line, callees, nests = region.line, region.callees, _Nests(tables)
    uncounted = []
    for each in region.opens:
        try:
            times = each.times * nests.passes(each.ranges)
        except _UncountableError as error:
            loop, reason = error.args
            uncounted.append(f"loop {loop} in proc {name}: {reason}")
        else:
            line = _plus(line, each.line, times)
            callees = _plus_calls(callees, each.callees, times)
    region.opens = ()
    return _Procedure(name, region, line, callees, tuple(uncounted))


def _declaration(node: ProgramNode) -> _Region:
    attrs = node.attrs
    if attrs.get("address_space") not in ("private", "local"):
        return _DECLARED
    if "alias_of" in attrs or "workspace_offset" in attrs:
        return _DECLARED
    shape = attrs.get("shape")
    # C has no empty array, so the printer declares one element.
    elements = (prod(shape) if isinstance(shape, tuple) else 0) or 1
    return _Region(buffers=1, private_bytes=elements * (node.dtype.bits >> 3))


def _row(straight: _Line, parts: Sequence[_Region]) -> _Region:
    """The region of straight-line code and parts that are regions."""
    row = _Region(straight, sites=straight)
    for part in parts:
        row.buffers += part.buffers
        row.private_bytes += part.private_bytes
        if part.sites is not _NOTHING:
            row.line = _plus(row.line, part.line)
            row.sites = _plus(row.sites, part.sites)
        if part.loops:
            row.loops += part.loops
            row.opens += part.opens
        if part.call_sites:
            row.call_sites += part.call_sites
            row.callees = _plus_calls(row.callees, part.callees)
    return row


def _leaf(_node: ProgramNode, _lines: Mapping[int, _Line]) -> _Line:
    return _NOTHING


def _sum(lines: Iterable[_Line]) -> _Line:
    loads = stores = flops = moved = 0
    for a, b, c, d in lines:
        loads += a
        stores += b
        flops += c
        moved += d
    return loads, stores, flops, moved


def _value(node: ProgramNode, lines: Mapping[int, _Line]) -> _Line:
    return _sum([lines[id(arg)] for arg in node.args])


def _arithmetic(node: ProgramNode, lines: Mapping[int, _Line]) -> _Line:
    loads, stores, flops, moved = _sum([lines[id(arg)] for arg in node.args])
    return loads, stores, flops + node.dtype.is_floating, moved


def _view(node: ProgramNode, lines: Mapping[int, _Line]) -> _Line:
    if len(node.args) != 1:
        return _range(node, lines)
    loads, stores, flops, moved = line = lines[id(node.args[0])]
    return (loads, stores, 0, moved) if flops else line


def _range(node: ProgramNode, lines: Mapping[int, _Line]) -> _Line:
    loads, stores, _, moved = _sum([lines[id(arg)] for arg in node.args])
    return loads, stores, 0, moved


def _load(node: ProgramNode, lines: Mapping[int, _Line]) -> _Line:
    view = node.args[0]
    loads, stores, flops, moved = lines[id(view)]
    return loads + 1, stores, flops, moved + (view.dtype.bits >> 3)


def _store(node: ProgramNode, lines: Mapping[int, _Line]) -> _Line:
    loads, stores, flops, moved = _sum([lines[id(arg)] for arg in node.args])
    elements = len(node.args) - 1
    return loads, stores + elements, flops, moved + elements * (node.args[0].dtype.bits >> 3)


_LINES: dict[str, Callable[[ProgramNode, Mapping[int, _Line]], _Line]] = {
    **dict.fromkeys(["const_int", "const_float", "var", "barrier"], _leaf),
    **dict.fromkeys(["assign", "print", "bit_select"], _value),
    **dict.fromkeys(["add", "sub", "mul", "div", "mod", "neg", "minimum", "maximum"], _arithmetic),
    **dict.fromkeys(["sin", "cos", "tan", "asin", "acos", "atan", "atan2"], _arithmetic),
    **dict.fromkeys(["sinh", "cosh", "tanh", "erf", "exp", "log", "pow", "sqrt"], _arithmetic),
    **dict.fromkeys(["abs", "floor", "ceil"], _arithmetic),
    "view": _view,
    "range": _range,
    "load": _load,
    **dict.fromkeys(["store", "store_pair"], _store),
}
_REGIONS = {"block", "for", "call", "launch", "buffer", "proc", "kernel", "program"}


def _constant_trips(rng: ProgramNode) -> int | None:
    """How often a loop between constants runs, or None."""
    # Of the nodes that can bound a loop, only a constant has a value.
    start, stop, step = (bound.attrs.get("value") for bound in rng.args)
    if isinstance(start, int) and isinstance(stop, int) and isinstance(step, int) and step > 0:
        return max(0, -((start - stop) // step))
    return None


class _Nests:
    """Counts the passes of nested loops of one procedure, whose constants are ``tables``."""

    def __init__(self, tables: Mapping[str, Sequence[int]]) -> None:
        self._tables = tables
        self._values_left = _MAX_VALUES

    def passes(self, ranges: Sequence[ProgramNode]) -> int:
        """How often the body of these loops runs; raises ``_UncountableError``.

        A variable that no inner bound reads is multiplied out, others take each of their values.
        """
        loops = [[_Bound.of(bound, self._tables) for bound in rng.args] for rng in ranges]
        reads = [{name for bound in bounds for name in bound.reads} for bounds in loops]
        states: list[tuple[Mapping[str, int], int]] = [({}, 1)]
        for depth, rng in enumerate(ranges):
            name = _text(rng, "name")
            reader = next((d for d in range(depth + 1, len(ranges)) if name in reads[d]), None)
            reached: list[tuple[Mapping[str, int], int]] = []
            for values, times in states:
                start, trips, step = _trips(name, loops[depth], values)
                if reader is None:
                    reached += [(values, times * trips)] * bool(trips)
                    continue
                if trips > self._values_left:
                    reason = f"its bounds depend on {name}, which takes too many values to try each"
                    raise _UncountableError(_text(ranges[reader], "name"), reason)
                self._values_left -= trips
                reached += [({**values, name: start + step * k}, times) for k in range(trips)]
            states = reached
        return sum(times for _, times in states)


def _trips(loop: str, bounds: Sequence[_Bound], values: Mapping[str, int]) -> tuple[int, int, int]:
    """The start, trips and step of a loop where the loops around it stand at ``values``."""
    found = []
    for which, bound in zip(("start", "stop", "step"), bounds, strict=True):
        try:
            found.append(bound.at(values))
        except _UnknownValueError as reason:
            raise _UncountableError(loop, f"its {which} {reason}") from None
    start, stop, step = found
    if start >= stop:
        return start, 0, step
    if step <= 0:
        raise _UncountableError(loop, f"its step is {step}, with which it does not end")
    return start, -((start - stop) // step), step


@dataclass(slots=True)
class _Bound:
    """A bound of a loop: its expression in postorder, and the variables and tables it reads."""

    nodes: Sequence[ProgramNode]
    reads: Sequence[str]
    tables: Mapping[str, Sequence[int]]
    known: dict[tuple[int | None, ...], int] = field(default_factory=dict)

    @classmethod
    def of(cls, root: ProgramNode, tables: Mapping[str, Sequence[int]]) -> Self:
        """The bound that ``root`` computes."""
        nodes = _postorder(root)
        return cls(nodes, [_text(node, "name") for node in nodes if node.op == "var"], tables)

    def at(self, values: Mapping[str, int]) -> int:
        """Its value in C for these values of variables; raises ``_UnknownValueError``."""
        key = tuple([values.get(name) for name in self.reads])
        found = self.known.get(key)
        if found is None:
            found = self.known[key] = self._evaluate(values)
        return found

    def _evaluate(self, values: Mapping[str, int]) -> int:
        known: dict[int, int] = {}
        value = 0
        for node in self.nodes:
            args = [known[id(arg)] for arg in node.args]
            value = known[id(node)] = self._value(node, args, values)
        return value

    def _value(self, node: ProgramNode, args: Sequence[int], values: Mapping[str, int]) -> int:
        constant = node.attrs.get("value")
        if isinstance(constant, int):
            return constant
        name, op = _text(node, "name"), node.op
        if op == "var" and name in values:
            return values[name]
        if op == "var":
            raise _UnknownValueError(f"depends on the variable {name}, which a run computes")
        if op == "view" and len(args) == 1:
            return args[0]
        if op == "load":
            return self._element(_text(node.args[0], "buffer"), args[0])
        if op in _INTEGER_OPS and not node.dtype.is_floating:
            return _INTEGER_OPS[op](*args)
        raise _UnknownValueError(f"is computed by {op}, which is not integer arithmetic")

    def _element(self, buffer: str, index: int) -> int:
        table = self.tables.get(buffer)
        if table is None:
            raise _UnknownValueError(f"is loaded from data (buffer {buffer})")
        if not 0 <= index < len(table):
            raise _UnknownValueError(f"is loaded from beyond the {len(table)} elements of {buffer}")
        return table[index]


def _quotient(a: int, b: int) -> int:
    """``a / b`` in C, which truncates."""
    if b == 0:
        raise _UnknownValueError("divides by zero")
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


_INTEGER_OPS: dict[str, Callable[..., int]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": _quotient,
    "mod": lambda a, b: a - b * _quotient(a, b),
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
    """The constant integers of a procedure: what is loaded from them is known."""
    tables: dict[str, Sequence[int]] = {}
    for arg in proc.args:
        values = arg.attrs.get("values") if arg.op == "buffer" else None
        if isinstance(values, Sequence) and not arg.dtype.is_floating:
            tables[_text(arg, "name")] = values
    return tables


def _plus(line: _Line, other: _Line, times: int = 1) -> _Line:
    a, b, c, d = other
    return line[0] + a * times, line[1] + b * times, line[2] + c * times, line[3] + d * times


def _plus_calls(
    calls: Mapping[str, int], other: Mapping[str, int], times: int = 1
) -> Mapping[str, int]:
    if not other:
        return calls
    return {**calls, **{name: calls.get(name, 0) + n * times for name, n in other.items()}}


def _without_buffers(node: ProgramNode) -> list[ProgramNode]:
    """The arguments of a node that declares nothing: a buffer there is a pointer to it."""
    return [arg for arg in node.args if arg.op != "buffer"]


def _text(node: ProgramNode, key: str) -> str:
    return str(node.attrs.get(key, ""))


def _integer(node: ProgramNode, key: str) -> int | None:
    value = node.attrs.get(key)
    return value if isinstance(value, int) else None
