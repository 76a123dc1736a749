"""Owns the export of a step's graph as a picture: SVG, as the viewer draws it in its light colors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from scaly_viz.exports.chosen import Chosen
from scaly_viz.exports.formats import Options
from scaly_viz.exports.layered import layered
from scaly_viz.exports.picture import FOLDED, LEAF, OPEN, Box, Picture, picture_of
from scaly_viz.exports.steps import step_with
from scaly_viz.recording import GRAPH

# Width of a character of the boxes' font, 12 px monospace.
_CHARACTER = 7.23
_SMALL = 0.92
_LONGEST_TITLE = 40
_SIDE = 11.0
_LEAF_HEIGHT = 26.0
_GROUP_HEIGHT = 44.0
_HEADER = 28.0
_PADDING = 16.0
_MARGIN = 24.0
_PORT_STEP = 26.0
_PORT_MARGIN = 10.0

_FONT = "ui-monospace, 'DejaVu Sans Mono', monospace"
_TEXT, _QUIET, _LINE, _EDGE = "#1b1f24", "#57606a", "#d9dde2", "#5f6872"
_GROUND, _RAISED = "#ffffff", "#f5f6f8"
_FILLS = (_GROUND, "#e9f7ec", "#fcf4e0")
_STROKES = (_EDGE, "#166c2e", "#7a5200")
# So that no meaning hangs on color alone.
_SIGNS = ("", "+ ", "~ ")


def write(chosen: Iterable[Chosen], options: Options) -> Iterator[bytes]:
    """Yield the picture."""
    for each in chosen:
        step = step_with(each.recording, options, GRAPH)
        picture = picture_of(each.recording, step, options.boxes)
        yield "".join(f"{line}\n" for line in _lines(picture)).encode("utf-8", "replace")


@dataclass(slots=True)
class _Place:
    width: float
    height: float
    x: float = 0.0
    y: float = 0.0

    @property
    def middle(self) -> float:
        return self.x + self.width / 2


def _lines(picture: Picture) -> Iterator[str]:
    places, width, height = _arranged(picture)
    w, h = (f"{size + 2 * _MARGIN:.0f}" for size in (width, height))
    depth: list[int] = []
    for box in picture.boxes:
        depth.append(0 if box.parent < 0 else depth[box.parent] + 1)
    corner = f"{-_MARGIN:.0f}"
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{w}" height="{h}"'
        f' viewBox="{corner} {corner} {w} {h}" font-family="{_FONT}" font-size="12">'
    )
    yield f"<title>{escaped(picture.title)}</title>"
    if picture.notes:
        yield f"<desc>{escaped('; '.join(picture.notes))}</desc>"
    yield f'<rect x="{corner}" y="{corner}" width="{w}" height="{h}" fill="{_GROUND}"/>'
    # Open groups lie under the edges, all else above.
    for number, box in enumerate(picture.boxes):
        if box.shape == OPEN:
            yield _box(box, places[number], depth[number])
    yield from _edges(picture, places)
    for number, box in enumerate(picture.boxes):
        if box.shape != OPEN:
            yield _box(box, places[number], depth[number])
    yield "</svg>"


def _arranged(picture: Picture) -> tuple[list[_Place], float, float]:
    """Lay out each group after the groups in it, then move all to their places on the paper."""
    places = [_size(box) for box in picture.boxes]
    lifted = _lifted_edges(picture)
    outermost = [i for i, box in enumerate(picture.boxes) if box.parent < 0]
    width = height = 0.0
    for group in range(len(places) - 1, -2, -1):
        members = outermost if group < 0 else picture.boxes[group].members
        if not members:
            continue
        number = {box: i for i, box in enumerate(members)}
        layers = layered(
            [places[box].width for box in members],
            [places[box].height for box in members],
            [(number[source], number[target]) for source, target in lifted.get(group, ())],
        )
        left, top, room = 0.0, 0.0, 0.0
        if group < 0:
            width, height = layers.width, layers.height
        else:
            left, top = _PADDING, _HEADER + _PADDING / 2
            around = places[group]
            room = max(0.0, around.width - layers.width - 2 * left)
            around.width = max(around.width, layers.width + 2 * left)
            around.height = top + layers.height + _PADDING
        for member, x, y in zip(members, layers.x, layers.y, strict=True):
            places[member].x, places[member].y = left + room / 2 + x, top + y
    for place, box in zip(places, picture.boxes, strict=True):
        if box.parent >= 0:
            place.x += places[box.parent].x
            place.y += places[box.parent].y
    return places, width, height


def _size(box: Box) -> _Place:
    folded_note = len(box.note) * _SMALL if box.shape == FOLDED else 0
    sign = len(_SIGNS[box.state])
    letters = min(max(len(box.title) + sign, folded_note, 3), _LONGEST_TITLE)
    height = _GROUP_HEIGHT if box.shape == FOLDED else _LEAF_HEIGHT
    return _Place(2 * _SIDE + _CHARACTER * letters, height)


def _lifted_edges(picture: Picture) -> dict[int, dict[tuple[int, int], None]]:
    """Return the edges between the members of each group, of which one may hold the end of an edge."""
    boxes = picture.boxes
    found: dict[int, dict[tuple[int, int], None]] = {}
    for edge in picture.edges:
        ways = [_way(boxes, end) for end in (edge.source, edge.target)]
        for source, target in zip(*ways, strict=False):
            if source != target:
                found.setdefault(boxes[source].parent, {})[source, target] = None
                break
    return found


def _way(boxes: Sequence[Box], box: int) -> list[int]:
    """Return ``box`` and what is around it, outermost first."""
    way = []
    while box >= 0:
        way.append(box)
        box = boxes[box].parent
    return way[::-1]


def _box(box: Box, place: _Place, depth: int) -> str:
    is_open = box.shape == OPEN
    fill = (_GROUND if depth % 2 else _RAISED) if is_open else _FILLS[box.state]
    stroke = _LINE if is_open and not box.state else _STROKES[box.state]
    title = _cut(_SIGNS[box.state] + box.title, place.width - 2 * _SIDE + 2)
    middle = place.y + (15 if box.shape == FOLDED else (_HEADER if is_open else place.height) / 2)
    full = f"{box.title}\n{box.note}" if box.note else box.title
    thick = ' stroke-width="1.5"' if box.state else ""
    parts = [
        f"<g><title>{escaped(full)}</title>",
        f'<rect x="{place.x:.1f}" y="{place.y:.1f}" width="{place.width:.1f}"',
        f' height="{place.height:.1f}" rx="4" fill="{fill}" stroke="{stroke}"{thick}/>',
        _text(place.x + _SIDE, middle, title, _TEXT, 12, bold=box.shape != LEAF),
    ]
    if box.shape == FOLDED:
        note = _cut(box.note, place.width - 2 * _SIDE, _SMALL)
        parts.append(_text(place.x + _SIDE, place.y + 31, note, _QUIET, 11))
    return "".join([*parts, "</g>"])


def _text(x: float, y: float, content: str, fill: str, size: int, *, bold: bool = False) -> str:
    weight = ' font-weight="600"' if bold else ""
    # Names from a recording keep their writing direction to themselves.
    return (
        f'<text x="{x:.1f}" y="{y + size / 3:.1f}" fill="{fill}" font-size="{size}"{weight}'
        f' direction="ltr" unicode-bidi="isolate" xml:space="preserve">{escaped(content)}</text>'
    )


def _edges(picture: Picture, places: Sequence[_Place]) -> Iterator[str]:
    sources = _ports(picture, places, leaving=True)
    targets = _ports(picture, places, leaving=False)
    for i, edge in enumerate(picture.edges):
        source, target = places[edge.source], places[edge.target]
        x1, y1, x2, y2 = sources[i], source.y + source.height, targets[i], target.y
        bend = max(12.0, min(80.0, abs(y2 - y1) / 2))
        dash = ' stroke-dasharray="6 4"' if edge.is_call else ""
        yield (
            f"<g><title>{escaped(edge.label)}</title>"
            f'<path d="M{x1:.1f} {y1:.1f}C{x1:.1f} {y1 + bend:.1f} {x2:.1f} {y2 - bend:.1f}'
            f' {x2:.1f} {y2 - 4:.1f}" fill="none" stroke="{_EDGE}" stroke-opacity="0.7"{dash}/>'
            f'<path d="M{x2:.1f} {y2:.1f}l-3.5 -7h7z" fill="{_EDGE}"/></g>'
        )


def _ports(picture: Picture, places: Sequence[_Place], *, leaving: bool) -> dict[int, float]:
    """Return where edges touch boxes: side by side in the order of their other ends."""
    hanging: dict[int, list[tuple[float, int]]] = {}
    for i, edge in enumerate(picture.edges):
        here, there = (edge.source, edge.target) if leaving else (edge.target, edge.source)
        hanging.setdefault(here, []).append((places[there].middle, i))
    found: dict[int, float] = {}
    for box, ends in hanging.items():
        step = min(_PORT_STEP, (places[box].width - 2 * _PORT_MARGIN) / len(ends))
        for position, (_, i) in enumerate(sorted(ends)):
            found[i] = places[box].middle + (position - (len(ends) - 1) / 2) * step
    return found


def _cut(text: str, room: float, size: float = 1.0) -> str:
    letters = int(room / (_CHARACTER * size) + 0.05)
    if len(text) <= letters:
        return text
    return f"{text[: letters - 1]}…" if letters > 1 else ""


_ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"})


def escaped(text: str) -> str:
    """Return ``text`` as XML can hold it: what XML forbids becomes U+FFFD."""
    allowed = "".join(c if _is_allowed(ord(c)) else "\ufffd" for c in text)
    return allowed.translate(_ENTITIES)


def _is_allowed(code: int) -> bool:
    # https://www.w3.org/TR/xml/#charsets
    return code in (9, 10, 13) or 0x20 <= code < 0xD800 or 0xE000 <= code < 0xFFFE or code > 0xFFFF
