"""Owns what axe finds on a page, in light and in dark."""

from __future__ import annotations

from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]  # it has none
from playwright.sync_api import Page, expect

_EVERYTHING = {"resultTypes": ["violations"]}
_COLORS = {**_EVERYTHING, "runOnly": ["color-contrast"]}


def violations(page: Page) -> list[str]:
    """Return what axe calls serious or worse once the page has all it asked for.

    In light that is of everything, in dark of colors, as only they differ.
    """
    expect(page.locator("main h1, main h2").first).to_be_visible()
    expect(page.locator("[aria-busy=true], .skeleton")).to_have_count(0)
    found = []
    for scheme, options in (("light", _EVERYTHING), ("dark", _COLORS)):
        page.emulate_media(
            color_scheme="dark" if scheme == "dark" else "light", reduced_motion="reduce"
        )
        found += [
            f"{scheme}: {each['id']}: {node['target']} {node['failureSummary']}"
            for each in Axe().run(page, options=options).response["violations"]
            if each["impact"] in ("serious", "critical")
            for node in each["nodes"]
        ]
    return found
