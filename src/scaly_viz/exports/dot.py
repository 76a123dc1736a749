"""Owns the export of a step's graph to Graphviz's language (https://graphviz.org/doc/info/lang.html)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from scaly_viz.exports.chosen import Chosen
from scaly_viz.exports.formats import Options
from scaly_viz.exports.picture import FOLDED, OPEN, Box, Edge, Picture, picture_of
from scaly_viz.exports.steps import step_with
from scaly_viz.recording import GRAPH

_COLORS = {0: ("#ffffff", "#6a737d"), 1: ("#e9f7ec", "#166c2e"), 2: ("#fcf4e0", "#7a5200")}
_SIGNS = ("", "+ ", "~ ")


def write(chosen: Iterable[Chosen], options: Options) -> Iterator[bytes]:
    """Yield a directed graph with a cluster for each open group."""
    for each in chosen:
        step = step_with(each.recording, options, GRAPH)
        picture = picture_of(each.recording, step, options.boxes)
        yield "".join(f"{line}\n" for line in _lines(picture)).encode("utf-8", "replace")


def _lines(picture: Picture) -> Iterator[str]:
    yield f"// {_one_line(picture.title)}"
    yield from (f"// {_one_line(note)}" for note in picture.notes)
    yield f"digraph {quoted(picture.title)} {{"
    yield "  compound=true; rankdir=TB;"
    yield '  node [shape=box, style="rounded,filled", fontname="monospace", fontsize=10];'
    yield '  edge [color="#6a737d", fontname="monospace", fontsize=8];'
    yield '  graph [fontname="monospace", fontsize=10, style="rounded,filled"];'
    yield from _boxes(picture)
    for edge in picture.edges:
        yield f"  {_edge(picture, edge)}"
    yield "}"


def _boxes(picture: Picture) -> Iterator[str]:
    """Yield a node a box, and a cluster around the members of each open one."""
    around: list[int] = []
    for number, box in enumerate(picture.boxes):
        while around and around[-1] != box.parent:
            yield f"{_indent(around)}}}"
            around.pop()
        fill, line = _COLORS[box.state]
        if box.shape == OPEN:
            around.append(number)
            yield f"{_indent(around)}subgraph cluster_{number} {{"
            yield f"{_indent(around)}  label={_label(box)}; labeljust=l;"
            yield f'{_indent(around)}  fillcolor="#f5f6f8"; color="{line}";'
            if not box.members:
                yield f'{_indent(around)}  n{number} [label="", shape=point, style=invis];'
        else:
            sides = ", peripheries=2" if box.shape == FOLDED else ""
            look = f'fillcolor="{fill}", color="{line}"{sides}'
            yield f"{_indent(around)}  n{number} [label={_label(box)}, {look}];"
    for i in range(len(around), 0, -1):
        yield f"{_indent(around[:i])}}}"


def _indent(around: Sequence[int]) -> str:
    return "  " * len(around)


def _edge(picture: Picture, edge: Edge) -> str:
    attributes = [f"label={quoted(edge.label)}"] if edge.label else []
    if edge.is_call:
        attributes.append("style=dashed")
    # Graphviz draws to clusters what leads to a node in them, cut off at the border.
    source, target = _node_in(picture, edge.source), _node_in(picture, edge.target)
    if source != edge.source:
        attributes.append(f"ltail=cluster_{edge.source}")
    if target != edge.target:
        attributes.append(f"lhead=cluster_{edge.target}")
    return f"n{source} -> n{target} [{', '.join(attributes)}];"


def _node_in(picture: Picture, number: int) -> int:
    while picture.boxes[number].members:
        number = picture.boxes[number].members[0]
    return number


def _label(box: Box) -> str:
    return quoted(f"{_SIGNS[box.state]}{box.title}" + (f"\n{box.note}" if box.note else ""))


def quoted(text: str) -> str:
    """Return ``text`` as a quoted string that shows what it is: no escape in it means anything to Graphviz."""
    shown = "".join(c if c.isprintable() or c == "\n" else "\ufffd" for c in text)
    # A label can hold entities of HTML, too.
    escaped = shown.replace("&", "&amp;").replace("\\", "\\\\").replace('"', '\\"')
    return '"' + escaped.replace("\n", "\\n") + '"'


def _one_line(text: str) -> str:
    return "".join(c if c.isprintable() else " " for c in text)
