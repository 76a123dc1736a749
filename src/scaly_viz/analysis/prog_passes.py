"""Owns how often the loops of a procedure run, as far as its text tells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from scaly_viz.analysis.prog_nodes import Node
from scaly_viz.analysis.text_model import LARGEST, Loop
from scaly_viz.frontend.trips import DEEPEST, Nests, UncountableError, constant_trips


@dataclass(slots=True)
class Nest:
    """A loop with its bounds and the loop around it.

    ``lanes`` is the number of elements of a loop over vector lanes; the loop over chunks around it
    ``is_chunks``: the two together pass once per element.
    """

    loop: Loop
    range: Node
    around: Nest | None
    lanes: int | None = None
    is_chunks: bool = False


def count_passes(nests: Sequence[Nest], tables: Mapping[str, Sequence[int]]) -> None:
    """Set trips and passes of ``nests``, outer loops first, of a procedure whose constants are ``tables``."""
    known = Nests(tables)
    for nest in nests:
        _count(nest, known)


def _count(nest: Nest, nests: Nests) -> None:
    loop, around = nest.loop, nest.around
    if nest.is_chunks:
        loop.chunks = True
        return
    if nest.lanes is not None and around is not None and around.is_chunks:
        outer = _passes(around.around)
        loop.trips, loop.per_element = nest.lanes, True
        loop.passes = None if outer is None else min(LARGEST, outer * nest.lanes)
        return
    outer = _passes(around)
    trips = constant_trips(nest.range)
    if trips is not None:
        loop.trips = min(LARGEST, trips)
        outer = 0 if trips == 0 else outer
        loop.passes = None if outer is None else min(LARGEST, outer * trips)
        return
    try:
        loop.passes = min(LARGEST, nests.passes(_ranges(nest)))
    except UncountableError:
        return
    if outer:
        each, rest = divmod(loop.passes, outer)
        loop.trips = each if rest == 0 and _is_fixed(nest, nests) else None


def _passes(nest: Nest | None) -> int | None:
    return 1 if nest is None else nest.loop.passes


def _is_fixed(nest: Nest, nests: Nests) -> bool:
    """Whether the loop runs as often each time: its bounds read no loop around it."""
    try:
        nests.passes([nest.range])
    except UncountableError:
        return False
    return True


def _ranges(nest: Nest) -> list[Node]:
    """The bounds of the loops from the outermost to ``nest``; lanes in the place of their chunks."""
    ranges: list[Node] = []
    current: Nest | None = nest
    while current is not None and len(ranges) <= DEEPEST:
        if current.lanes is not None and current.around is not None and current.around.is_chunks:
            ranges.append(_elements(current))
            current = current.around.around
        else:
            ranges.append(current.range)
            current = current.around
    return ranges[::-1]


def _elements(nest: Nest) -> Node:
    bounds = tuple(Node("const_int", (), {"value": each}) for each in (0, nest.lanes, 1))
    return Node("range", bounds, nest.range.attrs)
