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

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import cast

from scaly_viz.frontend.pace import Pace
from scaly_viz.frontend.procedures import Procedure, Solvers, close, runs_of, uncounted_calls
from scaly_viz.frontend.program_nodes import ProgramNode, integer_of, text_of
from scaly_viz.frontend.regions import Region, declaration, join, plus_calls
from scaly_viz.frontend.straight_line import LINES, NOTHING, Line, plus, total
from scaly_viz.frontend.trips import constant_tables
from scaly_viz.frontend.walk import unknown_below

# Stands for the line of a node that has a region; unpacking it fails, so nothing need be checked.
_IN_REGIONS = cast("Line", ())

_REGIONS = {"block", "for", "call", "launch", "buffer", "proc", "kernel", "program"}


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


class Counter:
    """Counts the programs of one recording.

    What lies below a node is remembered, so a step costs what is new in it.
    """

    def __init__(self, pace: Pace) -> None:
        self._pace = pace
        self._lines: dict[ProgramNode, Line] = {}
        self._regions: dict[ProgramNode, Region] = {}
        self._procedures: dict[ProgramNode, Procedure] = {}
        self._unknown: dict[ProgramNode, tuple[str, ...]] = {}
        self._counts: dict[ProgramNode, Counts] = {}

    def count(self, root: ProgramNode) -> Counts:
        """The counts of ``root``: a program, a procedure or any code within one."""
        known = self._counts.get(root)
        if known is None:
            self.learn(unknown_below((root,), self._lines, self._pace))
            known = self._counts[root] = self._total(root)
        return known

    def learn(self, nodes: Sequence[ProgramNode]) -> None:
        """Remember ``nodes``, which come each after its arguments; ``count`` then need not look for them."""
        for chunk in self._pace.chunks(nodes):
            self._remember(chunk)

    def forget(self, kept: Container[ProgramNode]) -> None:
        """Drop what is remembered of nodes that are not ``kept``."""
        self._lines = {node: line for node, line in self._lines.items() if node in kept}
        self._regions = {node: region for node, region in self._regions.items() if node in kept}
        self._procedures = {node: each for node, each in self._procedures.items() if node in kept}
        self._unknown = {node: kinds for node, kinds in self._unknown.items() if node in kept}
        self._counts = {node: counts for node, counts in self._counts.items() if node in kept}

    def _remember(self, nodes: Iterable[ProgramNode]) -> None:
        lines, unknown, by_kind = self._lines, self._unknown, LINES.get
        for node in nodes:
            line_of = by_kind(node.op)
            try:
                lines[node] = line_of(node, lines) if line_of else self._other(node)
            except ValueError:
                lines[node] = self._other(node)
            if unknown:
                self._note(node)

    def _other(self, node: ProgramNode) -> Line:
        """The line of a node that has statements in it, calls, declares, or is of unknown kind."""
        if node.op not in _REGIONS and node.op not in LINES:
            self._unknown[node] = (node.op,)
            lines = [self._lines[arg] for arg in _without_buffers(node)]
            if _IN_REGIONS not in lines:
                return total(lines)
        self._regions[node] = self._region(node)
        return _IN_REGIONS

    def _note(self, node: ProgramNode) -> None:
        """Remember which unknown kinds of node there are at and below ``node``."""
        found = [self._unknown.get(each, ()) for each in (node, *node.args)]
        if any(found):
            self._unknown[node] = tuple(dict.fromkeys(chain.from_iterable(found)))

    def _region(self, node: ProgramNode) -> Region:
        match node.op:
            case "for":
                return self._loop(node)
            case "buffer":
                return declaration(node)
            case "proc" | "kernel":
                return self._procedure(node)
            case "block":
                return self._gather(node.args)
            case "program":
                return Region()
        region = self._gather(_without_buffers(node))
        if node.op in ("call", "launch"):
            callee = text_of(node, "callee") or text_of(node, "kernel")
            region.callees = plus_calls(region.callees, {callee: 1})
            region.call_sites += 1
        return region

    def _gather(self, nodes: Sequence[ProgramNode]) -> Region:
        """The region of ``nodes`` in a row."""
        lines, regions = self._lines, self._regions
        loads = stores = flops = moved = 0
        parts: list[Region] = []
        for node in nodes:
            line = lines[node]
            if line is _IN_REGIONS:
                parts.append(regions[node])
            else:
                a, b, c, d = line
                loads += a
                stores += b
                flops += c
                moved += d
        return join((loads, stores, flops, moved), parts)

    def _loop(self, node: ProgramNode) -> Region:
        rng, *body = node.args
        elements = integer_of(node, "vector_count") if "vector_helper" in node.attrs else None
        if elements is not None:
            # A loop over chunks of nothing but a loop over lanes: together once per element.
            region = self._gather(body[0].args[1:])
            region.repeat(elements)
            region.loops += 2
            return region
        region = self._gather(body)
        region.enclose(rng)
        region.loops += 1
        bounds = self._lines[rng]
        if bounds != NOTHING:
            region.line = plus(region.line, bounds)
            region.sites = plus(region.sites, bounds)
        return region

    def _procedure(self, node: ProgramNode) -> Region:
        parameters = integer_of(node, "param_count") or 0
        region = self._gather(node.args[parameters:])
        region.buffers += parameters
        tables = constant_tables(node) if region.opens else {}
        procedure = close(text_of(node, "name"), region, tables)
        procedure.workspace = integer_of(node, "sz_w")
        procedure.is_host = node.op == "proc"
        self._procedures[node] = procedure
        return region

    def _total(self, root: ProgramNode) -> Counts:
        is_program = root.op == "program"
        procedures = []
        for part in root.args if is_program else (root,):
            each = self._procedures.get(part)
            if each is None:
                each = close("", self._gather((part,)), {})
                each.is_host = not is_program
            procedures.append(each)
        kinds = self._unknown.get(root, ())
        return _count(procedures, Solvers.of(root), kinds)


def _count(procedures: Sequence[Procedure], solvers: Solvers, unknown: Iterable[str]) -> Counts:
    """The counts of a program of these procedures and solvers, in which are unknown kinds."""
    by_name = {each.name: each for each in procedures}
    entry = None
    if solvers.root is None:
        entry = next((each for each in reversed(procedures) if each.is_host), None)
    oracles = [by_name[name] for name in solvers.all_oracles() if name in by_name]
    roots = list({each.name: each for each in (*oracles, *((entry,) if entry else ()))}.values())
    runs, recursive = runs_of(roots, by_name)
    run, calls = NOTHING, 0
    for each in roots:
        line, calls_within = runs[each.name]
        run = plus(run, line)
        calls += calls_within
    text = join(NOTHING, [each.region for each in procedures])
    uncounted = [f"unknown node kind {kind}" for kind in unknown]
    if solvers.root is not None:
        uncounted.append(f"solver {solvers.root}: {solvers.unknown(solvers.root)}")
    for each in procedures:
        if each.name in runs:
            uncounted += each.uncounted
            uncounted += uncounted_calls(each, by_name, solvers, recursive)
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


def _workspace_bytes(
    entry: Procedure | None, by_name: Mapping[str, Procedure], solvers: Solvers
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


def _without_buffers(node: ProgramNode) -> list[ProgramNode]:
    """The arguments of a node that declares nothing: a buffer there is a pointer to it."""
    return [arg for arg in node.args if arg.op != "buffer"]
