"""Everyone can use the page: axe finds nothing serious in any view, in light and in dark."""

from __future__ import annotations

from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]  # it has none
from playwright.sync_api import Page, expect

from .staged import stage

pytestmark = [pytest.mark.browser, pytest.mark.slow]

VIEWS = {
    "home": "/",
    "groups": "/?group=function",
    "choosing what to compare": "/?pick={fine}",
    "nothing found": "/?q=nowhere",
    "a filter without sense": "/?q=since:yesteryear",
    "search": "/search?q=module",
    "text": "/r/{fine}/s/0?kind=assembly",
    "pinned": "/r/{fine}/s/0?kind=assembly&pin=f:t0@0.assembly",
    "difference": "/r/{hostile}/s/1?view=split",
    "wrapped": "/r/{hostile}/s/1?view=split&wrap=1",
    "cost": "/r/{fine}/s/0?kind=listing&heat=flops",
    "graph": "/r/{fine}/s/0?room=graph",
    "memory": "/r/{fine}/s/0?room=memory",
    "overview and timeline": "/r/{fine}?room=overview",
    "search in a recording": "/r/{fine}?room=search&q=module",
    "failure": "/r/{failed}",
    "damaged": "/r/{damaged}/s/1",
    "running": "/r/{running}",
    "comparison": "/compare?left={fine}&right={running}",
    "no such step": "/r/{fine}/s/99",
    "gone": "/r/gone",
}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(page: Page, path: Path, scheme: str) -> None:
    keys = stage(path)
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    found = []
    for name, address in VIEWS.items():
        page.goto(address.format(**keys))
        found += [f"{name}: {each}" for each in violations(page)]
    assert found == []


def test_axe_finds_nothing_serious_where_nothing_was_recorded(page: Page) -> None:
    page.goto("/")
    expect(page.get_by_role("heading", name="No recordings yet")).to_be_visible()
    assert violations(page) == []


def violations(page: Page) -> list[str]:
    """What axe calls serious or worse, once the page has all it asked for."""
    expect(page.locator("main h1, main h2").first).to_be_visible()
    expect(page.locator("[aria-busy=true], .skeleton")).to_have_count(0)
    results = Axe().run(page)
    return [
        f"{each['id']}: {node['target']} {node['failureSummary']}"
        for each in results.response["violations"]
        if each["impact"] in ("serious", "critical")
        for node in each["nodes"]
    ]
