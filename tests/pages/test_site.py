"""The site: built without a warning, with no link that leads nowhere and nothing from another host."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

import scaly_viz

from .page import DOCS, ROOT, Page, pages

pytestmark = pytest.mark.slow


class Links(HTMLParser):
    """What a page of the site links to and loads, and the places in it that can be linked to."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = {name: value or "" for name, value in attrs}
        self.anchors.update(named[key] for key in ("id", "name") if key in named)
        if tag == "a" and "href" in named:
            self.links.append(named["href"])
        elif tag in ("img", "script", "source", "iframe") and "src" in named:
            self.loaded.append(named["src"])
        elif tag == "link" and named.get("rel") in ("stylesheet", "preload", "icon"):
            self.loaded.append(named["href"])


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> dict[Path, Links]:
    """The pages of the built site."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "--fail-on-warning", "--keep-going", "--quiet"]
    done = subprocess.run(
        [*command, "-d", folder / "doctrees", DOCS, folder / "html"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, ""), f"{done.stdout}{done.stderr}"
    return {path: Links(path) for path in sorted((folder / "html").rglob("*.html"))}


def test_every_link_of_the_site_leads_somewhere(site: dict[Path, Links]) -> None:
    assert len(site) > 20
    lost = [
        f"{path.name}: {link}"
        for path, page in site.items()
        for link in (*page.links, *page.loaded)
        if not urlsplit(link).scheme and not _exists(link, path, site)
    ]
    assert lost == []


def _exists(link: str, path: Path, site: dict[Path, Links]) -> bool:
    parts = urlsplit(link)
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if target.is_dir():
        target /= "index.html"
    if not target.is_file():
        return False
    anchor = unquote(parts.fragment)
    return not anchor or target not in site or anchor in site[target].anchors


def test_the_site_loads_nothing_from_another_host(site: dict[Path, Links]) -> None:
    loaded = {each for page in site.values() for each in page.loaded}
    root = next(iter(site)).parent
    styles = "".join(file.read_text(encoding="utf-8") for file in root.rglob("*.css"))

    assert [each for each in loaded if urlsplit(each).netloc] == []
    assert re.findall(r"(?:@import|url\()\s*['\"]?(?:https?:)?//[^)]+", styles) == []


def test_every_page_is_in_the_site_and_can_be_found(site: dict[Path, Links]) -> None:
    names = {path.stem for path in site}
    assert {path.stem for path in DOCS.rglob("*.md")} <= names
    assert {"search", "genindex"} <= names


def test_the_reference_has_every_public_name(site: dict[Path, Links]) -> None:
    (page,) = (links for path, links in site.items() if path.stem == "python")
    names = {f"scaly_viz.{name}" for name in scaly_viz.__all__ if name != "__version__"}
    assert names - page.anchors == set()


def _markdown_links(page: Page) -> Iterator[str]:
    prose = re.sub(r"```.*?```|`[^`\n]*`", "", page.text, flags=re.DOTALL)
    yield from re.findall(r"\]\(([^)\s]+)\)", prose)


def _slugs(page: Page) -> set[str]:
    """Return the anchors that headings have where Markdown is shown, as on GitHub."""
    prose = re.sub(r"^```.*?^```", "", page.text, flags=re.DOTALL | re.MULTILINE)
    titles = re.findall(r"^#{1,6} +(.+?) *$", prose, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", [Page(path) for path in pages()], ids=lambda page: page.name)
def test_every_link_in_the_markdown_leads_somewhere(page: Page) -> None:
    for link in _markdown_links(page):
        parts = urlsplit(link)
        if parts.scheme:
            assert parts.scheme in ("https", "http"), link
            continue
        target = (page.path.parent / parts.path).resolve() if parts.path else page.path
        assert target.exists(), f"{page.name}: {link}"
        assert target.is_relative_to(ROOT), link
        if parts.fragment and target.suffix == ".md":
            assert parts.fragment in _slugs(Page(target)), f"{page.name}: {link}"
