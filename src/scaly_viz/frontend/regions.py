"""Owns the counts of code with statements in it: what it runs, what waits for its loops, what it holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from types import MappingProxyType

from scaly_viz.frontend.program_nodes import ProgramNode
from scaly_viz.frontend.straight_line import NOTHING, Line
from scaly_viz.frontend.trips import DEEPEST, constant_trips

_NO_CALLS: Mapping[str, int] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Open:
    """Code that runs once per value of ``range``, or so many ``times``, and what in it is open as well.

    A tree, so that enclosing what is open costs the same however deep and however much that is.
    """

    range: ProgramNode | None
    times: int
    line: Line
    callees: Mapping[str, int]
    within: tuple[Open, ...]


@dataclass(slots=True)
class Region:
    """Code with statements in it: what it surely runs, what waits for its loops, what it holds."""

    line: Line = NOTHING
    callees: Mapping[str, int] = _NO_CALLS
    opens: tuple[Open, ...] = ()
    sites: Line = NOTHING
    call_sites: int = 0
    loops: int = 0
    buffers: int = 0
    private_bytes: int = 0

    def repeat(self, times: int) -> None:
        """Run all of it so many times."""
        a, b, c, d = self.line
        self.line = (a * times, b * times, c * times, d * times)
        self.callees = plus_calls(_NO_CALLS, self.callees, times)
        if self.opens and times != 1:
            self.opens = (Open(None, times, NOTHING, _NO_CALLS, self.opens),)

    def enclose(self, rng: ProgramNode) -> None:
        """Run all of it once per value of ``rng``."""
        opens, self.opens = self.opens, ()
        trips = constant_trips(rng)
        if trips is None:
            self.opens = (Open(rng, 1, self.line, self.callees, opens),)
            trips = 0
        elif opens:
            self.opens = (Open(rng, 1, NOTHING, _NO_CALLS, opens),)
        opens, self.opens = self.opens, ()
        self.repeat(trips)
        self.opens = opens


@dataclass(slots=True)
class Waiting:
    """Code in nested loops, of which not all have constant bounds; outermost loop first."""

    ranges: Sequence[ProgramNode]
    times: int
    line: Line
    callees: Mapping[str, int]


def waiting(region: Region) -> Iterator[Waiting]:
    """What of ``region`` waits for its loops, in the order of the text."""
    stack = [(each, 1, 0) for each in reversed(region.opens)]
    path: list[ProgramNode] = []
    while stack:
        each, times, depth = stack.pop()
        del path[depth:]
        times *= each.times
        if each.range is not None:
            path.append(each.range)
            if constant_trips(each.range) is None:
                yield Waiting(path[: DEEPEST + 1], times, each.line, each.callees)
        stack += [(inner, times, len(path)) for inner in reversed(each.within)]


_DECLARED = Region(buffers=1)


def declaration(node: ProgramNode) -> Region:
    """The region of a node that declares a buffer."""
    attrs = node.attrs
    if attrs.get("address_space") not in ("private", "local"):
        return _DECLARED
    if "alias_of" in attrs or "workspace_offset" in attrs:
        return _DECLARED
    shape = attrs.get("shape")
    # C has no empty array, so the printer declares one element.
    elements = (prod(shape) if isinstance(shape, tuple) else 0) or 1
    return Region(buffers=1, private_bytes=elements * (node.dtype.bits >> 3))


def join(straight: Line, parts: Sequence[Region]) -> Region:
    """The region of straight-line code and parts that are regions."""
    joined = Region()
    loads, stores, flops, moved = straight
    load_sites, store_sites, flop_sites, moved_once = straight
    for part in parts:
        joined.buffers += part.buffers
        joined.private_bytes += part.private_bytes
        if part.sites is not NOTHING:
            a, b, c, d = part.line
            loads, stores, flops, moved = loads + a, stores + b, flops + c, moved + d
            a, b, c, d = part.sites
            load_sites, store_sites, flop_sites = load_sites + a, store_sites + b, flop_sites + c
            moved_once += d
        if part.loops:
            joined.loops += part.loops
            joined.opens += part.opens
        if part.call_sites:
            joined.call_sites += part.call_sites
            joined.callees = plus_calls(joined.callees, part.callees)
    joined.line = loads, stores, flops, moved
    joined.sites = load_sites, store_sites, flop_sites, moved_once
    return joined


def plus_calls(
    calls: Mapping[str, int], other: Mapping[str, int], times: int = 1
) -> Mapping[str, int]:
    """How often each procedure is called by ``calls`` and, so many times, by ``other``."""
    if not other:
        return calls
    return {**calls, **{name: calls.get(name, 0) + n * times for name, n in other.items()}}
