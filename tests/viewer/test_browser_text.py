"""The text room in a real Chromium: lines that wrap, choices that a reload keeps, clicks on nothing."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from .recorded import Recorder
from .staged import stage

pytestmark = pytest.mark.browser

WORD = "lorem ipsum dolor sit amet "
BEFORE = "".join(f"  {i}: {WORD * (i % 7)}\n" for i in range(400))
AFTER = "".join(
    f"  {i}: {WORD * (i % 7)}{'and more ' * (40 if i % 9 == 0 else 0)}\n" for i in range(400)
)
ENDLESS = "x = " + "ab " * 33_333


def open_split(page: Page, key: str, wrap: str = "&wrap=1") -> None:
    page.goto(f"/r/{key}/s/1?kind=listing&view=split&context=all{wrap}")
    expect(page.locator(".pane")).to_have_count(2)
    expect(page.locator(".pane").last.locator(".cm-line").first).to_be_visible()


# The top of each line that can be seen, by its number.
TOPS = """(pane) => Object.fromEntries([...pane.shadowRoot.querySelectorAll(".cm-line")]
    .map((line) => [line.textContent.trim().split(":")[0], line.getBoundingClientRect().top])
    .filter(([, top]) => top > 0 && top < innerHeight))"""


def assert_rows_are_beside_each_other(page: Page) -> None:
    page.wait_for_function(
        f"""() => {{
            const [left, right] = [...document.querySelectorAll(".pane")].map({TOPS});
            const shared = Object.keys(left).filter((row) => row in right && row !== "");
            return shared.length > 2
                && shared.every((row) => Math.abs(left[row] - right[row]) <= 2);
        }}"""
    )


def test_long_lines_wrap_and_the_address_keeps_it(page: Page, recorder: Recorder) -> None:
    key = recorder.record("f", steps=[{"listing": f"short\n{ENDLESS}\nlast\n"}])
    page.goto(f"/r/{key}")
    scroller = page.locator(".cm-scroller")
    last = page.locator(".cm-line", has_text=re.compile("^last$"))
    expect(last).to_be_visible()
    assert scroller.evaluate("(it) => it.scrollWidth > 100_000")
    page.keyboard.press("w")
    expect(page).to_have_url(re.compile("wrap=1"))
    expect(page.get_by_role("button", name="wrap")).to_have_attribute("aria-pressed", "true")
    page.wait_for_function(
        "() => { const it = document.querySelector('.pane').shadowRoot.querySelector('.cm-scroller');"
        " return it.scrollWidth <= it.clientWidth && it.scrollHeight > 10_000; }"
    )
    page.reload()
    expect(page.get_by_role("button", name="wrap")).to_have_attribute("aria-pressed", "true")
    page.locator(".cm-content").focus()
    page.keyboard.press("Control+End")
    scroller.evaluate("(it) => { it.scrollTop = it.scrollHeight; }")
    expect(last).to_be_visible()
    page.keyboard.press("w")
    expect(page).not_to_have_url(re.compile("wrap"))


def test_rows_that_wrap_stay_beside_each_other(page: Page, recorder: Recorder) -> None:
    key = recorder.record("f", steps=[{"listing": BEFORE}, {"listing": AFTER}])
    open_split(page, key)
    assert_rows_are_beside_each_other(page)
    for pane, way in (("last", 3_000), ("first", 2_000), ("last", -1_500)):
        found = page.locator(".pane").last if pane == "last" else page.locator(".pane").first
        found.hover()
        page.mouse.wheel(0, way)
        assert_rows_are_beside_each_other(page)
    # Also where it is switched on only then, and where the window changes.
    open_split(page, key, wrap="")
    page.keyboard.press("w")
    assert_rows_are_beside_each_other(page)
    page.set_viewport_size({"width": 1100, "height": 700})
    assert_rows_are_beside_each_other(page)
    page.keyboard.press("n")
    assert_rows_are_beside_each_other(page)


def test_lines_without_end_wrap_side_by_side(page: Page, recorder: Recorder) -> None:
    texts = [f"0: a\n1: {ENDLESS}\n2: b\n", f"0: a\n1: {ENDLESS} more\n2: b\n" + "3: c\n" * 9]
    key = recorder.record("f", steps=[{"listing": text} for text in texts])
    open_split(page, key)
    page.wait_for_function(
        f"""() => {{
            const [left, right] = [...document.querySelectorAll(".pane")].map({TOPS});
            return left[0] === right[0] && left[1] === right[1];
        }}"""
    )
    # How high such a line is becomes known as it is drawn: the end moves while one goes there.
    page.wait_for_function(
        """() => {
            const { shadowRoot } = [...document.querySelectorAll(".pane")].at(-1);
            const scroller = shadowRoot.querySelector(".cm-scroller");
            scroller.scrollTop = scroller.scrollHeight;
            return [...shadowRoot.querySelectorAll(".cm-line")].some((line) =>
                line.textContent === "2: b" && line.getBoundingClientRect().top < innerHeight);
        }"""
    )


def test_a_reload_right_after_a_choice_keeps_it(page: Page, recorder: Recorder) -> None:
    key = recorder.record("f", steps=[{"listing": f"{i}\n"} for i in range(9)])
    page.goto(f"/r/{key}")
    current = page.locator(".steps [aria-current=step]")
    expect(current).to_contain_text("number_0")
    # Three choices, and the reload in the same task: nothing has time to settle.
    page.evaluate(
        """() => {
            for (let i = 0; i < 3; i++) {
                document.dispatchEvent(new KeyboardEvent("keydown", { key: "End" }));
                document.dispatchEvent(new KeyboardEvent("keydown", { key: "Home" }));
            }
            document.dispatchEvent(new KeyboardEvent("keydown", { key: "End" }));
            location.reload();
        }"""
    )
    expect(current).to_contain_text("number_8")
    expect(page).to_have_url(re.compile("/s/8"))


def test_a_click_on_what_is_no_name_says_so_and_nothing_else(
    page: Page, recorder: Recorder
) -> None:
    key = recorder.record("f", steps=[{"listing": "program\n  unknown_word(3)\n"}])
    page.goto(f"/r/{key}?pin=nowhere:nothing")
    inspector = page.get_by_role("complementary", name="Inspector")
    expect(inspector).to_contain_text("there is no such name")
    page.goto(f"/r/{key}/s/77")
    expect(page.locator(".columns")).to_contain_text("This recording has no step 77")
    page.goto("/r/nothing")
    expect(page.get_by_role("heading", level=1)).to_contain_text("does not exist")


def test_what_is_found_comes_out_of_what_is_folded(page: Page, recorder: Recorder) -> None:
    lines = [f"  {i}: lorem ipsum\n" for i in range(2_000)]
    lines[700] = f"  {'x' * 400} needle[3]\n"
    lines[1_200] = "  Needle[3] again\n"
    steps = [{"listing": "".join(lines)}, {"listing": "".join(lines) + "the end\n"}]
    key = recorder.record("f", steps=steps)
    for view in ("inline", "split"):
        page.goto(f"/r/{key}/s/1?kind=listing&view={view}")
        expect(page.locator(".cm-hidden-rows").first).to_contain_text("equal lines")
        page.keyboard.press("f")
        bar = page.get_by_role("search", name="Find in the text")
        page.keyboard.type("needle[3]")
        told = bar.get_by_role("status")
        expect(told).to_have_text("2 hits")
        page.keyboard.press("Enter")
        expect(told).to_have_text("1 of 2")
        expect(page.locator(".cm-searchMatch-selected")).to_be_in_viewport()
        page.keyboard.press("Enter")
        expect(told).to_have_text("2 of 2")
        hit = page.locator(".cm-searchMatch-selected")
        expect(hit).to_have_text("Needle[3]")
        expect(hit).to_be_in_viewport()
        expect(page.locator(".cm-hidden-rows")).to_have_count(0)
    bar.get_by_role("button", name="Match case").click()
    expect(told).to_have_text("1 hit")
    bar.get_by_role("button", name="Regular expression").click()
    bar.get_by_role("searchbox").fill("needle(")
    expect(told).to_have_text("no regular expression")
    bar.get_by_role("searchbox").fill("no+dle")
    expect(told).to_have_text("no hits")
    page.keyboard.press("Escape")
    expect(bar).to_be_hidden()
    expect(page.get_by_label("listing of step 1")).to_be_focused()


def test_what_a_failure_names_is_pinned_until_it_is_unpinned(page: Page, path: Path) -> None:
    failed = stage(path)["failed"]
    page.goto(f"/r/{failed}")
    inspector = page.get_by_role("complementary", name="Inspector")
    expect(inspector.get_by_role("heading", level=2)).to_contain_text("%t0")
    expect(page.locator(".tok-pinned").first).to_have_text("%t0")
    expect(page).to_have_url(re.compile("pin="))
    page.keyboard.press("Escape")
    expect(page.locator(".tok-pinned")).to_have_count(0)
    expect(page).not_to_have_url(re.compile("pin="))


def test_a_line_of_the_c_leads_to_the_program_that_it_was_made_from(big_callee: Page) -> None:
    page = big_callee
    (newest,) = page.request.get("/api/v1/recordings").json()["recordings"]
    last = newest["steps"] - 1
    asked = f"/api/v1/recordings/{newest['id']}/lines?step={last}&kind=code&to_kind=listing"

    def in_listing(line: int) -> list[int]:
        found: list[int] = page.request.get(f"{asked}&to_step={last - 1}&line={line}").json()[
            "lines"
        ]
        return found

    line = next(line for line in range(1, 200) if in_listing(line))
    page.goto(f"/r/{newest['id']}/s/{last}?line={line}")
    links = page.locator(".line-links")
    expect(links).to_contain_text(f"Line {line} corresponds to")
    links.get_by_role("link").first.click()
    expect(page).to_have_url(re.compile(rf"kind=listing.*line={in_listing(line)[0]}\b"))


def test_a_name_on_a_line_that_went_is_pinned_as_the_text_before_has_it(big_callee: Page) -> None:
    page = big_callee
    (newest,) = page.request.get("/api/v1/recordings").json()["recordings"]
    changes = page.request.get(f"/api/v1/recordings/{newest['id']}/changes").json()["steps"]
    step = next(
        each["index"] for each in changes if each["texts"].get("listing", {}).get("removed", 0)
    )
    page.goto(f"/r/{newest['id']}/s/{step}?room=text&kind=listing&view=inline")

    gone = page.locator(".cm-removed .tok-name").first
    name = gone.inner_text()
    gone.click()

    expect(page).to_have_url(re.compile(rf"pin=[^&]*{re.escape(name)}(@|%40){step - 1}\.listing"))
    expect(page.locator(".cm-removed .tok-pinned").first).to_have_text(name)
    inspector = page.get_by_role("complementary", name="Inspector")
    expect(inspector.get_by_role("heading", level=2)).to_contain_text(name)
