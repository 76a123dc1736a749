"""Owns the graphs of one recording: the table that its steps continue, and why one cannot be rebuilt."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from scaly_viz.errors import PayloadError
from scaly_viz.graph_table import GraphDelta, GraphTable, decode


@dataclass(frozen=True, slots=True)
class GraphSource:
    """The graph payload of one step: where it stands, its digest, and how to read it.

    ``data`` is None where the step should have a graph, and it is not there.
    """

    where: str
    digest: str
    data: Callable[[], bytes] | None


class GraphChain:
    """The graphs of a recording's steps, in their order; each continues the table of those before it."""

    def __init__(self, sources: Iterable[GraphSource]) -> None:
        self._table = GraphTable()
        self._deltas: dict[str, GraphDelta] = {}
        self._causes: dict[str, str] = {}
        self._broken = ""
        for source in sources:
            if source.digest not in self._deltas:
                self._extend(source)

    def delta(self, digest: str) -> tuple[GraphTable, GraphDelta]:
        """Return the table, and what the step whose payload has ``digest`` adds to it.

        Raises:
            PayloadError: the payload, or one that it builds on, cannot be read; it says which and why.
        """
        delta = self._deltas.get(digest)
        if delta is None:
            raise PayloadError(self._causes.get(digest, "its graph is missing"))
        return self._table, delta

    def _extend(self, source: GraphSource) -> None:
        if source.data is None:
            self._broken = self._broken or f"the graph of {source.where} is missing"
            return
        try:
            delta = decode(source.data())
        except PayloadError as error:
            self._causes[source.digest] = str(error)
            self._broken = self._broken or f"the graph of {source.where} cannot be read: {error}"
            return
        try:
            self._table.extend(delta)
        except PayloadError as error:
            cause = f"it builds on others, and {self._broken}" if self._broken else str(error)
            self._causes[source.digest] = cause
            self._broken = self._broken or f"the graph of {source.where} cannot be read: {error}"
            return
        self._deltas[source.digest] = delta
