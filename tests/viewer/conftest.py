"""Owns what the viewer's tests share: a recording file, an application that shows it, a real Chromium."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from flask.testing import FlaskClient
from playwright.sync_api import Browser, Page, Playwright, expect, sync_playwright

from scaly_viz_viewer import create_app

from .recorded import Recorder
from .serving import serving

# How long it takes says more about the machine than about the page.
expect.set_options(timeout=20_000)

ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
# A clipboard that takes every character: the browser's own ends at a null.
_KEEP_COPIES = """
Object.defineProperty(navigator, "clipboard", {
    value: { writeText: async (text) => { window.copied = text; } },
});
"""


def chromium() -> str:
    """The path of the browser."""
    path = os.environ.get("CHROMIUM") or shutil.which("chromium")
    if path is None:
        pytest.fail("no Chromium: install it, or name its path in CHROMIUM")
    return path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "recordings.jsonl"


@pytest.fixture
def recorder(path: Path) -> Recorder:
    return Recorder(path)


@pytest.fixture
def client(path: Path) -> FlaskClient:
    return create_app(path).test_client()


@pytest.fixture(scope="module")
def playwright() -> Iterator[Playwright]:
    with sync_playwright() as running:
        yield running


@pytest.fixture(scope="module")
def browser(playwright: Playwright) -> Iterator[Browser]:
    browser = playwright.chromium.launch(executable_path=chromium(), args=ARGUMENTS)
    yield browser
    browser.close()


@pytest.fixture
def url(path: Path) -> Iterator[str]:
    with serving(path) as address:
        yield address


@pytest.fixture
def complaints() -> list[str]:
    """What the browser says on its console, and requests that leave the viewer."""
    return []


@pytest.fixture
def page(browser: Browser, url: str, complaints: list[str]) -> Iterator[Page]:
    """A page at the viewer; what the browser complains of fails the test."""
    context = browser.new_context(base_url=url)
    context.add_init_script(_KEEP_COPIES)
    page = context.new_page()
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("dialog", lambda dialog: complaints.append(dialog.message))
    page.on("request", lambda request: _note_foreign(request.url, url, complaints))
    yield page
    context.close()
    assert complaints == []


@pytest.fixture(scope="session")
def big_callee_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recording of the test program ``big_callee``, whose graph and memory are worth a look."""
    from .drawn import render

    file = tmp_path_factory.mktemp("big_callee") / "recordings.jsonl"
    render(file, "big_callee")
    return file


@pytest.fixture
def big_callee(big_callee_file: Path, path: Path, page: Page) -> Page:
    """A page at a viewer that shows the recording of ``big_callee``."""
    shutil.copy(big_callee_file, path)
    return page


def _note_foreign(asked: str, own: str, complaints: list[str]) -> None:
    if not asked.startswith((own, "data:", "blob:")):
        complaints.append(f"asked another host: {asked}")
