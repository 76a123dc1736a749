"""Everyone can use the page: axe finds nothing serious in any view, in light and in dark."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]  # it has none
from playwright.sync_api import Page, expect

from scaly_viz.spans import Failure

from .recorded import STEPS, Recorder

pytestmark = pytest.mark.browser

VIEWS = {
    "home": "/",
    "groups": "/?group=function",
    "nothing found": "/?q=nowhere",
    "search": "/search?q=module",
    "text": "/r/{ok}/s/1",
    "difference": "/r/{ok}/s/1?kind=assembly&view=split",
    "cost": "/r/{ok}/s/1?heat=flops",
    "overview": "/r/{ok}?room=overview",
    "search in a recording": "/r/{ok}?room=search&q=module",
    "failure": "/r/{bad}",
    "comparison": "/compare?left={ok}&right={bad}",
    "gone": "/r/gone",
}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(
    page: Page, recorder: Recorder, complaints: list[str], scheme: str
) -> None:
    keys = {
        "ok": recorder.record("fine", steps=STEPS),
        "bad": recorder.record("bad", failure=Failure("LoweringError", "no way down")),
    }
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    found = []
    for name, address in VIEWS.items():
        page.goto(address.format(**keys))
        expect(page.locator("main h1, main h2").first).to_be_visible()
        expect(page.locator("[aria-busy=true], .skeleton")).to_have_count(0)
        results = Axe().run(page)
        found += [
            f"{name}: {each['id']}: {node['target']} {node['failureSummary']}"
            for each in results.response["violations"]
            if each["impact"] in ("serious", "critical")
            for node in each["nodes"]
        ]
    assert found == []
    complaints[:] = [each for each in complaints if "404" not in each]  # of the view "gone"
