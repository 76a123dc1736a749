"""Owns looking at what the page draws: the graph and the memory map of a recording."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

from playwright.sync_api import FloatRect, Locator, Page, expect

RENDER = """
import sys
import scaly_viz
from programs import PROGRAMS
program = next(each for each in PROGRAMS if each.name == sys.argv[2])
scaly_viz.configure(directory=sys.argv[1])
program.render(scaly_viz.visualize(program.build(), label=program.name))
"""


def render(path: Path, program: str) -> None:
    """Let scaly render a test program in a process of its own, recorded in ``path``."""
    command = [sys.executable, "-c", RENDER, str(path.parent), program]
    subprocess.run(command, check=True, cwd=Path(__file__).parents[1])


def open_room(page: Page, step: str, room: str = "graph", **parameters: str) -> dict[str, Any]:
    """Go to a room of the newest recording's step of this name; return the step."""
    page.set_viewport_size({"width": 1800, "height": 1000})
    page.emulate_media(reduced_motion="reduce")
    (newest, *_) = page.request.get("/api/v1/recordings").json()["recordings"]
    found = page.request.get(f"/api/v1/recordings/{newest['id']}").json()["steps"]
    chosen: dict[str, Any] = next(each for each in found if each["name"] == step)
    query = "".join(f"&{key}={value}" for key, value in parameters.items())
    page.goto(f"/r/{newest['id']}/s/{chosen['index']}?room={room}{query}")
    ready = ".graph-status span" if room == "graph" else ".memory-figures, .memory-empty"
    expect(page.locator(ready).first).not_to_be_empty()
    if room == "graph":
        expect(status(page)).to_contain_text("boxes shown")
    return chosen


def status(page: Page) -> Locator:
    return page.locator(".graph-status")


def rows(page: Page) -> Locator:
    return page.get_by_role("treeitem")


def row(page: Page, title: str) -> Locator:
    return rows(page).filter(has=page.get_by_text(title, exact=True)).first


def titles(page: Page) -> list[str]:
    """What the outline shows, in order; it has what the canvas shows."""
    found: list[str] = page.locator(".graph-row").evaluate_all(
        """rows => rows.map(row => [row.offsetTop, row.querySelector('.graph-title').textContent])
            .sort((a, b) => a[0] - b[0]).map(([, title]) => title)"""
    )
    return found


def drawn_pixels(page: Page, canvas: str) -> int:
    """How many pixels of a canvas are not of the color of its corner."""
    count: int = page.locator(canvas).evaluate(
        """canvas => {
            const { width, height } = canvas;
            const data = canvas.getContext('2d').getImageData(0, 0, width, height).data;
            let count = 0;
            for (let i = 0; i < data.length; i += 4) {
                if (data[i] !== data[0] || data[i + 1] !== data[1] || data[i + 2] !== data[2]) count++;
            }
            return count;
        }"""
    )
    return count


def stage(page: Page) -> FloatRect:
    """Where the graph's canvas is on the screen."""
    box = page.locator(".graph-stage canvas.surface").bounding_box()
    assert box is not None
    return box


def spot(page: Page, title: str) -> tuple[float, float]:
    """The middle of the box of this title on the screen, as the pointer finds it on the canvas."""
    found: list[float] | None = page.locator(".graph-stage").evaluate(
        """(host, title) => {
            const canvas = host.querySelector('canvas.surface');
            const tip = host.querySelector('.graph-tip');
            const { left, top, right, bottom } = canvas.getBoundingClientRect();
            const isThere = (clientX, clientY) => {
                canvas.dispatchEvent(new PointerEvent('pointermove', { clientX, clientY }));
                return !tip.hidden && tip.textContent.split('\\n')[0] === title;
            };
            const find = () => {
                for (let y = top + 2; y < bottom; y += 8)
                    for (let x = left + 2; x < right; x += 12) if (isThere(x, y)) return [x, y];
                return null;
            };
            const found = find();
            if (!found) return null;
            const [x, y] = found;
            let [x1, x2, y1, y2] = [x, x, y, y];
            while (x1 > left && isThere(x1 - 1, y)) x1--;
            while (x2 < right && isThere(x2 + 1, y)) x2++;
            while (y1 > top && isThere(x, y1 - 1)) y1--;
            while (y2 < bottom && isThere(x, y2 + 1)) y2++;
            canvas.dispatchEvent(new PointerEvent('pointerleave'));
            return [(x1 + x2) / 2, (y1 + y2) / 2];
        }""",
        title,
    )
    assert found is not None, f"the canvas has no box {title}"
    return found[0], found[1]
