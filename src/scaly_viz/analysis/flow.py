"""Owns which statement feeds which: who wrote last what a statement reads, by buffer and element.

A write to one constant element hides earlier writes to that element; a loop that passes as often as
the buffer has elements, or a statement that also reads the buffer, hides all of them. Where a loop's
body reads what a later statement of the body writes, the way back is not followed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from scaly_viz.analysis import entries as e
from scaly_viz.analysis.entries import Entry
from scaly_viz.analysis.graph_names import constant_integer, integer_of, name_of, text_of
from scaly_viz.analysis.program_entries import elements_of
from scaly_viz.graph_rows import GraphRows

# More writers of what one statement reads are counted, not drawn.
_MOST_SOURCES = 6
_MOST_VISITS = 4_000_000

type _Use = tuple[str, int | None]


@dataclass(slots=True)
class Flow:
    """Edges between entries; ``omitted`` are left out, because one statement has too many.

    ``is_cut`` tells that the program was too big to follow to its end.
    """

    edges: list[tuple[Entry, Entry, str]] = field(default_factory=list)
    omitted: int = 0
    is_cut: bool = False


class _Write(NamedTuple):
    name: str
    element: int | None = None
    whole: bool = False


@dataclass(frozen=True, slots=True)
class _Uses:
    """What a statement reads and writes: names, each with its element where that is constant."""

    reads: list[_Use]
    writes: list[_Write]


def program_flow(graph: GraphRows, root: Entry) -> Flow:
    """Return the flow within each procedure of a program's tree, whose runs are not yet made."""
    flow = Flow()
    follower = _Follower(graph, flow)
    for procedure in root.children if root.kind == e.PROGRAM else [root]:
        follower.procedure(procedure)
    return flow


def function_flow(graph: GraphRows, root: Entry) -> Flow:
    """Return the flow within each function: from argument to user."""
    flow = Flow()
    for function in root.children if root.kind == e.PROGRAM else [root]:
        by_node = {each.node: each for each in function.children}
        flow.edges += [
            (by_node[arg], each, "")
            for each in function.children
            for arg in dict.fromkeys(graph.args[each.node])
            if arg in by_node
        ]
    return flow


@dataclass(slots=True)
class _Follower:
    graph: GraphRows
    flow: Flow
    visits: int = 0
    writers: dict[str, dict[int | None, list[Entry]]] = field(default_factory=dict)
    owners: dict[str, str] = field(default_factory=dict)
    sizes: dict[str, int | None] = field(default_factory=dict)

    def procedure(self, procedure: Entry) -> None:
        self.writers, self.owners, self.sizes = {}, {}, {}
        stack = [(each, 1) for each in reversed(procedure.children)]
        while stack:
            entry, passes = stack.pop()
            if entry.kind in (e.BUFFER, e.INPUT, e.PARAMETER):
                self._declare(entry)
            elif entry.kind == e.OUTPUT:
                self._read(entry, (entry.name, None), most=1 << 20)
            elif entry.kind == e.LOOP:
                rng = self.graph.args[entry.node][0]
                for use in self._uses(rng).reads:
                    self._read(entry, use)
                inner = passes * entry.trips if entry.trips >= 0 and passes >= 0 else -1
                stack += [(each, inner) for each in reversed(entry.children)]
            elif entry.node >= 0:
                self._statement(entry, passes)

    def _declare(self, entry: Entry) -> None:
        kind = self.graph.kinds[self.graph.kind[entry.node]]
        alias = text_of(kind, "alias_of")
        if alias and alias != entry.name:
            self.owners[entry.name] = alias
            return
        self.sizes[entry.name] = elements_of(kind)
        is_given = entry.kind != e.BUFFER or text_of(kind, "address_space") == "constant"
        if is_given:
            self.writers[entry.name] = {None: [entry]}

    def _statement(self, entry: Entry, passes: int) -> None:
        uses = self._uses(entry.node)
        for use in uses.reads:
            self._read(entry, use)
        read = {self._owner(name) for name, _ in uses.reads}
        for name, element, whole in uses.writes:
            owner = self._owner(name)
            known = self.writers.setdefault(owner, {})
            size = self.sizes.get(owner)
            fills = size is not None and passes >= size and owner == name
            if element is not None and owner == name:
                known[element] = [entry]
            elif whole or owner in read or fills:
                self.writers[owner] = {None: [entry]}
            elif entry not in (latest := known.setdefault(None, []))[-1:]:
                latest.append(entry)

    def _read(self, entry: Entry, use: _Use, most: int = _MOST_SOURCES) -> None:
        name, element = use
        owner = self._owner(name)
        known = self.writers.get(owner)
        if not known:
            return
        sources = [*known.get(None, ())]
        if element is None or owner != name:
            sources += [each for key, found in known.items() if key is not None for each in found]
        else:
            sources += known.get(element, ())
        sources = list(dict.fromkeys(each for each in sources if each is not entry))
        self.flow.omitted += max(0, len(sources) - most)
        self.flow.edges += [(source, entry, name) for source in sources[-most:]]

    def _owner(self, name: str) -> str:
        for _ in range(len(self.owners)):
            if name not in self.owners:
                break
            name = self.owners[name]
        return name

    def _uses(self, node: int) -> _Uses:
        """Return what the statement at ``node`` reads and writes."""
        graph = self.graph
        kind, args = graph.kinds[graph.kind[node]], graph.args[node]
        if kind.title in ("STORE", "STORE_PAIR") and args:
            reads = self._reads([*args[1:], *graph.args[args[0]]])
            name, element = self._view(args[0])
            return _Uses(reads, [_Write(name, element if kind.title == "STORE" else None)])
        if kind.title == "ASSIGN":
            return _Uses(self._reads([*args]), [_Write(text_of(kind, "target"), whole=True)])
        if kind.title in ("CALL", "LAUNCH"):
            return self._call(node)
        return _Uses(self._reads([*args]), [])

    def _call(self, node: int) -> _Uses:
        graph = self.graph
        kind, args = graph.kinds[graph.kind[node]], graph.args[node]
        taken = integer_of(kind, "n_in")
        made = integer_of(kind, "n_out")
        first = len(args) if taken is None else taken
        last = first + (len(args) if made is None else made)
        reads = self._reads([*args[: first if taken is not None else None]])
        outputs = args[0 if taken is None else first : last]
        writes: list[_Write] = []
        for arg in outputs:
            title = graph.kinds[graph.kind[arg]].title
            if title == "BUFFER":
                writes.append(_Write(name_of(graph.kinds[graph.kind[arg]]), whole=True))
            elif title == "VIEW":
                writes.append(_Write(self._view(arg)[0]))
        returns = kind.attributes.get("returns")
        if isinstance(returns, list):
            writes += [_Write(name, whole=True) for name in returns if isinstance(name, str)]
        return _Uses(reads, writes)

    def _reads(self, nodes: list[int]) -> list[_Use]:
        graph = self.graph
        seen = set(nodes)
        found: dict[_Use, None] = {}
        while nodes and self.visits < _MOST_VISITS:
            node = nodes.pop()
            self.visits += 1
            kind = graph.kinds[graph.kind[node]]
            if kind.title == "VIEW":
                found[self._view(node)] = None
            elif kind.title in ("VAR", "BUFFER"):
                found[name_of(kind), None] = None
            for arg in graph.args[node]:
                if arg not in seen:
                    seen.add(arg)
                    nodes.append(arg)
        self.flow.is_cut |= bool(nodes)
        return [*found]

    def _view(self, node: int) -> _Use:
        kind, args = self.graph.kinds[self.graph.kind[node]], self.graph.args[node]
        element = constant_integer(self.graph, args[0]) if len(args) == 1 else None
        return text_of(kind, "buffer"), element
