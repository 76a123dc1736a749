"""What stands in the pages is true: every block of code is run, and prints what the page shows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from .gone_through import outcomes
from .outputs import agree
from .page import Page, pages
from .servers import needs_backends, running_backends, viewer_addresses
from .session import Session
from .stand_ins import STAND_INS

PAGES = [Page(path) for path in pages()]

# Why a block is not run, and how many there are of each. Whoever adds one says so here.
LEFT_OUT = {
    "a cell, the like of which tests/viewer/test_notebook.py runs": 1,
    "a drawing": 1,
    "a grammar": 1,
    "a benchmark takes minutes and a quiet machine": 4,
    "it needs another machine": 1,
    "there is no Tempo to be had in tests": 3,
}


@pytest.fixture(scope="module")
def backends(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """Where a real Jaeger and a real Collector are, by the addresses that pages have for them."""
    with running_backends(tmp_path_factory.mktemp("backends")) as addresses:
        yield addresses


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What is compiled once for all pages."""
    return tmp_path_factory.mktemp("cache")


@pytest.mark.slow
@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=pytest.mark.backend if needs_backends(page) else ())
        for page in PAGES
    ],
    ids=lambda page: page.name,
)
def test_every_block_of_a_page_does_what_the_page_says(
    page: Page, tmp_path: Path, cache: Path, request: pytest.FixtureRequest
) -> None:
    port, addresses = viewer_addresses()
    if needs_backends(page):
        addresses |= request.getfixturevalue("backends")
    with Session(tmp_path, cache, addresses) as session:
        for outcome in outcomes(page, session, port):
            assert outcome.ended_well, str(outcome)
            assert outcome.is_as_shown, str(outcome)


def test_what_is_not_run_is_listed_with_its_reason() -> None:
    reasons = Counter(
        block.orders["not run"]
        for page in PAGES
        for block in page.blocks
        if "not run" in block.orders
    )
    assert dict(reasons) == LEFT_OUT
    assert all(each.reason.endswith(".") for each in STAND_INS)


@pytest.mark.parametrize(
    ("shown", "printed"),
    [
        ("recorded 1 of 2", "recorded 2 of 2"),
        ("C bytes 4,112", "C bytes 4,113"),
        ("one\ntwo", "one"),
        ("status ok", "status failed"),
    ],
)
def test_what_matters_in_an_output_is_compared(shown: str, printed: str) -> None:
    assert not agree(shown, printed)


def test_times_ids_and_widths_may_differ() -> None:
    shown = "7c0e9a50  2026-11-30 08:15  2.1 ms  http://127.0.0.1:8000/"
    assert agree(shown, "7c0e9a51    2026-12-01 17:02   12 s  http://127.0.0.1:43211/")
    assert agree("first\n...\nlast", "first\nsecond\nthird\nlast")
