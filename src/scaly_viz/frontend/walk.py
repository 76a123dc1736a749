"""Owns walking scaly's graphs: each node once, after its arguments, and without recursion."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Protocol, Self

from scaly_viz.frontend.pace import CHUNK, Pace


class Node(Protocol):
    """What scaly's expressions and program nodes have in common; both are hashed by identity."""

    @property
    def args(self) -> tuple[Self, ...]:
        """The nodes it is made of."""


def unknown_below[N: Node](roots: Iterable[N], known: Collection[N], pace: Pace) -> list[N]:
    """Return the nodes below ``roots`` that are not ``known``, each after its arguments, first one first.

    What is below a known node is taken to be known.
    """
    nodes: list[N] = []
    entered: list[tuple[N, Iterator[N]]] = []
    seen: set[N] = set()
    siblings = iter(roots)
    rest_at = CHUNK
    while True:
        for node in siblings:
            if node in seen or node in known:
                continue
            seen.add(node)
            args = node.args
            if args:
                entered.append((node, siblings))
                siblings = iter(args)
                break
            nodes.append(node)
        else:
            if not entered:
                return nodes
            node, siblings = entered.pop()
            nodes.append(node)
            if len(nodes) >= rest_at:
                pace()
                rest_at = len(nodes) + CHUNK
