"""Owns the budgets of the page: what a person waits for, in a real Chromium, beside scaly.viz's page.

Both servers run at once on the same renders, and take turns; each figure is the median of the rounds.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from urllib.request import urlopen

from playwright.sync_api import Page, sync_playwright

from bench import their_page
from scaly_viz.analysis.diff import diff_texts
from scaly_viz.sources import load

_RENDER = """
import sys
sys.path.insert(0, {tests!r})
import scaly.viz, scaly_viz
from scaly.codegen.aot import render_c_source
from programs import PROGRAMS, cartpole

small = next(program for program in PROGRAMS if program.name == "saturation").build()
solver = cartpole.build()
for function in (small, getattr(solver, "function", solver)):
    scaly_viz.visualize(function)
    scaly.viz.visualize(function)
    render_c_source(function)
"""
_SERVE = {
    "ours": "import scaly_viz_viewer as v; v.serve(port={port}, path={path!r})",
    "theirs": "import scaly.viz as v; v.serve(port={port}, path={path!r})",
}
CHROMIUM = ("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run")
_WAIT_S = 120
_BIG_BYTES = 2 * 10**9
_DIFFERENCE_BYTES = 600_000


class Figure(NamedTuple):
    """One line of the table; times in seconds, ``theirs`` None where it was not run."""

    what: str
    theirs: list[float] | None
    ours: list[float]
    budget: str


class Recordings(NamedTuple):
    """Two renders as both tools keep them: a small one, and the 20-stage cart-pole."""

    ours: Path
    theirs: Path
    spans: dict[str, list[bytes]]
    """The lines of ours, by recording id, the small one's first."""


def render(folder: Path) -> Recordings:
    """Render with both tools in one process."""
    tests = str(Path(__file__).parents[1] / "tests")
    environment = os.environ | {
        "SCALY_VIZ_DIR": str(folder / "viz"),
        "SCALY_CACHE_DIR": str(folder / "jit"),
    }
    code = _RENDER.format(tests=tests)
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)
    ours = folder / "viz" / "recordings.jsonl"
    spans: dict[str, list[bytes]] = {}
    for line in ours.read_bytes().splitlines(keepends=True):
        found = re.search(rb'"scaly.recording.id", ?"value": ?{"stringValue": ?"(\w+)"', line)
        assert found is not None
        spans.setdefault(found[1].decode(), []).append(line)
    return Recordings(ours, folder / "viz" / "recordings.json", spans)


def multiply(lines: list[bytes], id_: str, to: Path, *, count: int, max_bytes: int = 0) -> None:
    """Write ``count`` copies of a recording, each with ids and times of its own."""
    written = 0
    with to.open("wb") as file:
        for i in range(count):
            new = hashlib.md5(str(i).encode()).hexdigest().encode()
            for line in lines:
                copy = line.replace(id_.encode(), new)
                copy = re.sub(rb'("traceId": ?)"\w+"', rb'\1"%s"' % new, copy)
                copy = re.sub(rb'(UnixNano": ?")(\d+)', _later(i), copy)
                written += file.write(copy)
            if max_bytes and written > max_bytes:
                return


def _later(seconds: int) -> Callable[[re.Match[bytes]], bytes]:
    return lambda match: match[1] + b"%d" % (int(match[2]) + seconds * 10**9)


@contextmanager
def served(which: str, path: Path, folder: Path) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """Serve ``path``, and yield the address once it is answered."""
    with contextlib.closing(socket.socket()) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    code = _SERVE[which].format(port=port, path=str(path))
    environment = os.environ | {"SCALY_VIZ_DIR": str(folder)}
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.DEVNULL, env=environment
    ) as process:
        try:
            url = f"http://127.0.0.1:{port}"
            _answered(f"{url}/")
            yield url, process
        finally:
            process.terminate()


def _answered(url: str) -> None:
    deadline = time.monotonic() + _WAIT_S
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError), urlopen(url, timeout=_WAIT_S) as response:
            response.read()
            return
        time.sleep(0.01)
    raise TimeoutError(url)


def until(page: Page, act: Callable[[], object], selector: str) -> float:
    """Return how long after ``act`` something is drawn that ``selector`` finds."""
    began = time.perf_counter()
    act()
    page.wait_for_selector(selector, timeout=_WAIT_S * 1000)
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => done()))")
    return time.perf_counter() - began


def figures(rounds: int) -> Iterator[Figure]:
    """Yield the figures as they are measured."""
    executable = os.environ.get("CHROMIUM") or shutil.which("chromium")
    with tempfile.TemporaryDirectory() as temporary, sync_playwright() as playwright:
        folder = Path(temporary)
        recordings = render(folder)
        browser = playwright.chromium.launch(executable_path=executable, args=CHROMIUM)
        with browser, browser.new_context(viewport={"width": 1440, "height": 900}) as context:
            page = context.new_page()
            yield _two(page, recordings, folder, rounds)
            for count, budget in ((1000, "<= 1 s"), (10_000, "")):
                yield _many(page, recordings, folder, count, budget, rounds)
            yield from _rooms(page, recordings, folder, rounds)
        yield _difference(recordings, rounds)
        yield from _big(recordings, folder, rounds)


def _two(page: Page, recordings: Recordings, folder: Path, rounds: int) -> Figure:
    with (
        served("ours", recordings.ours, folder / "viz") as (ours, _),
        served("theirs", recordings.theirs, folder / "viz") as (theirs, _),
    ):
        seen = [
            (
                until(page, lambda: page.goto(theirs), ".recording"),
                until(page, lambda: page.goto(ours), 'a[href^="/r/"]'),
            )
            for _ in range(rounds)
        ]
    return Figure("list of 2 recordings", [t for t, _ in seen], [o for _, o in seen], "<= 0.5 s")


def _many(
    page: Page, recordings: Recordings, folder: Path, count: int, budget: str, rounds: int
) -> Figure:
    id_, lines = next(iter(recordings.spans.items()))
    file = folder / f"{count}.jsonl"
    multiply(lines, id_, file, count=count)
    seen = []
    with served("ours", file, folder / "viz") as (url, _):
        _answered(f"{url}/api/v1/recordings?limit=1")
        seen = [until(page, lambda: page.goto(url), 'a[href^="/r/"]') for _ in range(rounds)]
    return Figure(f"list of {count:,} recordings", None, seen, budget)


def _rooms(page: Page, recordings: Recordings, folder: Path, rounds: int) -> Iterator[Figure]:
    id_ = list(recordings.spans)[1]
    big = f"/r/{id_}/s/%d?kind=assembly&against=%s"
    text = '[aria-label="assembly of step %d"] .cm-line'
    with (
        served("ours", recordings.ours, folder / "viz") as (url, _),
        served("theirs", recordings.theirs, folder / "viz") as (theirs, _),
    ):
        step, after = _longest(url, id_)
        old, cold, old_steps = [], [], []
        for _ in range(rounds):
            their_page.open_longest(page, theirs)
            old.append(their_page.show_text(page, step, until))
            old_steps.append(their_page.show_text(page, after, until))
            old_steps.append(their_page.show_text(page, step, until))
            page.goto(url + big % (0, "none"))
            page.wait_for_selector(text % 0)
            page.wait_for_load_state("networkidle")
            page.get_by_role("button", name=re.compile("^all ")).click()
            row = page.locator(f'.steps a[href*="/s/{step}?"]')
            cold.append(until(page, row.click, text % step))
        yield Figure("the longest assembly, from the click on its step", old, cold, "<= 0.2 s")
        fresh = []
        for _ in range(rounds):
            page.goto(url)
            page.wait_for_selector('a[href^="/r/"]')
            address = url + big % (step, "none")
            fresh.append(until(page, lambda to=address: page.goto(to), text % step))
        yield Figure("the longest assembly on screen, page load included", None, fresh, "")
        page.goto(url + big % (step, "none"))
        page.wait_for_selector(text % step)
        page.wait_for_load_state("networkidle")
        warm = []
        for _ in range(rounds):
            there = until(page, lambda: page.keyboard.press("ArrowRight"), text % after)
            back = until(page, lambda: page.keyboard.press("ArrowLeft"), text % step)
            warm += [there, back]
        what = "another step, text of the same length, warm"
        yield Figure(what, old_steps, warm, "<= 0.1 s")


def _longest(url: str, id_: str) -> tuple[int, int]:
    """Return the step with the longest assembly, and the step whose text is shown after it."""
    with urlopen(f"{url}/api/v1/recordings/{id_}") as response:
        steps = json.load(response)["steps"]
    sizes = {
        step["index"]: next(p["size"] for p in step["payloads"] if p["kind"] == "assembly")
        for step in steps
        if step["dialect"] == "prog" and step["changed"]
    }
    longest = max(sizes, key=sizes.__getitem__)
    later = [index for index in sizes if index > longest]
    return longest, later[0] if later else longest


def _difference(recordings: Recordings, rounds: int) -> Figure:
    """The difference that costs most: every line of a text has got other numbers."""
    *_, recording = load(recordings.ours, print)
    texts = (recording.text(s, "assembly") for s in recording.steps if "assembly" in s.payloads)
    text = max(texts, key=len)
    text = "\n".join([text] * -(-_DIFFERENCE_BYTES // len(text)))
    other = re.sub(r"(%[a-z]+)(\d+)", lambda match: f"{match[1]}{int(match[2]) + 1}", text)
    seen = []
    for _ in range(rounds):
        began = time.perf_counter()
        diff_texts(text, other)
        seen.append(time.perf_counter() - began)
    what = f"difference of {len(text):,} bytes, each line renumbered"
    return Figure(what, None, seen, "<= 0.05 s for 600 KB")


def _big(recordings: Recordings, folder: Path, rounds: int) -> Iterator[Figure]:
    id_, lines = list(recordings.spans.items())[1]
    file = folder / "big.jsonl"
    multiply(lines, id_, file, count=10**6, max_bytes=_BIG_BYTES)
    first = "/api/v1/recordings?limit=100"
    with served("ours", file, folder / "viz") as (url, _):
        _answered(url + first)  # which makes the index
    seen, memory = [], []
    for _ in range(rounds):
        began = time.perf_counter()
        with served("ours", file, folder / "viz") as (url, process):
            _answered(url + first)
            seen.append(time.perf_counter() - began)
            for line in Path(f"/proc/{process.pid}/status").read_text().splitlines():
                if line.startswith("VmHWM:"):
                    memory.append(int(line.split()[1]) / 1e3)
    yield Figure("2 GB opened, warm index, Python's start included", None, seen, "<= 2 s")
    yield Figure("memory of that server in MB", None, memory, "<= 300 MB")
