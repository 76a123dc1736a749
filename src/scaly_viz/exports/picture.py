"""Owns what is drawn of a step's graph: boxes for its outline, opened as the viewer opens it, and their edges."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from scaly_viz.analysis import entries as e
from scaly_viz.analysis.outline import Outline, OutlineNodes, group, outline
from scaly_viz.recording import Recording, Step

FOLDED = "folded"
OPEN = "open"
LEAF = "leaf"

# A function of an expression graph is opened whatever else there is, unless it has more members.
_MOST_MEMBERS = 120


@dataclass(slots=True)
class Box:
    """An entry of the outline that is drawn. ``parent`` is the number of the open box around it, -1 for none.

    ``note`` says how much is in a group; ``state`` is 0 for what the step before had too, 1 for what is
    new, 2 for what holds something new.
    """

    title: str
    note: str
    kind: str
    shape: str
    state: int
    parent: int
    members: list[int] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Edge:
    """Box ``source`` feeds box ``target``, or calls it; ``label`` names by which buffers."""

    source: int
    target: int
    is_call: bool
    label: str


@dataclass(frozen=True, slots=True)
class Picture:
    """Boxes in reading order, each after the one around it, and edges between them."""

    title: str
    boxes: list[Box]
    edges: list[Edge]
    notes: list[str]


def picture_of(recording: Recording, step: Step, most: int) -> Picture:
    """Return the picture of the graph of ``step`` with about ``most`` boxes.

    Groups are opened level by level, a whole level or none of it, as long as there is room.

    Raises:
        PayloadError: the step has no graph, or it cannot be rebuilt.
    """
    found = outline(group(recording, step), step)
    tree = _Tree(found)
    opened = _opened(tree, most)
    boxes, place = _boxes(tree, opened)
    notes = [*found.problems]
    folded = sum(tree.end[i] - i - 1 for i in place if i not in opened)
    if folded:
        notes.append(f"{folded:,} boxes are folded")
    if tree.idle:
        notes.append(f"{len(tree.idle):,} unused declarations are left out")
    title = f"{recording.name}: {step.name}"
    return Picture(title, boxes, _edges(tree, place, opened, boxes), notes)


class _Tree:
    """An outline with what is below each entry: those from it up to ``end``."""

    def __init__(self, found: Outline) -> None:
        self.outline = found
        self.nodes: OutlineNodes = found.nodes
        count = len(found.nodes.id)
        self.end: list[int] = [*range(1, count + 1)]
        for i in range(count - 1, 0, -1):
            parent = found.nodes.parent[i]
            self.end[parent] = max(self.end[parent], self.end[i])
        used = {*found.edges.source, *found.edges.target}
        self.idle = {
            i for i, kind in enumerate(found.nodes.kind) if kind == e.BUFFER and i not in used
        }

    def members(self, entry: int) -> Iterator[int]:
        """Yield what is drawn directly in ``entry``."""
        i = entry + 1
        while i < self.end[entry]:
            if i not in self.idle:
                yield i
            i = self.end[i]

    def is_group(self, entry: int) -> bool:
        return self.end[entry] > entry + 1


def _opened(tree: _Tree, most: int) -> set[int]:
    opened: set[int] = set()
    level = [0] if tree.nodes.id else []
    total = 0
    while level:
        groups = [entry for entry in level if tree.is_group(entry)]
        inside = {entry: [*tree.members(entry)] for entry in groups}
        fits = total + sum(map(len, inside.values())) <= most
        level = []
        for entry in groups:
            if fits or _is_always_open(tree, entry):
                opened.add(entry)
                total += len(inside[entry])
                level += inside[entry]
    return opened


def _is_always_open(tree: _Tree, entry: int) -> bool:
    """The whole, and the function that a step is about, behind which its callees are read."""
    if entry == 0:
        return True
    if entry != 1 or tree.nodes.kind[1] != e.FUNCTION:
        return False
    return len([*tree.members(1)]) <= _MOST_MEMBERS


def _boxes(tree: _Tree, opened: set[int]) -> tuple[list[Box], dict[int, int]]:
    boxes: list[Box] = []
    place: dict[int, int] = {}
    stack = [0] if tree.nodes.id else []
    while stack:
        entry = stack.pop()
        if entry in opened:
            stack += reversed([*tree.members(entry)])
        # The program itself is the paper.
        if entry == 0 and tree.is_group(0) and tree.nodes.kind[0] == e.PROGRAM:
            continue
        parent = place.get(tree.nodes.parent[entry], -1)
        place[entry] = len(boxes)
        if parent >= 0:
            boxes[parent].members.append(len(boxes))
        boxes.append(_box(tree, entry, entry in opened, parent))
    return boxes, place


def _box(tree: _Tree, entry: int, is_open: bool, parent: int) -> Box:
    is_group = tree.is_group(entry)
    return Box(
        title=tree.nodes.title[entry],
        note=_note(tree.nodes, entry) if is_group else "",
        kind=tree.nodes.kind[entry],
        shape=OPEN if is_open else FOLDED if is_group else LEAF,
        state=tree.nodes.changed[entry],
        parent=parent,
    )


def _note(nodes: OutlineNodes, entry: int) -> str:
    trips, count, changed = (
        column[entry] for column in (nodes.trips, nodes.node_count, nodes.changed_count)
    )
    parts = [f"\N{MULTIPLICATION SIGN}{trips:,}"] if trips >= 0 else []
    # Each node counts where it is first used: a loop that stands twice has them at its first place.
    parts.append(f"{count:,} {'node' if count == 1 else 'nodes'}" if count else "shared")
    parts += [f"{changed:,} changed"] if changed else []
    return " · ".join(parts)


def _edges(
    tree: _Tree, place: dict[int, int], opened: set[int], boxes: Sequence[Box]
) -> list[Edge]:
    """Lead each edge to the boxes in which its ends are shown; those between the same two are one."""
    shown = [-1] * len(tree.end)
    for entry, box in place.items():
        end = entry + 1 if entry in opened else tree.end[entry]
        shown[entry:end] = [box] * (end - entry)
    edges = tree.outline.edges
    labels: dict[tuple[int, int, bool], dict[str, None]] = {}
    for source, target, label in zip(edges.source, edges.target, edges.label, strict=True):
        ends = (shown[source], shown[target], False)
        labels.setdefault(ends, {})[edges.labels[label]] = None
    for caller, callee in edges.calls:
        labels.setdefault((shown[caller], shown[callee], True), {})["calls"] = None
    return [
        Edge(source, target, is_call, _named([*names]))
        for (source, target, is_call), names in labels.items()
        if _are_apart(boxes, source, target)
    ]


def _are_apart(boxes: Sequence[Box], one: int, other: int) -> bool:
    return one >= 0 and other >= 0 and not (_is_in(boxes, one, other) or _is_in(boxes, other, one))


def _is_in(boxes: Sequence[Box], inner: int, outer: int) -> bool:
    while inner >= 0:
        if inner == outer:
            return True
        inner = boxes[inner].parent
    return False


def _named(names: list[str]) -> str:
    names = [name for name in names if name] or [""]
    return names[0] if len(names) == 1 else f"{names[0]} +{len(names) - 1:,}"
