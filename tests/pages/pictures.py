"""Owns the pictures of docs/, made from real runs of what the pages show: python -m pages.pictures, in tests/."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from urllib.request import urlopen

from playwright.sync_api import Page as Tab
from playwright.sync_api import expect, sync_playwright

from viewer.conftest import ARGUMENTS, chromium
from viewer.serving import serving

from .page import DOCS, Page

FOLDER = DOCS / "pictures"
_WIDTH, _HEIGHT = 1280, 720
_QUALITY = 82

# What each picture shows: an address of the viewer, with ids and steps of the recordings below.
PICTURES = {
    "list": "/",
    "difference": "/r/{first}/s/{scalarize}?kind=listing&figure=flops",
    "comparison": "/compare?left={first}&right={loops}",
    "value": "/r/{loops}/s/{lowered}?kind=assembly&against=none&pin=step:t4@{lowered}.assembly",
    "memory": "/r/{memory}/s/{packed}?room=memory",
    "graph": "/r/{loops}/s/{lowered}?room=graph",
    "failure": "/r/{failed}",
}
PAGES = ("tutorial.md", "how-to/failed-render.md", "how-to/memory.md")


def record(folder: Path) -> None:
    """Run what the pages have as files, in their order; a change of a file is applied and run, too."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("OTEL_", "SCALY_"))}
    environment |= {"SCALY_VIZ_DIR": str(folder / "viz"), "SCALY_CACHE_DIR": str(folder / "jit")}
    environment["OTEL_RESOURCE_ATTRIBUTES"] = "host.name=laptop"
    for page in PAGES:
        for block in Page(DOCS / page).blocks:
            file = block.orders.get("file")
            if file is None:
                continue
            (folder / file).write_text(block.code, encoding="utf-8")
            if file.endswith(".diff"):
                file = block.code.split()[1]
                patch = ["patch", "--quiet", file, block.orders["file"]]
                subprocess.run(patch, cwd=folder, check=True)
            quiet = subprocess.DEVNULL
            # One of them is there to fail.
            subprocess.run(
                [sys.executable, file],
                cwd=folder,
                env=environment,
                stdout=quiet,
                stderr=quiet,
                check=False,
            )


def anonymize(path: Path, folder: Path) -> None:
    """Have the pictures show a user's folders instead of this machine's."""
    text = path.read_text(encoding="utf-8")
    for here, shown in ((sys.prefix, "/home/me/.venv"), (str(folder), "/home/me")):
        text = text.replace(here, shown)
    path.write_text(text, encoding="utf-8")


def places(url: str) -> dict[str, str | int]:
    """Return the recordings and steps that the pictures are about."""
    with urlopen(f"{url}api/v1/recordings?sort=started&order=asc") as answer:
        recordings = json.load(answer)["recordings"]
    first, loops, failed, memory = (each["id"] for each in recordings)
    steps = {name: _steps(url, name) for name in (loops, memory)}
    return {
        "first": first,
        "loops": loops,
        "failed": failed,
        "memory": memory,
        "lowered": steps[loops]["lowered"],
        "scalarize": steps[loops]["pass:scalarize"],
        "last": steps[loops]["pass:coalesce_stores"],
        "packed": steps[memory]["pass:pack_workspace"],
    }


def _steps(url: str, recording: str) -> dict[str, int]:
    with urlopen(f"{url}api/v1/recordings/{recording}") as answer:
        return {step["name"]: step["index"] for step in json.load(answer)["steps"]}


def take(tab: Tab, name: str, address: str) -> None:
    """Write the picture ``name`` of what is at ``address``, once the page has all that it asked for."""
    tab.goto(address)
    expect(tab.locator("main h1, main h2").first).to_be_visible()
    expect(tab.locator("[aria-busy=true], .skeleton")).to_have_count(0, timeout=30_000)
    if name == "graph":
        tab.get_by_role("button", name="Open all").click()
    tab.wait_for_timeout(500)  # syntax is colored when the browser has nothing else to do
    how = {"format": "webp", "quality": _QUALITY}
    answer = tab.context.new_cdp_session(tab).send("Page.captureScreenshot", how)
    (FOLDER / f"{name}.webp").write_bytes(base64.b64decode(answer["data"]))


def main() -> None:
    """Take all pictures."""
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary, sync_playwright() as playwright:
        folder = Path(temporary)
        record(folder)
        anonymize(folder / "viz" / "recordings.jsonl", folder)
        with serving(folder / "viz") as url:
            browser = playwright.chromium.launch(executable_path=chromium(), args=ARGUMENTS)
            context = browser.new_context(
                base_url=url, color_scheme="light", viewport={"width": _WIDTH, "height": _HEIGHT}
            )
            tab = context.new_page()
            about = places(url)
            for name, address in PICTURES.items():
                take(tab, name, address.format(**about))
            browser.close()


if __name__ == "__main__":
    main()
