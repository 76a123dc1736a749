"""Owns pictures of each view, for a person to look at: python -m viewer.screenshots FILE [FOLDER], in tests/.

FILE is a recording file with at least one good and one failed render. The pictures are written to
``.cache/screenshots`` unless FOLDER says otherwise: each view in light and in dark, in three widths.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from urllib.request import urlopen

from playwright.sync_api import Page, expect, sync_playwright

from .conftest import ARGUMENTS, chromium
from .serving import serving

FOLDER = Path(__file__).parents[2] / ".cache" / "screenshots"
WIDTHS = {1024: 768, 1440: 900, 2560: 1440}
SCHEMES = ("light", "dark")
VIEWS = {
    "home": "/",
    "groups": "/?group=function",
    "search-all": "/search?q=v1",
    "text": "/r/{good}/s/{last}?kind=listing&against=none",
    "difference": "/r/{good}/s/{scalarize}?kind=listing",
    "split": "/r/{good}/s/{scalarize}?kind=assembly&view=split&context=all",
    "beside": "/r/{good}/s/{code}?against={last}.listing",
    "cost": "/r/{good}/s/{last}?kind=listing&against=none&heat=flops",
    "overview": "/r/{good}/s/{last}?room=overview&figure=nodes",
    "search": "/r/{good}?room=search&q=v1",
    "failure": "/r/{bad}",
    "comparison": "/compare?left={good}&right={other}",
    "gone": "/r/gone",
}


def places(url: str) -> dict[str, str | int]:
    """Recordings and steps that the views are about."""
    with urlopen(f"{url}api/v1/recordings?sort=steps") as answer:
        recordings = json.load(answer)["recordings"]
    good, other = [each["id"] for each in recordings if each["status"] == "ok"][:2]
    bad = next(each["id"] for each in recordings if each["status"] == "failed")
    with urlopen(f"{url}api/v1/recordings/{good}") as answer:
        steps = {step["name"]: step["index"] for step in json.load(answer)["steps"]}
    return {
        "good": good,
        "other": other,
        "bad": bad,
        "scalarize": steps["pass:scalarize"],
        "last": steps["pass:coalesce_stores"],
        "code": steps["generated C"],
    }


def take(page: Page, address: str, path: Path) -> None:
    """Write a picture of the page at ``address``, once it has all it asked for."""
    page.goto(address)
    expect(page.locator("main h1, main h2").first).to_be_visible()
    expect(page.locator("[aria-busy=true], .skeleton")).to_have_count(0, timeout=30_000)
    page.wait_for_timeout(300)  # syntax is colored when the browser has nothing else to do
    page.screenshot(path=path)


def main(source: str, folder: Path = FOLDER) -> None:
    """Take all pictures of what ``source`` holds."""
    folder.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright, serving(Path(source)) as url:
        browser = playwright.chromium.launch(executable_path=chromium(), args=ARGUMENTS)
        about = places(url)
        for scheme in SCHEMES:
            for width, height in WIDTHS.items():
                context = browser.new_context(
                    base_url=url,
                    color_scheme=scheme,  # type: ignore[arg-type]  # Playwright wants the literals
                    viewport={"width": width, "height": height},
                )
                page = context.new_page()
                for name, address in VIEWS.items():
                    take(page, address.format(**about), folder / f"{name}-{scheme}-{width}.png")
                context.close()
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1], *map(Path, sys.argv[2:]))
