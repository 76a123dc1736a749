"""The picture of a graph in a real Chromium: where boxes stand, and what a pointer does to them."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from .drawn import open_room, row, rows, spot, stage, status

pytestmark = pytest.mark.browser


def details(page: Page) -> Locator:
    return page.get_by_role("complementary", name="Details of the chosen box")


def closed(page: Page) -> None:
    open_room(page, "lowered")
    page.get_by_role("button", name="Close all").click()
    expect(rows(page)).to_have_count(2)


def test_a_double_click_opens_and_closes_a_box(big_callee: Page) -> None:
    page = big_callee
    closed(page)
    page.mouse.dblclick(*spot(page, "proc squared"))
    expect(row(page, "proc squared")).to_have_attribute("aria-expanded", "true")
    expect(details(page)).to_contain_text("proc squared")

    # Its head stands where the closed box stood.
    x, y = spot(page, "for i_t0 in 0..1225")
    page.mouse.dblclick(x, y - 30)
    expect(row(page, "proc squared")).to_have_attribute("aria-expanded", "false")


def test_the_second_click_is_the_boxs_when_the_details_have_come_between(big_callee: Page) -> None:
    page = big_callee
    closed(page)
    x, y = spot(page, "proc squared")
    page.mouse.move(x, y)
    page.mouse.down(click_count=1)
    page.mouse.up(click_count=1)
    expect(details(page)).to_contain_text("proc squared")
    expect(page).to_have_url(re.compile("pin="))
    page.mouse.down(click_count=2)
    page.mouse.up(click_count=2)
    expect(row(page, "proc squared")).to_have_attribute("aria-expanded", "true")


def test_the_picture_stays_under_the_pointer_when_the_details_open(big_callee: Page) -> None:
    page = big_callee
    closed(page)
    before = spot(page, "proc squared")
    width = stage(page)["width"]
    page.mouse.click(*before)
    expect(details(page)).to_contain_text("proc squared")
    assert stage(page)["width"] < width
    assert spot(page, "proc squared") == before


def test_a_box_that_the_details_would_cover_comes_into_view(big_callee: Page) -> None:
    page = big_callee
    closed(page)
    x, y = spot(page, "proc squared")
    canvas = stage(page)
    # Dragged to the right edge, where the details will be.
    page.mouse.move(x, y + 200)
    page.mouse.down()
    page.mouse.move(canvas["x"] + canvas["width"] - 100, y + 200, steps=4)
    page.mouse.up()
    there = spot(page, "proc squared")
    page.mouse.move(*there)
    page.mouse.down(click_count=1)
    page.mouse.up(click_count=1)
    expect(details(page)).to_contain_text("proc squared")
    canvas = stage(page)
    assert there[0] > canvas["x"] + canvas["width"]
    page.mouse.down(click_count=2)
    page.mouse.up(click_count=2)
    expect(row(page, "proc squared")).to_have_attribute("aria-expanded", "true")


def test_a_hit_of_the_search_is_in_the_middle_of_what_can_be_seen(big_callee: Page) -> None:
    page = big_callee
    closed(page)
    page.keyboard.press("/")
    page.keyboard.type("trace[0]")
    page.keyboard.press("Enter")
    expect(details(page)).to_contain_text("trace[0]")
    x, y = spot(page, "trace[0] ← 0")
    canvas = stage(page)
    assert abs(x - canvas["x"] - canvas["width"] / 2) < 8
    assert abs(y - canvas["y"] - canvas["height"] / 2) < 8


def test_all_closed_is_a_short_address(big_callee: Page) -> None:
    page = big_callee
    open_room(page, "lowered")
    page.get_by_role("button", name="Open all").click()
    expect(row(page, "call squared(x, t0)")).to_be_visible()
    page.get_by_role("button", name="Close all").click()
    expect(rows(page)).to_have_count(2)
    expect(page).to_have_url(re.compile(r"graph=e%3D0$"))
    page.reload()
    expect(rows(page)).to_have_count(2)


def test_steps_that_were_seen_are_not_asked_for_again_and_the_next_in_advance(
    big_callee: Page,
) -> None:
    page = big_callee
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    (recording,) = page.request.get("/api/v1/recordings").json()["recordings"]
    steps = page.request.get(f"/api/v1/recordings/{recording['id']}").json()["steps"]
    lowered = next(step["index"] for step in steps if step["name"] == "lowered")
    after = next(step for step in steps if step["index"] > lowered and step["changed"])
    with page.expect_response(lambda answer: answer.url.endswith(f"/steps/{after['index']}/graph")):
        first = open_room(page, "lowered")
    own = [
        f"/steps/{index}/{what}"
        for index in (lowered, after["index"])
        for what in ("outline", "graph")
    ]
    assert [each for each in own if any(url.endswith(each) for url in asked)] == own

    asked.clear()
    page.keyboard.press("ArrowRight")
    expect(status(page)).to_contain_text(nodes_of(after))
    page.keyboard.press("ArrowLeft")
    expect(status(page)).to_contain_text(nodes_of(first))
    page.keyboard.press("ArrowRight")
    expect(status(page)).to_contain_text(nodes_of(after))
    assert [url for url in asked if url.endswith(tuple(own))] == []


def nodes_of(step: dict[str, Any]) -> str:
    return f"{step['figures']['scaly.graph.nodes']:,} nodes"


def test_what_is_drawn_begins_at_the_top_and_between_the_sides_of_a_small_canvas(
    big_callee: Page,
) -> None:
    page = big_callee
    open_room(page, "lowered")
    page.set_viewport_size({"width": 1024, "height": 768})
    page.reload()
    page.get_by_role("button", name="Close all").click()
    expect(status(page)).to_contain_text("2 boxes shown")
    canvas = stage(page)
    for title in ("proc squared", "proc big_callee"):
        x, _ = spot(page, title)
        assert canvas["x"] < x < canvas["x"] + canvas["width"]

    page.get_by_role("button", name="Open all").click()
    expect(status(page)).not_to_contain_text("2 boxes shown")
    assert is_drawn(page, 20, 60)


def is_drawn(page: Page, begin: int, end: int) -> bool:
    """Whether anything stands between these heights of the canvas, in CSS pixels."""
    found: bool = page.locator(".graph-stage canvas.surface").evaluate(
        """(canvas, [begin, end]) => new Promise((resolve) => requestAnimationFrame(() => {
            const context = canvas.getContext('2d');
            const { data } = context.getImageData(0, begin, canvas.width, end - begin);
            let isDrawn = false;
            for (let i = 0; i < data.length; i++) isDrawn ||= data[i] !== data[i % 4];
            resolve(isDrawn);
        }))""",
        [begin, end],
    )
    return found


def test_a_graph_is_still_there_after_a_look_at_the_text(big_callee: Page) -> None:
    page = big_callee
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    with page.expect_response(re.compile("/graph$")):
        step = open_room(page, "lowered")
    assert any(url.endswith("/outline") for url in asked)
    page.keyboard.press("t")
    expect(page.locator(".graph-status")).to_have_count(0)
    asked.clear()
    page.keyboard.press("g")
    expect(status(page)).to_contain_text(nodes_of(step))
    assert [url for url in asked if url.endswith(f"/steps/{step['index']}/outline")] == []
