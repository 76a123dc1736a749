"""Owns pictures of each view, for a person to look at: python -m viewer.screenshots FILE [FOLDER], in tests/.

FILE is a recording file with at least two good renders and a failed one. The pictures are written to
``.cache/screenshots`` unless FOLDER says otherwise: each view in light and in dark, in three sizes.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from urllib.request import urlopen

from playwright.sync_api import Browser, Page, expect, sync_playwright

from .conftest import ARGUMENTS, chromium
from .serving import serving
from .staged import stage

FOLDER = Path(__file__).parents[2] / ".cache" / "screenshots"
SIZES = ((1024, 700), (1440, 900), (3840, 2160))
SCHEMES = ("light", "dark")
VIEWS = {
    "home": "/",
    "groups": "/?group=function",
    "search-all": "/search?q=v1",
    "text": "/r/{good}/s/{last}?kind=listing&against=none",
    "difference": "/r/{good}/s/{scalarize}?kind=listing",
    "split": "/r/{good}/s/{scalarize}?kind=assembly&view=split&context=all",
    "wrapped": "/r/{good}/s/{scalarize}?kind=assembly&view=split&wrap=1",
    "beside": "/r/{good}/s/{code}?against={last}.listing&line=40",
    "cost": "/r/{good}/s/{last}?kind=listing&against=none&heat=flops",
    "code": "/r/{good}/s/{code}?against=none&heat=bytes",
    "pinned": "/r/{good}/s/{lowered}?kind=assembly&against=none&pin={pin}",
    "graph": "/r/{good}/s/{lowered}?room=graph",
    "graph-expression": "/r/{good}/s/0?room=graph",
    "memory": "/r/{good}/s/{packed}?room=memory",
    "memory-unpacked": "/r/{good}/s/{lowered}?room=memory",
    "overview": "/r/{good}/s/{last}?room=overview&figure=nodes",
    "search": "/r/{good}?room=search&q=v1",
    "failure": "/r/{bad}",
    "comparison": "/compare?left={good}&right={other}",
    "picking": "/?pick={good}",
    "gone": "/r/gone",
}
STAGED = {
    "states": "/",
    "nothing-found": "/?q=nowhere",
    "bad-filter": "/?q=since:yesteryear",
    "running": "/r/{running}",
    "running-overview": "/r/{running}?room=overview",
    "hostile": "/r/{hostile}/s/1",
    "hostile-wrapped": "/r/{hostile}/s/1?view=split&wrap=1",
    "hostile-compare": "/compare?left={hostile}&right={fine}",
    "hostile-failure": "/r/{failed}",
    "damaged": "/r/{damaged}/s/1?kind=listing",
    "no-step": "/r/{fine}/s/99",
}


def places(url: str) -> dict[str, str | int]:
    """Recordings and steps that the views are about."""
    with urlopen(f"{url}api/v1/recordings?sort=steps") as answer:
        recordings = json.load(answer)["recordings"]
    good, other = [each["id"] for each in recordings if each["status"] == "ok"][:2]
    bad = next(each["id"] for each in recordings if each["status"] == "failed")
    with urlopen(f"{url}api/v1/recordings/{good}") as answer:
        steps = {step["name"]: step["index"] for step in json.load(answer)["steps"]}
    lowered = steps["lowered"]
    with urlopen(f"{url}api/v1/recordings/{good}/steps/{lowered}/workspace") as answer:
        procedures = json.load(answer)["procedures"]
    buffers = [buffer for procedure in procedures for buffer in procedure["buffers"]]
    pinned = buffers[len(buffers) // 2]
    return {
        "good": good,
        "other": other,
        "bad": bad,
        "lowered": lowered,
        "scalarize": steps["pass:scalarize"],
        "packed": steps["pass:pack_workspace"],
        "last": steps["pass:coalesce_stores"],
        "code": steps["generated C"],
        "pin": f"{pinned['scope']}:{pinned['name']}@{lowered}.assembly",
    }


def take(page: Page, address: str, path: Path) -> None:
    """Write a picture of the page at ``address``, once it has all it asked for."""
    page.goto(address)
    expect(page.locator("main h1, main h2").first).to_be_visible()
    expect(page.locator("[aria-busy=true], .skeleton")).to_have_count(0, timeout=30_000)
    if "heat=" in address:
        expect(page.locator(".controls")).to_contain_text("Σ", timeout=30_000)
    page.wait_for_timeout(500)  # colors and canvases come when the browser has nothing else to do
    page.screenshot(path=path)


def take_all(
    browser: Browser, url: str, views: Mapping[str, str], about: Mapping[str, object], folder: Path
) -> None:
    """Write pictures of all ``views`` of the server at ``url``."""
    for scheme in SCHEMES:
        for width, height in SIZES:
            context = browser.new_context(
                base_url=url,
                color_scheme=scheme,  # type: ignore[arg-type]  # Playwright wants the literals
                viewport={"width": width, "height": height},
            )
            page = context.new_page()
            for name, address in views.items():
                take(page, address.format(**about), folder / f"{name}-{scheme}-{width}.png")
            context.close()


def main(source: str, folder: Path = FOLDER) -> None:
    """Take all pictures: of what ``source`` holds, of odd recordings, and of none."""
    folder.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as temporary:
        browser = playwright.chromium.launch(executable_path=chromium(), args=ARGUMENTS)
        with serving(Path(source)) as url:
            take_all(browser, url, VIEWS, places(url), folder)
        odd = Path(temporary) / "recordings.jsonl"
        about = stage(odd)
        with serving(odd) as url:
            take_all(browser, url, STAGED, about, folder)
        with serving(Path(temporary) / "none.jsonl") as url:
            take_all(browser, url, {"empty": "/"}, {}, folder)
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1], *map(Path, sys.argv[2:]))
