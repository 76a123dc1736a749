"""The memory map in a real Chromium: what a person sees, chooses and pins."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from .drawn import drawn_pixels, open_room

pytestmark = pytest.mark.browser


def test_the_memory_map_has_offsets_lives_and_totals(big_callee: Page) -> None:
    page = big_callee
    step = open_room(page, "pass:pack_workspace", "memory")
    total = step["figures"]["scaly.program.workspace_bytes"]
    figures = page.locator(".memory-figures")

    expect(figures).to_contain_text(f"workspace of the program{total:,} B")
    expect(figures).to_contain_text("private, all procedures0 B")
    expect(figures).to_contain_text("peak in use39,200 B, at statement 2")
    expect(figures).to_contain_text("never in use at once9,800 B")
    expect(page.get_by_role("listbox").get_by_role("option").nth(1)).to_have_text(
        "s19,800 Bfloat64 1225 · at 9,800 · statements 1 to 2"
    )
    assert drawn_pixels(page, ".memory-stage canvas") > 10_000


def test_a_buffer_of_the_memory_map_is_pinned_by_keys(big_callee: Page) -> None:
    page = big_callee
    open_room(page, "pass:pack_workspace", "memory")
    page.get_by_role("listbox").focus()
    page.keyboard.press("End")
    page.keyboard.press("Enter")

    expect(page).to_have_url(re.compile("pin=big_callee(:|%3A)s2"))
    expect(page.locator(".memory-row[data-pinned]")).to_contain_text("s2")


def test_another_procedure_has_a_map_of_its_own(big_callee: Page) -> None:
    page = big_callee
    open_room(page, "pass:pack_workspace", "memory")
    page.get_by_label("Procedure").select_option("squared")

    expect(page.locator(".memory-bar").first).to_contain_text("window at 29,400 B of w[]")
    expect(page).to_have_url(re.compile("memory=squared"))
    page.reload()
    expect(page.get_by_label("Procedure")).to_have_value("squared")


def test_before_packing_the_map_says_that_there_are_no_addresses(big_callee: Page) -> None:
    page = big_callee
    open_room(page, "lowered", "memory")

    expect(page.locator(".memory-status")).to_contain_text(
        "pack_workspace has not run yet: buffers have sizes and lives, but no addresses."
    )
    expect(page.get_by_role("listbox").get_by_role("option").first).to_contain_text(
        "no address yet"
    )


def test_steps_without_graph_or_memory_say_so(big_callee: Page) -> None:
    page = big_callee
    for room, says in (("graph", "no graph"), ("memory", "no program, and so no memory")):
        (newest, *_) = page.request.get("/api/v1/recordings").json()["recordings"]
        page.goto(f"/r/{newest['id']}/s/18?room={room}")
        expect(page.locator(".hint").filter(has_text=says)).to_be_visible()
