"""The overview in a real Chromium: figures that fit and line up, and a timeline with round times."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from .recorded import Recorder

pytestmark = pytest.mark.browser


def test_the_table_of_figures_fits_and_where_it_does_not_keeps_its_heads(big_callee: Page) -> None:
    page = big_callee
    # 1440 but for the bar to scroll with, which this browser draws over the page.
    page.set_viewport_size({"width": 1425, "height": 900})
    page.goto("/")
    page.locator("tbody a").click()
    page.get_by_role("link", name="Overview").click()
    table = page.get_by_role("table", name="Figures of all steps")
    expect(table.locator("thead th").nth(1)).to_have_text("Assembly lines")
    heads = table.locator("thead th").all_inner_texts()
    assert all(head[0].isupper() or head == "w[]" for head in heads), heads
    room = page.locator(".overview")
    assert room.evaluate("(it) => it.scrollWidth === it.clientWidth")
    expressions = table.locator("tbody tr").filter(has=page.locator("[data-dialect=expr]"))
    heights = "(all) => [...new Set(all.map((row) => row.offsetHeight))]"
    assert expressions.count() > 1
    (height,) = expressions.evaluate_all(heights)
    assert height < 30
    page.set_viewport_size({"width": 800, "height": 500})
    step = table.locator("thead th").first
    left = step.evaluate("(it) => it.getBoundingClientRect().left")
    room.evaluate("(it) => it.scrollTo(it.scrollWidth, it.scrollHeight)")
    assert room.evaluate("(it) => it.scrollLeft > 0 && it.scrollTop > 0")
    expect(table.locator("thead th").last).to_be_in_viewport(ratio=0.9)
    assert step.evaluate("(it) => it.getBoundingClientRect().left") == left


def test_times_of_a_timeline_are_round_and_cut_names_end_in_dots(
    page: Page, recorder: Recorder
) -> None:
    key = recorder.record("f", steps=[{"listing": f"{i}\n"} for i in range(9)])
    page.goto(f"/r/{key}?room=overview")
    times = page.locator(".time-axis span")
    expect(times).to_have_text(["0", "2 s", "4 s", "6 s", "8 s"])
    page.set_viewport_size({"width": 700, "height": 500})
    name = page.locator(".lane a", has_text="pass:number_3")
    expect(name).to_be_visible()
    assert name.evaluate("(it) => getComputedStyle(it).textOverflow") == "ellipsis"
