"""The graph in a real Chromium: what a person sees, clicks, presses and takes away."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from scaly_viz.codec import JSON, Payload

from .axe import violations
from .drawn import drawn_pixels, open_room, row, rows, status, titles
from .recorded import Recorder
from .staged import chain

pytestmark = pytest.mark.browser

HOSTILE = "<img src=x onerror=alert(1)><script>alert(2)</script>\u202eevil\u2066"


def test_a_program_begins_as_procedures_and_opens_by_keys(big_callee: Page) -> None:
    page = big_callee
    step = open_room(page, "lowered")
    page.get_by_role("button", name="Close all").click()
    expect(rows(page)).to_have_count(2)
    assert titles(page) == ["proc squared", "proc big_callee"]
    nodes = step["figures"]["scaly.graph.nodes"]
    expect(status(page)).to_contain_text(f"{nodes} nodes")
    expect(status(page)).to_contain_text("folded away")

    page.get_by_role("tree").focus()
    page.keyboard.press("Home")
    expect(row(page, "proc squared")).to_have_attribute("aria-selected", "true")
    page.keyboard.press("ArrowRight")
    expect(row(page, "proc squared")).to_have_attribute("aria-expanded", "true")
    expect(row(page, "for i_t0 in 0..1225")).to_be_visible()
    page.keyboard.press("ArrowLeft")
    expect(row(page, "proc squared")).to_have_attribute("aria-expanded", "false")
    assert drawn_pixels(page, ".graph-stage canvas.surface") > 1_000


def test_what_is_open_is_in_the_address_and_stays_through_the_steps(big_callee: Page) -> None:
    page = big_callee
    open_room(page, "lowered")
    page.get_by_role("button", name="Close all").click()
    expect(rows(page)).to_have_count(2)
    row(page, "proc big_callee").locator(".graph-chevron").click()
    expect(row(page, "call squared(x, t0)")).to_be_visible()
    expect(page).to_have_url(re.compile("graph=.*o%3Dprogram%252Fbig_callee"))
    page.reload()
    expect(row(page, "call squared(x, t0)")).to_be_visible()
    expect(row(page, "proc squared")).to_have_attribute("aria-expanded", "false")

    page.get_by_role("link", name="fuse_elementwise").click()
    expect(page).to_have_url(re.compile("graph="))
    expect(row(page, "proc big_callee")).to_have_attribute("aria-expanded", "true")


def test_only_what_changed_with_signs_that_are_no_mere_colors(big_callee: Page) -> None:
    page = big_callee
    step = open_room(page, "pass:fuse_elementwise")
    added = step["figures"]["scaly.graph.nodes_added"]
    button = page.get_by_role("button", name=f"Changed {added}")
    button.click()

    expect(button).to_have_attribute("aria-pressed", "true")
    expect(status(page)).to_contain_text("filtered out")
    expect(status(page)).to_contain_text(f"{added} new or changed")
    expect(rows(page).first).to_contain_text("~")
    states = page.locator(".graph-row").evaluate_all("rows => rows.map(r => r.dataset.state)")
    assert set(states) <= {"new", "changed"}
    expect(page).to_have_url(re.compile("m%3Dchanged"))


def test_a_search_flies_to_its_hits_and_opens_what_they_are_in(big_callee: Page) -> None:
    page = big_callee
    open_room(page, "lowered")
    page.get_by_role("button", name="Close all").click()
    expect(rows(page)).to_have_count(2)
    page.keyboard.press("/")
    expect(page.get_by_role("searchbox", name="Search the graph")).to_be_focused()
    page.keyboard.type("tanh")
    expect(page.locator(".graph-count")).to_contain_text("1")
    page.keyboard.press("Enter")

    chosen = page.locator('.graph-row[aria-selected="true"]')
    expect(chosen).to_contain_text("tanh")
    expect(page.locator(".graph-count")).to_have_text("1 / 1")
    expect(page.get_by_role("complementary", name="Details of the chosen box")).to_contain_text(
        "tanh"
    )


def test_hits_follow_each_other_with_n_and_p(big_callee: Page) -> None:
    page = big_callee
    open_room(page, "lowered")
    page.keyboard.press("/")
    page.keyboard.type("k_")
    expect(page.locator(".graph-count")).not_to_be_empty()
    page.get_by_role("tree").focus()
    page.keyboard.press("n")
    expect(page.locator(".graph-count")).to_contain_text("1 / ")
    page.keyboard.press("n")
    expect(page.locator(".graph-count")).to_contain_text("2 / ")
    page.keyboard.press("p")
    expect(page.locator(".graph-count")).to_contain_text("1 / ")


def test_details_have_types_attributes_and_links_to_arguments_and_users(big_callee: Page) -> None:
    page = big_callee
    open_room(page, "lowered")
    page.keyboard.press("/")
    page.keyboard.type("tanh")
    page.keyboard.press("Enter")
    details = page.get_by_role("complementary", name="Details of the chosen box")
    expect(details).to_contain_text("statement")
    expect(details.get_by_role("heading", name="Fed by")).to_be_visible()
    expect(details).to_contain_text("Arguments (2)")
    details.get_by_role("button", name="view", exact=True).first.click()

    expect(page.locator('.graph-row[aria-selected="true"]')).to_contain_text("view t0")
    expect(details).to_contain_text("buffer")
    details.get_by_role("button", name="store", exact=True).first.click()
    expect(page.locator('.graph-row[aria-selected="true"]')).to_contain_text("store")


def test_a_click_on_the_canvas_pins_what_stands_there(big_callee: Page) -> None:
    page = big_callee
    open_room(page, "lowered")
    page.keyboard.press("/")
    page.keyboard.type("i_trace")
    page.keyboard.press("Enter")
    details = page.get_by_role("complementary", name="Details of the chosen box")
    expect(details).to_contain_text("for i_trace")
    details.get_by_role("button", name="Pin i_trace").click()
    expect(page).to_have_url(re.compile("pin=big_callee(:|%3A)i_trace"))
    around = page.get_by_role("button", name="Around pin")
    around.click()
    expect(around).to_have_attribute("aria-pressed", "true")
    expect(rows(page).filter(has_text="for i_trace").first).to_have_attribute("data-pinned", "")
    box = page.locator("canvas.surface").bounding_box()
    assert box is not None
    page.get_by_role("button", name="Fit").click()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    expect(details).to_be_visible()


def test_the_neighborhood_grows_with_its_hops(big_callee: Page) -> None:
    page = big_callee
    open_room(page, "lowered")
    page.keyboard.press("/")
    page.keyboard.type("for i_trace")
    page.keyboard.press("Enter")
    expect(page.locator('.graph-row[aria-selected="true"]')).to_contain_text("for i_trace")
    page.get_by_role("toolbar", name="Graph").get_by_role("button", name="Neighborhood").click()
    expect(status(page)).to_contain_text("filtered out")
    expect(row(page, "trace[0] ← 0")).to_be_visible()
    expect(row(page, "call squared(t1, t2)")).to_have_count(0)
    few = rows(page).count()
    page.get_by_label("hops").fill("3")
    expect(row(page, "call squared(t1, t2)")).to_be_visible()
    assert rows(page).count() > few


def test_the_line_of_a_statement_opens_the_text_there(big_callee: Page) -> None:
    page = big_callee
    open_room(page, "lowered")
    page.keyboard.press("/")
    page.keyboard.type("tanh")
    page.keyboard.press("Enter")
    button = page.get_by_role("button", name="Line 5")
    button.click()

    expect(page).to_have_url(re.compile("kind=assembly.*line=5"))
    expect(page.locator(".cm-content, .body").first).to_contain_text("prog.tanh")


def test_arrow_keys_go_from_box_to_box_on_the_canvas(big_callee: Page) -> None:
    page = big_callee
    open_room(page, "lowered")
    page.get_by_role("button", name="Close all").click()
    expect(rows(page)).to_have_count(2)
    canvas = page.get_by_role("application")
    canvas.focus()
    chosen = page.locator('.graph-row[aria-selected="true"] .graph-title')
    page.keyboard.press("ArrowDown")
    expect(chosen).to_have_text("proc squared")
    page.keyboard.press("ArrowUp")
    expect(chosen).to_have_text("proc big_callee")  # the caller stands above
    page.keyboard.press("Enter")
    expect(row(page, "proc big_callee")).to_have_attribute("aria-expanded", "true")
    expect(page.get_by_role("status").filter(has_text="proc big_callee")).to_have_count(1)
    page.keyboard.press("Escape")
    expect(page.locator('.graph-row[aria-selected="true"]')).to_have_count(0)


def test_the_picture_can_be_taken_away_as_svg_and_png(big_callee: Page, tmp_path: Path) -> None:
    page = big_callee
    open_room(page, "lowered")
    with page.expect_download() as svg:
        page.get_by_role("button", name="SVG").click()
    svg.value.save_as(tmp_path / "graph.svg")
    drawing = ET.parse(tmp_path / "graph.svg")
    texts = [element.text for element in drawing.iter("{http://www.w3.org/2000/svg}text")]
    assert "proc squared" in texts

    with page.expect_download() as png:
        page.get_by_role("button", name="PNG").click()
    png.value.save_as(tmp_path / "graph.png")
    assert (tmp_path / "graph.png").read_bytes().startswith(b"\x89PNG")


def test_hostile_names_are_shown_as_what_they_are(page: Page, recorder: Recorder) -> None:
    recorder.record("f", steps=[{"graph": chain(3, HOSTILE, HOSTILE + "x" * 100_000)}])
    open_room(page, "pass:number_0")
    page.get_by_role("tree").focus()
    page.keyboard.press("End")

    expect(page.locator('.graph-row[aria-selected="true"]')).to_contain_text(
        "<img src=x onerror=alert(1)>"
    )
    details = page.get_by_role("complementary", name="Details of the chosen box")
    expect(details).to_contain_text("<script>alert(2)</script>")
    assert page.locator("img[src=x], script:not([src])").count() == 0
    widths = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert widths[0] <= widths[1]


def test_a_damaged_graph_is_shown_as_far_as_it_goes(page: Page, recorder: Recorder) -> None:
    graph = {
        "nodes": [{"id": name, "label": f"{name}\n%0\nfloat64", "color": "#fff"} for name in "ab"],
        "edges": [
            {"from": "a", "to": "b", "label": "0"},
            {"from": "b", "to": "a", "label": "0"},
            {"from": "gone", "to": "a", "label": "1"},
        ],
        "outputs": ["b"],
    }
    recorder.record("f", steps=[{"graph": Payload("graph", json.dumps(graph).encode(), JSON)}])
    open_room(page, "pass:number_0")

    expect(rows(page)).to_have_count(3)
    expect(status(page)).to_contain_text("1 edges close a circle and are left out")
    expect(status(page)).to_contain_text("1 edges or outputs lead to nodes that are not there")


def test_a_graph_that_cannot_be_read_says_why(page: Page, recorder: Recorder) -> None:
    recorder.record("f", steps=[{"graph": chain(3)}, {"assembly": "text"}])
    open_room(page, "pass:number_0")
    page.route("**/outline", lambda route: route.fulfill(status=422, json=ERROR))
    page.reload()
    expect(page.get_by_role("alert").filter(has_text="it builds on itself")).to_be_visible()
    page.unroute("**/outline")
    page.get_by_role("button", name="Try again").click()
    expect(status(page)).to_contain_text("boxes shown")
    page.evaluate("0")  # the console's message of the refused request is expected


ERROR = {"error": {"code": "payload_unreadable", "message": "it builds on itself"}}


def test_a_graph_of_200_000_nodes_can_be_looked_at(page: Page, recorder: Recorder) -> None:
    recorder.record("f", steps=[{"graph": chain(200_000)}])
    open_room(page, "pass:number_0")

    expect(status(page)).to_contain_text("200,000 nodes")
    count = rows(page).count()
    assert 1 < count < 200
    page.get_by_role("tree").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    expect(page.locator('.graph-row[aria-selected="true"]')).to_have_attribute(
        "aria-expanded", "true"
    )


def test_axe_finds_nothing_serious_in_graph_and_memory(big_callee: Page) -> None:
    page = big_callee
    found = []
    open_room(page, "pass:fuse_elementwise")
    page.keyboard.press("/")
    page.keyboard.type("s")
    page.keyboard.press("Enter")
    details = page.get_by_role("complementary", name="Details of the chosen box")
    expect(details).to_contain_text("Users")
    found += violations(page)
    page.get_by_role("toolbar", name="Graph").get_by_role("button", name="Neighborhood").click()
    expect(page.get_by_label("hops")).to_be_visible()
    found += violations(page)
    open_room(page, "pass:pack_workspace", "memory")
    page.get_by_role("listbox").focus()
    page.keyboard.press("ArrowDown")
    found += violations(page)
    assert found == []
