"""Notebooks: %%visualize and show() display the viewer below a cell, and a saved notebook still does."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from nbconvert import HTMLExporter
from playwright.sync_api import Browser, Frame, Page, expect

import scaly_viz

pytestmark = [pytest.mark.browser, pytest.mark.slow]

CELLS = (
    "%load_ext scaly_viz\nfrom programs import failing, rendering\n"
    "programs = {each.name: each for each in (*rendering.PROGRAMS, *failing.PROGRAMS)}\n"
    "built = programs['lanes_4'].build(), programs['broken_pass'].build()",
    '%%visualize --label "by hand"\nprograms["lanes_4"].render(built[0])\n"the last value"',
    "%%visualize --functions nothing_like_this\n_ = programs['lanes_4'].render(built[0])",
    "%%visualize\nprograms['broken_pass'].render(built[1])",
    "import scaly_viz\nscaly_viz.show(scaly_viz.recordings()[0])",
    "scaly_viz.show(42)",
    "scaly_viz.show([])",
)


@pytest.fixture(scope="module")
def notebook(tmp_path_factory: pytest.TempPathFactory) -> nbformat.NotebookNode:
    """A notebook that was executed by a real kernel, saved, and opened again."""
    folder = tmp_path_factory.mktemp("notebook")
    cells = [nbformat.v4.new_code_cell(cell) for cell in CELLS]
    made = nbformat.v4.new_notebook(cells=cells)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SCALY_VIZ_DIR", str(folder))
        patch.setenv("IPYTHONDIR", str(folder / "ipython"))
        patch.setenv("JUPYTER_PLATFORM_DIRS", "1")
        patch.syspath_prepend(Path(__file__).parents[1])
        patch.setenv("PYTHONPATH", ":".join(sys.path))
        NotebookClient(made, allow_errors=True, timeout=120).execute()
    path = folder / "saved.ipynb"
    nbformat.write(made, path)
    saved: nbformat.NotebookNode = nbformat.read(path, as_version=4)
    return saved


@pytest.fixture
def page(browser: Browser, notebook: nbformat.NotebookNode, tmp_path: Path) -> Iterator[Page]:
    """The notebook as HTML, without a network."""
    html, _ = HTMLExporter(template_name="basic").from_notebook_node(notebook)
    file = tmp_path / "notebook.html"
    file.write_text(f"<!doctype html><title>notebook</title>{html}", encoding="utf-8")
    context = browser.new_context(offline=True)
    page = context.new_page()
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(file.as_uri())
    yield page
    context.close()
    assert complaints == []


def frame(page: Page, number: int) -> Frame:
    found = page.locator("iframe").nth(number)
    found.scroll_into_view_if_needed()
    content = found.element_handle().content_frame()
    assert content is not None
    return content


def test_a_saved_notebook_shows_what_its_cells_rendered(
    page: Page, notebook: nbformat.NotebookNode
) -> None:
    expect(page.locator("iframe")).to_have_count(3)
    shown = frame(page, 0)
    expect(shown.get_by_role("heading", level=1)).to_have_text("by hand")
    shown.get_by_role("link", name="Graph", exact=True).click()
    expect(shown.locator(".graph")).to_contain_text("nodes", timeout=20_000)
    failed = frame(page, 1)
    expect(failed.get_by_role("heading", level=1)).to_have_text("fails_in_a_pass")
    expect(failed.locator("main")).to_contain_text("failed")
    expect(frame(page, 2).get_by_role("heading", level=1)).to_have_text("by hand")


def test_a_cell_gives_its_value_and_its_error_as_it_would_by_itself(
    notebook: nbformat.NotebookNode,
) -> None:
    outputs = [cell.outputs for cell in notebook.cells]
    kinds = [[output.output_type for output in each] for each in outputs]

    assert kinds == [
        [],
        ["display_data", "execute_result"],
        ["stream"],
        ["display_data", "error"],
        ["display_data"],
        ["error"],
        ["error"],
    ]
    assert outputs[1][1].data["text/plain"] == "'the last value'"
    assert outputs[2][0].text == "%%visualize: nothing was rendered in this cell\n"
    assert "trust the notebook" in outputs[4][0].data["text/plain"]
    wanted = "an id, a dict of recordings(), or some of these are shown, not"
    assert [each[0].evalue for each in outputs[5:]] == [f"{wanted} 42", f"{wanted} []"]


def test_outside_of_a_notebook_show_says_where_recordings_can_be_seen(
    capsys: pytest.CaptureFixture[str],
) -> None:
    scaly_viz.show()

    assert "scaly-viz serve" in capsys.readouterr().err
