"""The questions that the page answers, asked about recordings that a real scaly made."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from scaly_viz.sources import load_dicts

from .serving import serving

pytestmark = pytest.mark.browser

MINUS = "\u2212"

RENDERS = """
import contextlib, sys
import scaly_viz
from programs import failing, rendering

scaly_viz.configure(directory=sys.argv[1])
programs = {program.name: program for program in (*rendering.PROGRAMS, *failing.PROGRAMS)}
for name in ("lanes_1", "lanes_4", "broken_pass"):
    fun = programs[name].build()
    scaly_viz.visualize(fun, label=name)
    with contextlib.suppress(Exception):
        programs[name].render(fun)
"""


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with a function rendered in two ways, and a render that fails in a pass."""
    folder = tmp_path_factory.mktemp("recorded")
    command = [sys.executable, "-c", RENDERS, str(folder)]
    subprocess.run(command, check=True, cwd=Path(__file__).parents[1])
    return folder / "recordings.jsonl"


@pytest.fixture(scope="module")
def url(recorded: Path) -> Iterator[str]:
    with serving(recorded) as address:
        yield address


def open_recording(page: Page, name: str) -> None:
    page.goto("/")
    page.get_by_role("link", name=name, exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text(name)


def open_step(page: Page, name: str) -> None:
    steps = page.get_by_role("navigation", name="Steps")
    steps.get_by_role("link").filter(has_text=name).click()
    expect(steps.locator("[aria-current=step]")).to_contain_text(name)
    expect(page.locator(".body")).not_to_have_attribute("aria-busy", "true")


def texts_of(recorded: Path, name: str, kind: str) -> dict[str, str]:
    """The texts of one kind, by the name of their step."""
    (recording,) = (each for each in load_dicts(recorded) if each["name"] == name)
    return {step["name"]: step[kind] for step in recording["steps"] if kind in step}


def lines(page: Page) -> Locator:
    return page.locator(".pane").last.locator(".cm-line")


def test_what_was_compiled_when_from_where_and_how_it_went(page: Page) -> None:
    page.goto("/")
    row = page.get_by_role("row").filter(has_text="lanes_4")
    expect(row).to_contain_text("softmax")
    expect(row).to_contain_text("✓ ok")
    expect(row).to_contain_text(re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d"))
    expect(row).to_contain_text(re.compile(r"(ms|µs|[\d.]+ s)"))
    expect(page.get_by_role("row").filter(has_text="broken_pass")).to_contain_text("✗ failed")


def test_the_list_is_filtered_by_words_that_the_address_keeps(page: Page) -> None:
    page.goto("/")
    page.keyboard.press("/")
    page.keyboard.type("fn:softmax label:4")
    expect(page.locator("tbody tr")).to_have_count(1)
    expect(page.get_by_role("status")).to_have_text("1 recording found")
    expect(page).to_have_url(re.compile(r"\?q=fn%3Asoftmax%20label%3A4$"))
    page.reload()
    expect(page.locator("tbody tr")).to_have_count(1)
    page.get_by_role("searchbox", name="Filter recordings").fill("nothing-is-called-so")
    page.get_by_role("button", name="Clear the filter").click()
    expect(page.locator("tbody tr")).to_have_count(3)


def test_a_filter_that_cannot_be_understood_says_so(page: Page) -> None:
    page.goto("/?q=since:yesteryear")
    expect(page.get_by_role("alert")).to_contain_text("yesteryear")


def test_the_list_is_sorted_by_the_column_that_is_clicked(page: Page) -> None:
    page.goto("/")
    page.get_by_role("button", name="Recording", exact=True).click()
    expect(page.locator("tbody th a")).to_have_text(["broken_pass", "lanes_1", "lanes_4"])
    page.get_by_role("button", name="Recording", exact=True).click()
    expect(page.locator("tbody th a")).to_have_text(["lanes_4", "lanes_1", "broken_pass"])


def test_recordings_are_grouped_by_function_with_the_course_of_their_figures(page: Page) -> None:
    page.goto("/")
    page.get_by_role("button", name="Group by function").click()
    row = page.get_by_role("row").filter(has_text="softmax")
    expect(row.get_by_role("cell").first).to_have_text("2")
    expect(row.get_by_role("img", name="C code of softmax")).to_be_visible()
    row.get_by_role("link", name="softmax").click()
    expect(page).to_have_url(re.compile(r"q=fn%3Asoftmax"))


def test_the_pipeline_says_what_each_pass_did_and_folds_those_that_did_nothing(
    page: Page, recorded: Path
) -> None:
    open_recording(page, "lanes_4")
    steps = page.get_by_role("navigation", name="Steps")
    expect(steps.get_by_role("button", name=re.compile("unchanged")).first).to_be_visible()
    steps.get_by_role("combobox").select_option(label="Nodes")
    expect(steps.get_by_role("link").filter(has_text="lowered")).to_contain_text(
        re.compile(r"\d+$")
    )
    steps.get_by_role("button", name=re.compile("^all ")).click()
    (recording,) = (each for each in load_dicts(recorded) if each["name"] == "lanes_4")
    expect(steps.get_by_role("link")).to_have_count(len(recording["steps"]))


def test_a_figure_is_a_chart_over_the_steps_and_all_figures_a_table(page: Page) -> None:
    open_recording(page, "lanes_4")
    page.keyboard.press("o")
    table = page.get_by_role("table", name=re.compile("Figures of all steps"))
    row = table.get_by_role("row").filter(has_text="scalarize")
    expect(row).to_contain_text(re.compile(rf"\+\d+ {MINUS}\d+"))
    page.get_by_role("button", name="Flops").click()
    chart = page.get_by_role("region", name="Figure over the steps")
    expect(chart.get_by_role("link", name=re.compile(r"pass:scalarize: \d+"))).to_be_visible()
    timeline = page.get_by_role("region", name="Timeline")
    expect(timeline.get_by_role("link", name=re.compile("^generated C, "))).to_be_visible()


def test_a_step_shows_its_difference_to_the_previous_change(page: Page, recorded: Path) -> None:
    open_recording(page, "lanes_4")
    open_step(page, "scalarize")
    expect(page.locator(".note")).to_contain_text(re.compile(rf"\+\d+ {MINUS}\d+ .*lines to \d+"))
    page.get_by_role("button", name="only changes").click()
    listing = texts_of(recorded, "lanes_4", "listing")
    lowered, scalarized = listing["lowered"].split("\n"), listing["pass:scalarize"].split("\n")
    gone = next(line for line in lowered if line.strip() and line not in scalarized)
    come = next(line for line in scalarized if line.strip() and line not in lowered)
    pane = page.locator(".panes")
    expect(pane.locator(".cm-removed").filter(has_text=gone.strip()).first).to_be_visible()
    expect(pane.locator(".cm-added").filter(has_text=come.strip()).first).to_be_visible()
    page.keyboard.press("d")
    expect(page).to_have_url(re.compile("against=none"))
    expect(pane.locator(".cm-removed")).to_have_count(0)


def test_the_two_texts_stand_side_by_side_or_in_one_column(page: Page) -> None:
    open_recording(page, "lanes_4")
    open_step(page, "scalarize")
    expect(page.locator(".pane")).to_have_count(1)
    page.keyboard.press("s")
    expect(page.locator(".pane")).to_have_count(2)
    expect(page).to_have_url(re.compile("view=split"))
    page.reload()
    expect(page.locator(".pane")).to_have_count(2)


def test_a_step_that_changed_nothing_says_so(page: Page) -> None:
    open_recording(page, "lanes_4")
    page.get_by_role("button", name=re.compile("^all ")).click()
    open_step(page, "hoist_invariant")
    expect(page.locator(".steps [aria-current=step]")).to_contain_text("same")


def test_any_two_steps_are_set_against_each_other(page: Page) -> None:
    open_recording(page, "lanes_4")
    open_step(page, "coalesce_stores")
    against = page.get_by_role("combobox", name="against")
    value = against.locator("option", has_text="lowered").first.get_attribute("value")
    against.select_option(value)
    expect(page.locator(".note")).to_contain_text("lowered")
    expect(page).to_have_url(re.compile(r"against=\d+"))


def test_arrow_keys_walk_from_change_to_change(page: Page) -> None:
    open_recording(page, "lanes_4")
    open_step(page, "lowered")
    current = page.locator(".steps [aria-current=step]")
    page.keyboard.press("ArrowRight")
    expect(current).to_contain_text("scalarize")
    page.keyboard.press("ArrowLeft")
    expect(current).to_contain_text("lowered")
    page.keyboard.press("Shift+ArrowRight")
    expect(current).to_contain_text("hoist_invariant")
    expect(page).to_have_url(re.compile(r"/s/\d+"))


def test_the_cost_of_each_line_stands_beside_it(page: Page) -> None:
    open_recording(page, "lanes_4")
    open_step(page, "lowered")
    page.get_by_role("combobox", name="cost").select_option(label="flops")
    heat = page.locator(".cm-heat-label")
    expect(heat.first).to_have_text(re.compile(r"^(Σ )?[\d.,]+ [kMG]?flops?$"))
    expect(page.locator(".cm-heat").first).to_have_attribute("title", re.compile("in all"))


def test_a_failed_render_shows_why_beside_the_last_good_step(page: Page) -> None:
    open_recording(page, "broken_pass")
    exception = page.get_by_role("region", name="Exception")
    expect(exception).to_contain_text("Failed in")
    expect(exception).to_contain_text("BrokenPass")
    expect(exception).to_contain_text("Traceback (most recent call last)")
    last = page.get_by_role("region", name="Last good step")
    expect(last.locator(".cm-line").first).to_be_visible()
    steps = page.get_by_role("navigation", name="Steps")
    expect(steps.get_by_role("link").last).to_have_text(re.compile(r"\d+✗.+failed$"))


def test_two_renders_of_a_function_are_compared(page: Page) -> None:
    page.goto("/")
    page.get_by_role("button", name="Compare lanes_1").click()
    page.get_by_role("button", name="Compare lanes_4").click()
    expect(page).to_have_url(re.compile(r"/compare\?left=\w+&right=\w+$"))
    figures = page.get_by_role("table", name="Inputs and figures of both recordings")
    for label in ("C source, bytes", "C source, lines"):
        expect(figures.get_by_role("row").filter(has_text=label)).to_contain_text("≠")
    expect(page.locator(".headline [role=status]")).to_have_text(
        re.compile(r"^\d+ steps of \d+ differ$")
    )
    page.set_viewport_size({"width": 1440, "height": 900})
    beside = page.get_by_role("complementary", name="Figures")
    assert beside.evaluate("(it) => it.scrollWidth === it.clientWidth")
    steps = page.get_by_role("navigation", name="Steps of both recordings")
    expect(steps.get_by_text("first difference")).to_be_visible()
    expect(page.locator(".pane .cm-added").first).to_be_visible()
    steps.get_by_role("link").filter(has_text="generated C").click()
    page.keyboard.press("s")
    expect(page.get_by_label(re.compile("code of step"))).to_have_count(2)


def test_a_string_is_found_in_all_steps_and_leads_to_its_line(page: Page, recorded: Path) -> None:
    open_recording(page, "lanes_4")
    page.keyboard.press("/")
    page.keyboard.type("entropy")
    page.keyboard.press("Enter")
    expect(page.locator(".results [role=status]")).to_have_text(
        re.compile(r"^\d+ hits in \d+ texts")
    )
    page.locator(".hit-line").first.click()
    expect(page).to_have_url(re.compile(r"line=\d+"))
    expect(page.locator(".cm-target").first).to_contain_text("entropy")


def test_a_string_is_found_in_all_recordings(page: Page) -> None:
    page.goto("/search")
    page.get_by_role("searchbox", name="Search all recordings").last.fill("entropy")
    expect(page.get_by_role("status")).to_have_text(
        re.compile(r"^\d+ hits in 2 recordings; 3 of 3 searched$")
    )
    found = page.locator(".found summary").first
    expect(found).to_have_text(re.compile(r"^\d+ \w+ assembly\d+ hits?$"))
    kind, count = found.locator(".quiet").bounding_box(), found.locator(".value").bounding_box()
    assert kind is not None
    assert count is not None
    assert 0 < count["x"] - kind["x"] - kind["width"] < 40
    page.get_by_role("button", name="regular expression").click()
    page.get_by_role("searchbox", name="Search all recordings").last.fill("entropy(")
    expect(page.locator(".failure")).to_contain_text("This cannot be searched for:q: ")
    expect(page.get_by_role("status")).to_have_count(0)
    page.get_by_role("button", name="regular expression").click()
    page.get_by_role("searchbox", name="Search all recordings").last.fill("entropy")
    page.locator(".hit-line").first.click()
    expect(page.locator(".cm-target").first).to_contain_text("entropy")


def test_the_keys_are_listed(page: Page) -> None:
    open_recording(page, "lanes_4")
    page.keyboard.press("?")
    keys = page.get_by_role("dialog", name="Keys")
    expect(keys).to_contain_text("Difference to the previous change, on and off")
    page.keyboard.press("Escape")
    expect(keys).to_be_hidden()


def test_a_value_that_is_clicked_is_pinned_and_followed_through_the_steps(page: Page) -> None:
    open_recording(page, "lanes_4")
    page.goto(f"{page.url}/s/5?against=none&kind=listing")
    name = lines(page).filter(has_text="float64 v9 =").locator(".tok-name", has_text="v9").first
    name.click()
    inspector = page.get_by_role("complementary", name="Inspector")
    expect(inspector.get_by_role("heading", level=2)).to_contain_text("v9")
    expect(page).to_have_url(re.compile(r"pin=exponentials%3Av9%405\.listing"))
    expect(inspector).to_contain_text("born")
    expect(inspector).to_contain_text("In the C")
    expect(page.locator(".tok-pinned").first).to_have_text("v9")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".tok-pinned").first).to_be_visible()
    expect(inspector.get_by_role("heading", level=2)).to_contain_text("v9")
    page.reload()
    expect(inspector.get_by_role("heading", level=2)).to_contain_text("v9")
    page.keyboard.press("Escape")
    expect(page.locator(".tok-pinned")).to_have_count(0)


def test_a_value_of_an_expression_is_followed_into_the_program(page: Page) -> None:
    open_recording(page, "lanes_4")
    page.get_by_role("button", name=re.compile("^all ")).click()
    open_step(page, "exponentials")
    inspector = page.get_by_role("complementary", name="Inspector")
    line = lines(page).filter(has_text="expr.exp(").first
    line.locator(".tok-name").first.click()
    number = inspector.get_by_role("heading", level=2)
    expect(number).to_contain_text(re.compile(r"%\d+"))
    expect(inspector).to_contain_text(re.compile(r"renamed\s*\d+ lowered as \w+"))
    found = number.inner_text()
    page.keyboard.press("Escape")
    # The same from the graph: its operations are the lines of the text.
    page.keyboard.press("g")
    expect(page.locator(".graph-status")).to_contain_text("boxes shown")
    page.keyboard.press("e")
    outline = page.get_by_role("button", name="Outline")
    if outline.get_attribute("aria-pressed") == "false":
        outline.click()
    page.get_by_role("treeitem").filter(has_text=re.compile("exp :")).first.click()
    expect(number).to_have_text(found)
    expect(inspector).to_contain_text(re.compile(r"renamed\s*\d+ lowered as \w+"))


def test_lines_that_correspond_light_up_in_listing_and_c(page: Page, recorded: Path) -> None:
    open_recording(page, "lanes_4")
    open_step(page, "generated C")
    against = page.get_by_role("combobox", name="against")
    value = against.locator("optgroup[label^=Beside] option", has_text="listing").first
    against.select_option(value.get_attribute("value"))
    expect(page.locator(".pane")).to_have_count(2)
    left = page.locator(".pane").first
    row = left.locator(".cm-line").filter(has_text="float64 v9 =")
    row.hover()
    number = left.locator(".cm-lineNumbers .cm-gutterElement", has_text=re.compile("^ *12$"))
    number.click()
    expect(page.locator(".cm-target")).to_contain_text("v9")
    expect(left.locator(".cm-lit").first).to_contain_text("v9")
