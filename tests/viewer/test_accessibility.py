"""Everyone can use the page: axe finds nothing serious in any view, in light and in dark."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from .axe import violations
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


def test_axe_finds_nothing_serious(page: Page, path: Path) -> None:
    keys = stage(path)
    found = []
    for name, address in VIEWS.items():
        page.goto(address.format(**keys))
        found += [f"{name}: {each}" for each in violations(page)]
    assert found == []


def test_axe_finds_nothing_serious_where_nothing_was_recorded(page: Page) -> None:
    page.goto("/")
    expect(page.get_by_role("heading", name="No recordings yet")).to_be_visible()
    assert violations(page) == []
