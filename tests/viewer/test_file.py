"""The viewer as one HTML file: it shows what a server shows, from the disk, and asks nobody for anything."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]  # it has none
from flask.testing import FlaskClient
from playwright.sync_api import Browser, Page, expect

from scaly_viz.sources import load
from scaly_viz_viewer import create_app
from scaly_viz_viewer.standalone.page import write_html

pytestmark = [pytest.mark.browser, pytest.mark.slow]

RENDERS = """
import contextlib, sys
import scaly_viz
import programs

scaly_viz.configure(directory=sys.argv[1])
for name in ("lanes_1", "lanes_4", "shared_callee", "odd_names", "broken_pass"):
    program = next(each for each in programs.PROGRAMS if each.name == name)
    fun = program.build()
    scaly_viz.visualize(fun, label=name)
    with contextlib.suppress(Exception):
        program.render(fun)
"""
ASK = """async (urls) => Promise.all(urls.map(async (url) => {
    try { return await scalyViz.answer(url); } catch (error) { return [error.status, error.code]; }
}))"""


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("recorded")
    command = [sys.executable, "-c", RENDERS, str(folder)]
    subprocess.run(command, check=True, cwd=Path(__file__).parents[1])
    return folder / "recordings.jsonl"


@pytest.fixture(scope="module")
def file(recorded: Path) -> Path:
    """A page with all of these recordings."""
    path = recorded.with_name("page.html")
    path.write_bytes(write_html(load(recorded, pytest.fail), seconds=120))
    return path


@pytest.fixture
def server(recorded: Path) -> FlaskClient:
    return create_app(recorded).test_client()


@pytest.fixture
def page(browser: Browser, file: Path) -> Iterator[Page]:
    """A page without a network: what it complains of, and whatever it asks for, fails the test."""
    context = browser.new_context(offline=True, viewport={"width": 1440, "height": 900})
    page = context.new_page()
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: complaints.append(request.url))
    page.goto(file.as_uri())
    page.wait_for_selector("main")  # unpacked, and drawn
    yield page
    context.close()
    own = (file.as_uri(), "data:", "blob:")
    assert [each for each in complaints if not each.startswith(own)] == []


def answers(page: Page, urls: list[str]) -> list[Any]:
    found: list[Any] = page.evaluate(ASK, urls)
    return found


def of_server(server: FlaskClient, url: str) -> Any:
    answer = server.get(url)
    found = answer.get_json()
    return found if answer.status_code == 200 else [answer.status_code, found["error"]["code"]]


def ids(server: FlaskClient) -> dict[str, str]:
    """The recordings' ids by their names."""
    listed = server.get("/api/v1/recordings").get_json()["recordings"]
    return {each["name"]: each["id"] for each in listed}


def without_source(answer: Any) -> Any:
    if isinstance(answer, dict):
        return {key: without_source(each) for key, each in answer.items() if key != "source"}
    return [*map(without_source, answer)] if isinstance(answer, list) else answer


def assert_same(page: Page, server: FlaskClient, urls: list[str]) -> int:
    """Assert that the file answers what the server does; return how many answers were more than an error."""
    found = dict(zip(urls, answers(page, urls), strict=True))
    expected = {url: of_server(server, url) for url in urls}
    differing = [url for url in urls if without_source(found[url]) != without_source(expected[url])]
    assert differing == [], (len(differing), found[differing[0]], expected[differing[0]])
    return sum(isinstance(each, dict) for each in expected.values())


def steps_of(server: FlaskClient, id_: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = server.get(f"/api/v1/recordings/{id_}").get_json()["steps"]
    return found


def texts_of(server: FlaskClient, id_: str) -> Iterator[tuple[int, str, str]]:
    """Each different text: its step, its kind and itself."""
    seen = set()
    for step in steps_of(server, id_):
        for payload in step["payloads"]:
            if payload["kind"] != "graph" and payload["digest"] not in seen:
                seen.add(payload["digest"])
                url = f"/api/v1/recordings/{id_}/steps/{step['index']}/payloads/{payload['kind']}"
                yield step["index"], payload["kind"], server.get(url).get_data(as_text=True)


def test_what_is_known_of_recordings_and_steps_is_what_a_server_says(
    page: Page, server: FlaskClient
) -> None:
    by_name = ids(server)
    urls = []
    for id_ in by_name.values():
        base = f"/api/v1/recordings/{id_}"
        urls += [base, f"{base}/changes", f"{base}/timeline", f"{base}/failure"]
        for step in steps_of(server, id_):
            at = f"{base}/steps/{step['index']}"
            urls += [f"{at}/{what}" for what in ("outline", "graph", "workspace")]
            urls += [f"{at}/graph/nodes/{node}" for node in (0, 7, 99_999)]
            kinds = [payload["kind"] for payload in step["payloads"]]
            urls += [f"{at}/cost/{kind}" for kind in kinds if kind != "graph"]
        others = [other for other in by_name.values() if other != id_]
        urls += [f"/api/v1/compare?left={id_}&right={other}" for other in others]

    assert assert_same(page, server, urls) > 300


def test_any_two_texts_differ_as_a_server_says(page: Page, server: FlaskClient) -> None:
    id_ = ids(server)["lanes_4"]
    texts = [(step, kind) for step, kind, _ in texts_of(server, id_)]
    urls = [
        f"/api/v1/diff?left={id_}/{step}/{kind}&right={id_}/{other}/{kind}&numbering={numbering}"
        for step, kind in texts
        for other, other_kind in texts
        if kind == other_kind and step < other
        for numbering in ("ignore", "exact")
    ]
    urls += [f"/api/v1/diff?right={id_}/{step}/{kind}" for step, kind in texts]
    urls.append(f"/api/v1/diff?right={id_}/99/listing")

    assert assert_same(page, server, urls) > 30


def test_texts_of_two_recordings_differ_as_a_server_says(page: Page, server: FlaskClient) -> None:
    by_name = ids(server)
    one, other = by_name["lanes_1"], by_name["lanes_4"]
    compared = server.get(f"/api/v1/compare?left={one}&right={other}").get_json()
    urls = [
        f"/api/v1/diff?left={one}/{row['left']}/{kind}&right={other}/{row['right']}/{kind}"
        for row in compared["steps"]
        for kind in row["kinds"]
        if kind != "graph" and None not in (row["left"], row["right"])
    ]

    assert assert_same(page, server, urls) > 3


@pytest.mark.parametrize("name", ["lanes_4", "shared_callee", "odd_names"])
def test_every_name_of_every_text_has_the_life_that_a_server_tells(
    page: Page, server: FlaskClient, name: str
) -> None:
    id_ = ids(server)[name]
    base = f"/api/v1/recordings/{id_}/values"
    urls = []
    for step, kind, text in texts_of(server, id_):
        for number, line in enumerate(text.split("\n"), 1):
            columns = [match.start() for match in re.finditer(r"\b[A-Za-z_]\w*", line[:400])]
            place = f"step={step}&kind={kind}&line={number}"
            urls += [f"{base}?{place}&column={column}" for column in columns[number % 3 :: 3]]

    assert assert_same(page, server, urls[::23]) > 3


@pytest.mark.parametrize("name", ["lanes_4", "shared_callee"])
def test_lines_correspond_as_a_server_says(page: Page, server: FlaskClient, name: str) -> None:
    id_ = ids(server)[name]
    texts = [*texts_of(server, id_)]
    urls = [
        f"/api/v1/recordings/{id_}/lines?step={step}&kind={kind}&line={line}"
        f"&to_step={to}&to_kind={to_kind}"
        for at, (step, kind, text) in enumerate(texts)
        for there, (to, to_kind, _) in enumerate(texts)
        if abs(at - there) < 4 or to_kind == "code"
        for line in range(1 + there % 3, text.count("\n") + 1, 23)
    ]

    assert assert_same(page, server, urls) > 50


@pytest.mark.parametrize("query", ["q=w", "q=[f-h]%2Bl%3Fo&regex=1", "q=PROG&case=1", "q=%C3%B4le"])
def test_a_search_finds_what_a_server_finds(page: Page, server: FlaskClient, query: str) -> None:
    urls = [f"/api/v1/recordings/{id_}/search?{query}" for id_ in ids(server).values()]

    assert_same(page, server, urls)


def test_a_person_walks_through_it_and_the_address_leads_back(
    page: Page, server: FlaskClient, file: Path
) -> None:
    expect(page.get_by_role("row")).to_have_count(1 + 5)
    page.get_by_role("link", name="lanes_4", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("lanes_4")
    steps = page.get_by_role("navigation", name="Steps")
    steps.get_by_role("link").filter(has_text="lowered").click()
    expect(steps.locator("[aria-current=step]")).to_contain_text("lowered")
    page.locator(".pane").last.get_by_text("x", exact=True).first.click()
    expect(page.locator(".pinned")).to_contain_text("input")
    address = page.url
    assert address.startswith(f"{file.as_uri()}#/r/{ids(server)['lanes_4']}/s/")
    page.get_by_role("navigation", name="Where you are").get_by_role("link").click()
    expect(page.get_by_role("row")).to_have_count(1 + 5)
    page.go_back()
    assert page.url == address
    page.reload()
    expect(page.locator(".pinned")).to_contain_text("input")
    with page.expect_download() as download:
        page.get_by_role("link", name="Download").click()
    id_, (step,) = ids(server)["lanes_4"], re.findall(r"/s/(\d+)", address)
    text = server.get(f"/api/v1/recordings/{id_}/steps/{step}/payloads/listing").data
    assert download.value.path().read_bytes() == text


VIEWS = {
    "list": "#/",
    "text": "#/r/{lanes_4}/s/6",
    "pinned": "#/r/{lanes_4}/s/6?kind=listing&heat=flops&line=3",
    "side by side": "#/r/{lanes_4}/s/9?kind=assembly&against=4&view=split&context=all",
    "graph": "#/r/{shared_callee}/s/6?room=graph",
    "memory": "#/r/{lanes_4}/s/16?room=memory",
    "overview": "#/r/{odd_names}?room=overview",
    "search": "#/r/{lanes_4}?room=search&q=w",
    "search in all": "#/search?q=w",
    "failure": "#/r/{broken_pass}",
    "comparison": "#/compare?left={lanes_1}&right={lanes_4}",
}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(
    page: Page, server: FlaskClient, file: Path, scheme: str
) -> None:
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    found = []
    for name, address in VIEWS.items():
        page.goto("about:blank")
        page.goto(file.as_uri() + address.format(**ids(server)))
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
