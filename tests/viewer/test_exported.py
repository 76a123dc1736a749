"""Owns the tests of exports in the programs that show them: scaly.viz's own viewer, and a browser."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from urllib.request import urlopen

import pytest
from playwright.sync_api import Browser, expect
from scaly.viz.serve import VizServer

from analysis.recorded import record
from scaly_viz.errors import ScalyVizError
from scaly_viz.exports.chosen import chosen
from scaly_viz.exports.formats import Options, named
from scaly_viz.imports.arrivals import RecordingFile
from scaly_viz.imports.readers import lines_in
from scaly_viz.recording import Recording
from scaly_viz.sources import fail, load
from scaly_viz_viewer.standalone.page import write_html

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def exported(recording: Recording, name: str, path: Path) -> Path:
    path.write_bytes(b"".join(named(name).writer()([chosen(recording)], Options())))
    return path


def test_scaly_viz_shows_what_was_exported_as_its_json(browser: Browser, tmp_path: Path) -> None:
    recording = record("hessian")
    server = VizServer(("127.0.0.1", 0), exported(recording, "json", tmp_path / "x.json"))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    page = browser.new_page()
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    try:
        url = f"http://127.0.0.1:{server.server_port}/"
        with urlopen(f"{url}recordings") as answer:
            assert json.load(answer) == [recording.to_dict()]
        page.goto(url)
        expect(page.locator("#meta")).to_have_text("1 recordings")
        steps = page.locator(".step")
        expect(steps).to_have_text([step.name for step in recording.steps])
        for step, tab in ((recording.steps[0], "asm"), (recording.steps[-1], "code")):
            steps.nth(step.index).click()
            text = recording.text(step, "code" if tab == "code" else "assembly")
            shown = page.locator(".line-text").all_inner_texts()
            assert shown == text.split("\n")
        steps.nth(0).click()
        page.click("[data-tab=dag]")
        expect(page.locator("g.node")).to_have_count(
            len(recording.graph(recording.steps[0])["nodes"])
        )
    finally:
        page.close()
        server.shutdown()
        thread.join()
        server.server_close()
    assert complaints == []


def test_a_browser_shows_the_picture(browser: Browser, tmp_path: Path) -> None:
    path = exported(record("hessian"), "svg", tmp_path / "x.svg")
    page = browser.new_page()
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.goto(path.as_uri())
    titles = page.locator("svg > g > rect")
    assert titles.count() > 3
    bounds = page.evaluate(
        "() => { const b = document.documentElement.getBBox(); return [b.width, b.height]; }"
    )
    size = page.evaluate(
        "() => { const s = document.documentElement.viewBox.baseVal; return [s.width, s.height]; }"
    )
    assert bounds == size, "something is drawn beside the paper"
    page.close()
    assert complaints == []


def test_a_page_comes_back_as_the_recordings_that_it_shows(tmp_path: Path) -> None:
    # Whichever of the two was recorded first: a file is read in that order.
    recordings = sorted([record("chain"), record("high_rank")], key=lambda each: each.end_ns)
    page, into = tmp_path / "x.html", tmp_path / "into.jsonl"
    taken = [chosen(recording) for recording in recordings]
    page.write_bytes(b"".join(named("html").writer()(taken, Options())))

    RecordingFile(into, fail).add(lines_in(page, fail))

    assert [came.to_dict() for came in load(into, fail)] == [was.to_dict() for was in recordings]


def test_a_page_that_is_not_built_is_told_before_anything_is_worked_out(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def work(*_: object) -> None:
        pytest.fail("worked for nothing")

    monkeypatch.setattr("scaly_viz_viewer.standalone.page.STATIC", tmp_path)
    monkeypatch.setattr("scaly_viz_viewer.standalone.page.Archive", work)
    with pytest.raises(ScalyVizError, match="the page is not built"):
        write_html([record("hessian")])
