"""Owns the tree that groups the nodes of a graph, while it is built: what encloses what, in reading order."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

from scaly_viz.analysis.graph_names import LONGEST, short

PROGRAM = "program"
PROCEDURE = "procedure"
INPUT = "input"
OUTPUT = "output"
PARAMETER = "parameter"
LOOP = "loop"
STATEMENT = "statement"
BUFFER = "buffer"
FUNCTION = "function"
OPERATION = "operation"
RUN = "run"

# So many boxes can be told apart at a glance; what has more is shown as runs of neighbors.
_MOST_CHILDREN = 120
_RUN = 40


@dataclass(slots=True, eq=False)
class Entry:
    """A group or a leaf. ``node`` is the graph node that it stands for, -1 for none; ``line`` is 1-based.

    ``calls`` holds the names of the procedures or functions that it calls; ``label`` is what it is
    called at the ends of a run, if not by its name; ``value`` is what a line of the assembly calls it.
    """

    kind: str
    title: str
    name: str
    node: int = -1
    line: int = 0
    trips: int = -1
    calls: tuple[str, ...] = ()
    label: str = ""
    value: str = ""
    children: list[Entry] = field(default_factory=list)
    number: int = -1


def bundled(entry: Entry) -> None:
    """Put neighbors into runs wherever an entry below has more children than one can look at."""
    stack = [entry]
    while stack:
        each = stack.pop()
        while len(each.children) > _MOST_CHILDREN:
            each.children = _shortened(each.children)
        stack += each.children


def _shortened(children: list[Entry]) -> list[Entry]:
    """Put the members between the parameters into runs, and these too where there are too many."""
    given = [each for each in children if each.kind in (INPUT, PARAMETER)]
    made = [each for each in children if each.kind == OUTPUT]
    if len(given) + len(made) > _RUN:
        return _runs(children)
    between = [each for each in children if each.kind not in (INPUT, PARAMETER, OUTPUT)]
    return [*given, *_runs(between), *made]


def _runs(children: list[Entry]) -> list[Entry]:
    """Return runs, about as many as each has members."""
    size = max(_RUN, math.isqrt(len(children)))
    return [_run(children[i : i + size]) for i in range(0, len(children), size)]


def _run(members: list[Entry]) -> Entry:
    if len(members) == 1:
        return members[0]
    first, last = _ends(members[0])[0], _ends(members[-1])[1]
    title = first if first == last else f"{first} … {last}"
    return Entry(RUN, short(title), "", line=members[0].line, children=members)


def _ends(entry: Entry) -> tuple[str, str]:
    if entry.kind == RUN:
        return _ends(entry.children[0])[0], _ends(entry.children[-1])[1]
    label = short(entry.label or entry.name or entry.title, 60)
    return label, label


def preorder(entry: Entry) -> Iterator[tuple[Entry, Entry | None]]:
    """Yield each entry with what encloses it, in reading order."""
    stack: list[tuple[Entry, Entry | None]] = [(entry, None)]
    while stack:
        each, parent = stack.pop()
        yield each, parent
        if each.children:
            stack.extend((child, each) for child in reversed(each.children))


def keys_of(entries: list[tuple[Entry, Entry | None]]) -> list[str]:
    """Return for each entry a key that the same place has in other steps too, as far as names go."""
    keys: list[str] = []
    counts: dict[str, int] = {}
    for each, parent in entries:
        own = "run" if each.kind == RUN else each.name or each.title.partition(" ")[0]
        base = "" if parent is None else keys[parent.number]
        key = f"{base}/{short(own, 60)}" if base else short(own, 60) or each.kind
        if len(key) > 4 * LONGEST:
            key = f"{len(keys)}"
        count = counts[key] = counts.get(key, 0) + 1
        keys.append(key if count == 1 else f"{key}:{count}")
    return keys
