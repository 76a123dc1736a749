"""Owns the budgets of the graph's room: time to interact, frames while panning, blocked main thread."""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from playwright.sync_api import Page, sync_playwright

from bench import their_page
from bench.viewer import CHROMIUM, Figure, render, served, until

_ACT_MS = 60_000
_HUGE_NODES = 200_000
_SHOWN = '.graph-status span:has-text("boxes shown")'

_MANY = r".graph-status >> text=/[1-9],\d{3} boxes shown/"

# Long tasks are what the browser calls more than 50 ms of the main thread.
_WATCH = """
window.blocked = [];
new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) window.blocked.push(entry.duration);
}).observe({ type: "longtask", buffered: true });
"""
# Moves the picture by hand for a second, and returns the time between frames.
_PAN = """
() => new Promise((done) => {
    const canvas = document.querySelector("canvas.surface");
    const { left, top, width, height } = canvas.getBoundingClientRect();
    const at = (x, y, type, buttons) => (type === "mousedown" ? canvas : window).dispatchEvent(
        new MouseEvent(type, { clientX: x, clientY: y, buttons, bubbles: true, view: window }));
    const x = left + width / 2, y = top + height / 2;
    at(x, y, "mousedown", 1);
    const frames = [];
    let last = performance.now(), n = 0;
    const step = (now) => {
        frames.push(now - last);
        last = now;
        at(x + 200 * Math.sin(n / 10), y + 200 * Math.cos(n / 14), "mousemove", 1);
        if (++n < 90) requestAnimationFrame(step);
        else { at(x, y, "mouseup", 0); done(frames.slice(5)); }
    };
    requestAnimationFrame(step);
})
"""


def figures(rounds: int) -> Iterator[Figure]:
    """Yield the figures of the biggest graph of a real recording, and of one of 200,000 nodes."""
    executable = os.environ.get("CHROMIUM") or shutil.which("chromium")
    with tempfile.TemporaryDirectory() as temporary, sync_playwright() as playwright:
        folder = Path(temporary)
        recordings = render(folder)
        huge = folder / "huge" / "recordings.jsonl"
        huge.parent.mkdir()
        key = _record_huge(huge)
        browser = playwright.chromium.launch(executable_path=executable, args=CHROMIUM)
        with browser, browser.new_context(viewport={"width": 1440, "height": 900}) as context:
            page = context.new_page()
            page.add_init_script(_WATCH)
            with (
                served("ours", recordings.ours, folder / "viz") as (url, _),
                served("theirs", recordings.theirs, folder / "viz") as (theirs, _),
            ):
                yield from _real(page, url, theirs, list(recordings.spans)[1], rounds)
            with served("ours", huge, folder / "viz") as (url, _):
                yield from _huge(page, f"{url}/r/{key}/s/0?room=graph", rounds)


def _real(page: Page, url: str, theirs: str, id_: str, rounds: int) -> Iterator[Figure]:
    step, nodes = _biggest(url, id_)
    address = f"{url}/r/{id_}/s/{step}"
    old, opened, frames, blocked = [], [], [], []
    for _ in range(rounds):
        their_page.open_longest(page, theirs)
        old.append(their_page.show_graph(page, step, until))
        page.goto(f"{address}?room=text")
        page.wait_for_selector(".cm-line")
        began = time.perf_counter()
        page.keyboard.press("g")
        page.wait_for_selector(_SHOWN, timeout=_ACT_MS)
        page.evaluate("() => new Promise((done) => requestAnimationFrame(() => done()))")
        opened.append(time.perf_counter() - began)
        page.evaluate("window.blocked = []")
        page.keyboard.press("e")
        page.wait_for_selector(_MANY, timeout=_ACT_MS)
        frames.append(_middle(page.evaluate(_PAN)))
        blocked.append(max(page.evaluate("window.blocked"), default=0.0))
    yield Figure(f"graph of {nodes:,} nodes, to interact", old, opened, "<= 1 s")
    yield Figure("a frame while panning over all of it, in ms", None, frames, "<= 33 ms")
    yield Figure("longest task meanwhile, in ms", None, blocked, "<= 50 ms")


def _huge(page: Page, address: str, rounds: int) -> Iterator[Figure]:
    opened, blocked = [], []
    for _ in range(rounds):
        page.goto(address)
        page.evaluate("window.blocked = []")
        began = time.perf_counter()
        page.wait_for_selector(_SHOWN, timeout=_ACT_MS)
        opened.append(time.perf_counter() - began)
        page.wait_for_load_state("networkidle")
        blocked.append(max(page.evaluate("window.blocked"), default=0.0))
    yield Figure(f"graph of {_HUGE_NODES:,} nodes on screen", None, opened, "")
    yield Figure("longest task while it loads, in ms", None, blocked, "<= 50 ms")


def _middle(values: list[float]) -> float:
    return sorted(values)[len(values) // 2]


def _biggest(url: str, id_: str) -> tuple[int, int]:
    with urlopen(f"{url}/api/v1/recordings/{id_}") as response:
        steps: list[dict[str, Any]] = json.load(response)["steps"]
    sizes = {each["index"]: each["figures"].get("scaly.graph.nodes", 0) for each in steps}
    step = max(sizes, key=sizes.__getitem__)
    return step, sizes[step]


def _record_huge(path: Path) -> str:
    """Write a recording of one step, a program of 200,000 nodes: v(i) = v(i-1) * x[i]."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
    from scaly_viz import graph_table
    from scaly_viz.codec import GRAPH_DELTA, Payload
    from scaly_viz.graph_table import GraphDelta, Kind
    from viewer.recorded import Recorder

    kinds = [Kind("BUFFER", "float64\nx", "#fff", {"name": "x", "shape": [100_000]})]
    arity, args, statements = [0], [], []

    def add(kind: Kind, *of: int) -> int:
        kinds.append(kind)
        arity.append(len(of))
        args.extend(-1 - arg for arg in of)
        return len(kinds) - 1

    for i in range(_HUGE_NODES // 6):
        index = add(Kind("CONST_INT", "int64", "#fff", {"value": i}))
        view = add(Kind("VIEW", "float64", "#fff", {"buffer": "x"}), index)
        load = add(Kind("LOAD", "float64", "#fff", {}), view)
        before = add(Kind("VAR", f"float64\nv{i - 1}", "#fff", {"name": f"v{i - 1}"}))
        product = add(Kind("MUL", "float64", "#fff", {}), before, load)
        target = {"target": f"v{i}", "declare": True}
        statements.append(add(Kind("ASSIGN", f"float64\nv{i}", "#fff", target), product))
    parameters = {"name": "f", "param_count": 1, "input_count": 1}
    root = add(Kind("PROC", "float64\nf", "#fff", parameters), 0, *statements)
    delta = GraphDelta("p", [root], 0, 0, kinds, [*range(len(kinds))], arity, args)
    payload = Payload("graph", graph_table.encode(delta), GRAPH_DELTA)
    return Recorder(path).record("huge", steps=[{"graph": payload}])
