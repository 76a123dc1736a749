"""Owns driving the page of scaly.viz itself: the same renders, by the clicks that a person would make.

Its page is served by its own server and loads nothing from elsewhere. It draws in the click's own task,
so that what a click asked for is on screen with the next frame.
"""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page

type Until = Callable[[Page, Callable[[], object], str], float]


def open_longest(page: Page, url: str) -> None:
    """Open the page, and the recording with the most steps."""
    page.goto(url)
    page.wait_for_selector(".recording", timeout=120_000)
    page.evaluate(
        "selectRecording(recordings.findIndex((each) =>"
        " each.steps.length === Math.max(...recordings.map((one) => one.steps.length))))"
    )


def show_text(page: Page, step: int, until: Until) -> float:
    """Return how long the assembly of ``step`` takes from the click on the step to the screen."""
    button = page.locator(f'.step[title^="{step}:"]')
    shown = f'.step.active[title^="{step}:"]'
    return until(page, lambda: button.click(no_wait_after=True), shown)


def show_graph(page: Page, step: int, until: Until) -> float:
    """Return how long the graph of ``step``, whose text is open, takes from the click to the screen."""
    page.evaluate(f"selectStep({step})")
    page.evaluate("curTab = 'asm', renderPanel()")
    return until(page, lambda: page.click("[data-tab=dag]", timeout=120_000), "svg.graph .node")
