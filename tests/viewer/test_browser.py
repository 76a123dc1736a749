"""The page in a real Chromium, on recordings that a real scaly made and on hostile ones."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from scaly_viz.codec import FailedPayload, Payload
from scaly_viz.sources import load_dicts
from scaly_viz.spans import Failure

from .recorded import STEPS, Recorder
from .serving import serving

pytestmark = pytest.mark.browser

HOSTILE = "<img src=x onerror=alert(1)>\"'><script>alert(2)</script>\x1b[31m\u202eevil\u2066\0&amp;{{7*7}}"

RENDER = """
import sys
import scaly as sc, scaly_viz
from programs.compat import arg, function
from scaly.codegen.aot import render_c_source

@function(arg("x", 3), arg("u", 2), outputs=arg("next"), name="unicycle")
def unicycle(x, u):
    return x + 0.1 * sc.stack([u[0] * x[2].cos(), u[0] * x[2].sin(), u[1]])

scaly_viz.configure(directory=sys.argv[1])
render_c_source(scaly_viz.visualize(unicycle, label=sys.argv[2]))
"""


def render(path: Path, label: str) -> None:
    """Let scaly render a function in a process of its own, recorded in ``path``."""
    command = [sys.executable, "-c", RENDER, str(path.parent), label]
    subprocess.run(command, check=True, cwd=Path(__file__).parents[1])


def shown_text(page: Page, step: int, kind: str) -> str:
    """The text that is shown, as the page hands it over: an editor draws only what can be seen."""
    expect(page.get_by_label(f"{kind} of step {step}", exact=True)).to_be_visible()
    expect(page.locator(".body")).not_to_have_attribute("aria-busy", "true")
    page.evaluate("() => { window.copied = null; }")
    page.get_by_role("button", name=re.compile("^Cop(y|ied)$")).click()
    text = page.evaluate("() => window.copied")
    assert isinstance(text, str)
    return text


def open_recording(page: Page, name: str) -> None:
    page.get_by_role("link", name=name, exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text(name)


def open_step(page: Page, index: int, kind: str | None = None) -> None:
    """Follow the links to a step, and to one of its payloads."""
    page.locator(".steps a").nth(index).click()
    expect(page.locator(".steps a").nth(index)).to_have_attribute("aria-current", "step")
    if kind is not None:
        tab = page.locator(".tabs a").filter(has_text=re.compile(rf"^{re.escape(kind)}$"))
        tab.click()
        expect(tab).to_have_attribute("aria-current", "true")


def press_until_focused(page: Page, target: Locator) -> None:
    """Press Tab until `target` has the focus."""
    for _ in range(100):
        page.keyboard.press("Tab")
        if target.evaluate("(node) => node === document.activeElement"):
            return
    raise AssertionError(f"the Tab key does not lead to {target}")


def test_each_text_of_a_real_recording_is_shown_as_it_was_recorded(page: Page, path: Path) -> None:
    render(path, "unicycle by Euler")
    (recording,) = load_dicts(path, strict=True)
    page.goto("/")
    row = page.get_by_role("row").filter(has_text="unicycle by Euler")
    expect(row).to_contain_text("✓ ok")
    expect(row).to_contain_text(str(len(recording["steps"])))
    open_recording(page, "unicycle by Euler")
    page.get_by_role("button", name=f"all {len(recording['steps'])}").click()
    names = page.locator(".steps a .name")
    expect(names).to_have_count(len(recording["steps"]))
    titles = names.evaluate_all("(all) => all.map((name) => name.title)")
    assert titles == [step["name"] for step in recording["steps"]]
    for index, step in enumerate(recording["steps"]):
        for kind in ("assembly", "listing", "code"):
            if kind in step:
                open_step(page, index, kind)
                assert shown_text(page, index, kind) == step[kind]
    with_graph = next(i for i, step in enumerate(recording["steps"]) if "graph" in step)
    open_step(page, with_graph, "graph")
    graph = json.loads(shown_text(page, with_graph, "graph"))
    assert graph == recording["steps"][with_graph]["graph"]


def test_hostile_text_is_shown_and_nothing_else(page: Page, recorder: Recorder) -> None:
    steps: list[dict[str, Any]] = [
        {"listing": HOSTILE, HOSTILE: HOSTILE},
        {"page": Payload("page", HOSTILE.encode(), "text/html")},
        {"assembly": FailedPayload("assembly", HOSTILE)},
    ]
    recorder.record(HOSTILE, label=HOSTILE, steps=steps, failure=Failure(HOSTILE, HOSTILE))
    recorder.begin(HOSTILE, recording_id=HOSTILE).add({"listing": HOSTILE})
    page.goto("/")
    expect(page.locator("tbody tr")).to_have_count(2)
    assert page.locator("tbody a").all_text_contents() == [HOSTILE, HOSTILE]
    page.locator("tbody a").last.click()
    open_step(page, 0, "listing")
    assert shown_text(page, 0, "listing") == HOSTILE
    page.locator(".tabs a").last.click()
    expect(page).to_have_url(re.compile("kind=%3Cimg"))
    assert shown_text(page, 0, HOSTILE) == HOSTILE
    open_step(page, 1)
    assert shown_text(page, 1, "page") == HOSTILE
    open_step(page, 2)
    expect(page.locator(".body .failure .name")).to_be_visible()
    assert page.locator(".body .failure .name").text_content() == HOSTILE
    assert page.locator("h1").text_content() == HOSTILE
    page.get_by_role("link", name="Text", exact=True).click()
    assert HOSTILE in (page.locator(".recording-head .failure pre").text_content() or "")
    page.go_back()
    page.goto("/")
    page.locator("tbody a").first.click()
    open_step(page, 0)
    assert shown_text(page, 0, "listing") == HOSTILE
    assert page.locator("img[src], svg, iframe, main script, [onerror]").count() == 0


def test_a_direction_mark_in_a_name_does_not_reach_beyond_it(
    page: Page, recorder: Recorder
) -> None:
    recorder.record("\u202eabc")
    page.goto("/")
    status = page.locator("tbody .status")
    expect(status).to_have_text("✓ ok")
    left = "(cell) => cell.getBoundingClientRect().left"
    assert page.locator("tbody a").evaluate(left) < status.evaluate(left)
    assert (
        page.locator("tbody a bdi").evaluate("(e) => getComputedStyle(e).unicodeBidi") == "isolate"
    )


def test_nothing_in_a_name_is_hidden_or_steers(page: Page, recorder: Recorder) -> None:
    label = "\u202eevil\nlabel\x1b[31m"
    recorder.record("plain")
    recorder.record("f", label=label)
    page.goto("/")
    signs = "(all) => all.map((each) => getComputedStyle(each, '::before').content)"
    shown = ['"\\\\u202e"', '"\\\\n"', '"\\\\x1b"']
    assert page.locator("tbody a .escape").evaluate_all(signs) == shown
    heights = page.locator("tbody tr").evaluate_all("(all) => all.map((row) => row.offsetHeight)")
    assert heights[0] == heights[1]
    name = page.locator("tbody a").first
    assert name.text_content() == label
    lefts = """(name) => {
        const text = [...name.querySelector("bdi").childNodes]
            .find(({ data }) => data?.startsWith("evil"));
        return [0, 1, 2, 3].map((at) => {
            const range = document.createRange();
            range.setStart(text, at);
            range.setEnd(text, at + 1);
            return range.getBoundingClientRect().left;
        });
    }"""
    found = name.evaluate(lefts)
    assert found == sorted(found)
    name.click()
    expect(page).to_have_title("\\u202eevil\\nlabel\\x1b[31m \u2013 scaly-viz")
    head = page.get_by_role("heading", level=1)
    assert head.locator(".escape").evaluate_all(signs) == shown
    assert head.evaluate("(it) => it.offsetHeight") < 40
    page.keyboard.press("o")
    expect(page.locator(".lane .escape")).to_have_count(len(shown))
    assert page.locator(".lane .escape").evaluate_all(signs) == shown


def test_back_forward_and_reload_lead_where_one_was(page: Page, recorder: Recorder) -> None:
    recorder.record("f", label="first")
    recorder.record("g", label="second")
    page.goto("/")
    open_recording(page, "first")
    open_step(page, 1, "assembly")
    open_step(page, 2)
    assert shown_text(page, 2, "code") == STEPS[2]["code"]
    page.go_back()
    expect(page).to_have_url(re.compile(r"/r/[0-9a-f]{32}/s/1\?kind=assembly$"))
    assert shown_text(page, 1, "assembly") == STEPS[1]["assembly"]
    page.reload()
    assert shown_text(page, 1, "assembly") == STEPS[1]["assembly"]
    page.go_forward()
    assert shown_text(page, 2, "code") == STEPS[2]["code"]
    for _ in range(4):
        page.go_back()
    expect(page.get_by_role("heading", level=1)).to_have_text("Recordings")
    open_recording(page, "second")
    expect(page).to_have_title("second \u2013 scaly-viz")


def test_an_unknown_kind_is_listed_and_handed_through(page: Page, recorder: Recorder) -> None:
    steps: list[dict[str, Any]] = [
        {
            "listing": "known\n",
            "tiles": "a tile\n",
            "cost": Payload("cost", b'{"flops": 12}', "application/vnd.cost+json"),
            "profile": Payload("profile", b"\x00\xffperf", "application/x-perf"),
        }
    ]
    recorder.record("f", steps=steps)
    page.goto("/")
    open_recording(page, "f")
    expect(page.locator(".tabs a")).to_have_text(["listing", "tiles", "cost", "profile"])
    open_step(page, 0, "tiles")
    assert shown_text(page, 0, "tiles") == "a tile\n"
    open_step(page, 0, "cost")
    assert shown_text(page, 0, "cost") == '{"flops": 12}'
    open_step(page, 0, "profile")
    expect(page.locator(".body")).to_contain_text("Binary data of type application/x-perf, 6 B")
    with page.expect_download() as download:
        page.get_by_role("link", name="download it").click()
    assert download.value.suggested_filename == "step-0-profile"
    assert Path(download.value.path()).read_bytes() == b"\x00\xffperf"


def test_failed_and_incomplete_recordings_are_shown_as_such(
    page: Page, path: Path, recorder: Recorder
) -> None:
    recorder.record("bad", failure=Failure("LoweringError", "op print is not yet lowered"))
    running = recorder.begin("running")
    running.add(STEPS[0])
    page.goto("/")
    expect(page.locator("tbody .status")).to_have_text(["… incomplete", "✗ failed"])
    open_recording(page, "bad")
    failure = page.get_by_role("region", name="Exception")
    expect(failure).to_contain_text("LoweringError")
    expect(failure).to_contain_text("op print is not yet lowered")
    expect(page.locator(".steps [aria-current=step]")).to_contain_text("number_2")
    row = page.locator(".steps li").last
    expect(row).to_have_text("3✗the renderfailed")
    page.get_by_role("link", name="Text", exact=True).click()
    expect(failure).to_be_hidden()
    row.get_by_role("link").click()
    expect(failure).to_be_visible()
    for _ in range(3):
        page.go_back()
    open_recording(page, "running")
    expect(page.locator(".problems li")).to_have_text(re.compile("the render is still running"))
    expect(failure).to_be_hidden()
    running.add(STEPS[1])
    expect(page.locator(".steps a")).to_have_count(2)
    running.finish()
    expect(page.locator(".status")).to_have_text("✓ ok")
    expect(page.locator(".problems li")).to_have_count(0)


def test_a_payload_that_cannot_be_rebuilt_says_why(
    page: Page, path: Path, recorder: Recorder
) -> None:
    texts = ["".join(f"{i}: {n}\n" for i in range(2_000)) for n in range(2)]
    recorder.record("f", steps=[{"listing": text} for text in texts])
    first, *rest = path.read_text().splitlines(keepends=True)
    path.write_text("".join(rest))
    assert "scaly.payload.body" in first
    page.goto("/")
    open_recording(page, "f")
    expect(page.locator(".steps a .state")).to_have_text(["missing", ""])
    page.locator(".steps a").nth(1).click()
    expect(page.locator(".body .failure")).to_contain_text("it builds on payload")
    expect(page.get_by_role("button", name="Try again")).to_be_visible()


def test_a_new_recording_appears_by_itself(page: Page, path: Path) -> None:
    page.goto("/")
    expect(page.get_by_role("heading", level=2)).to_have_text("No recordings yet")
    render(path, "the first")
    expect(page.locator("tbody a")).to_have_text(["the first"])
    expect(page.get_by_role("status")).to_have_text("1 recording")
    link = page.locator("tbody a")
    link.focus()
    render(path, "the second")
    expect(page.locator("tbody a")).to_have_text(["the second", "the first"])
    expect(link.last).to_be_focused()


def test_a_thousand_recordings_are_listed(page: Page, recorder: Recorder) -> None:
    for number in range(1_010):
        recorder.record(f"f{number}", steps=STEPS[:1])
    page.goto("/")
    expect(page.get_by_role("status")).to_have_text("1,010 recordings", timeout=60_000)
    expect(page.get_by_role("table")).to_have_attribute("aria-rowcount", "1011")
    rows = page.locator("tbody tr")
    expect(rows).to_have_count(100)
    more = page.get_by_role("button", name="Show 10 older recordings")
    while not more.is_visible():
        drawn = rows.count()
        rows.last.scroll_into_view_if_needed()
        expect(rows.nth(drawn).or_(more).first).to_be_attached(timeout=60_000)
    expect(rows).to_have_count(1_000)
    more.click()
    rows.last.scroll_into_view_if_needed()
    expect(page.get_by_role("link", name="f0", exact=True)).to_be_attached(timeout=60_000)
    expect(rows).to_have_count(1_010)


def test_a_long_list_is_where_it_was_left(page: Page, recorder: Recorder) -> None:
    for number in range(400):
        recorder.record(f"f{number}", steps=STEPS[:1])
    page.goto("/")
    page.locator("tbody tr").nth(99).scroll_into_view_if_needed()
    page.get_by_role("link", name="f120", exact=True).click()
    expect(page.get_by_role("heading", name="f120")).to_be_visible()
    page.go_back()
    expect(page.get_by_role("link", name="f120", exact=True)).to_be_in_viewport()


def test_the_page_can_be_used_with_the_keyboard_alone(page: Page, recorder: Recorder) -> None:
    recorder.record("f")
    page.goto("/")
    expect(page.locator("tbody a")).to_be_visible()
    press_until_focused(page, page.locator("tbody a"))
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()
    assert shown_text(page, 0, "assembly") == STEPS[0]["assembly"]
    page.locator("main").focus()
    press_until_focused(page, page.locator(".steps a").nth(1))
    page.keyboard.press("Enter")
    expect(page.locator(".steps a").nth(1)).to_be_focused()
    expect(page.locator(".steps a").nth(1)).to_have_attribute("aria-current", "step")


def test_the_list_of_keys_is_whole(page: Page, recorder: Recorder) -> None:
    page.goto(f"/r/{recorder.record('f')}")
    expect(page.locator(".cm-line").first).to_be_visible()
    page.keyboard.press("?")
    keys = page.get_by_role("dialog", name="Keys")
    expect(keys).to_contain_text("Shift ↓")
    inside = """(dialog) => [...dialog.querySelectorAll("kbd")].every((key) =>
        key.getBoundingClientRect().left >= dialog.getBoundingClientRect().left
        && key.getClientRects().length === 1 && key.offsetHeight < 24)"""
    assert keys.evaluate(inside)


def test_a_label_of_spaces_leaves_something_to_click(page: Page, recorder: Recorder) -> None:
    recorder.record("f", label=" ")
    page.goto("/")
    page.get_by_role("link", name="f", exact=True).click()
    expect(page.get_by_role("heading", name="f", exact=True)).to_be_visible()


def test_what_is_not_there_is_said(page: Page, recorder: Recorder) -> None:
    key = recorder.record("f")
    stage = page.get_by_role("region", name="Step", exact=True)
    page.goto(f"/r/{key}/s/99")
    expect(stage).to_contain_text("This recording has no step 99")
    stage.get_by_role("link", name="2 number_2").click()
    assert shown_text(page, 2, "code") == STEPS[2]["code"]
    page.goto(f"/r/{key}/s/1?kind=nothing")
    expect(stage).to_contain_text("Step 1 number_1 has no payload \u201cnothing\u201d")
    expect(stage).to_contain_text("It has assembly and listing.")
    expect(page.locator(".scrubber")).to_contain_text("1 of 2 number_1")
    stage.get_by_role("link", name="listing").click()
    assert shown_text(page, 1, "listing") == STEPS[1]["listing"]
    page.goto(f"/r/{key}/s/7?kind=nothing")
    stage.get_by_role("link", name="Overview of all steps").click()
    expect(page.get_by_role("table", name="Figures of all steps")).to_be_visible()


def test_what_an_address_says_that_cannot_be_falls_back(page: Page, recorder: Recorder) -> None:
    key = recorder.record("f", steps=[{"listing": "a\n"}, {"listing": "b\n"}])
    page.goto("/?sort=zzz&order=up")
    expect(page.locator("tbody a")).to_have_text(["f"])
    expect(page).to_have_url(re.compile(r"/$"))
    page.goto("/?sort=zzz&q=since:xx")
    expect(page.locator(".filter-problem")).to_contain_text("'xx' is neither")
    expect(page).to_have_url(re.compile(r"/\?q=since%3Axx$"))
    expect(page.get_by_role("alert")).to_have_count(1)
    page.goto(f"/r/{key}/s/1?kind=listing&heat=1&against=99.listing")
    expect(page.get_by_role("combobox", name="cost")).to_have_value("")
    expect(page.get_by_role("combobox", name="against")).to_have_value("prev")
    expect(page.locator(".note")).to_contain_text(
        "no text at 99.listing: against the previous change"
    )
    expect(page.locator(".cm-added")).to_have_text(["b"])


@pytest.mark.parametrize("address", ["/foo/bar", "/r/", "/r/a/b", "/search/"])
def test_an_address_with_nothing_at_it_leads_to_the_list(
    page: Page, recorder: Recorder, complaints: list[str], address: str
) -> None:
    recorder.record("f")
    answer = page.goto(address)
    assert answer is not None
    assert answer.status == 404
    expect(page.get_by_role("heading", level=1)).to_have_text("There is nothing at this address.")
    page.get_by_role("link", name="All recordings").click()
    expect(page.locator("tbody a")).to_have_text(["f"])
    assert all("404" in complaint for complaint in complaints)
    complaints.clear()


def test_a_server_that_is_gone_is_told(browser: Browser, path: Path, recorder: Recorder) -> None:
    recorder.record("f")
    with browser.new_context() as context, serving(path) as url:
        page = context.new_page()
        page.goto(url)
        expect(page.locator("tbody a")).to_have_text(["f"])
        context.set_offline(True)
        expect(page.get_by_role("alert")).to_have_text("The server does not answer. Trying again…")
        expect(page.locator("tbody a")).to_have_text(["f"])
        context.set_offline(False)
        expect(page.get_by_role("alert")).to_be_hidden()


def test_names_and_lines_without_end_leave_the_page_in_shape(
    page: Page, recorder: Recorder
) -> None:
    endless = "\u202e<b>" + "x" * 100_000
    key = recorder.record("f", label=endless, steps=[{"listing": f"a\n{endless}\nb\n"}])
    for address in (
        "/",
        f"/r/{key}",
        f"/r/{key}?room=overview",
        f"/compare?left={key}&right={key}",
    ):
        page.goto(address)
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        expect(page.locator(".skeleton")).to_have_count(0)
        width, height = page.evaluate(
            "() => [document.documentElement.scrollWidth, document.querySelector('h1').offsetHeight]"
        )
        assert width <= 1280, address
        assert height < 100, address
    page.goto(f"/r/{key}")
    assert shown_text(page, 0, "listing") == f"a\n{endless}\nb\n"
