"""Every picture that a page shows is made by a script, and every one that is made is shown."""

from __future__ import annotations

import re

import pytest

from . import pictures
from .page import DOCS, Page, pages

_SIGNATURE = b"RIFF"


def test_the_pictures_of_the_pages_are_those_that_the_script_takes() -> None:
    shown = {
        (page.parent / target).resolve()
        for page in pages()
        for target in re.findall(r"!\[[^\]]+\]\(([^)]+)\)", Page(page).text)
    }
    taken = {pictures.FOLDER / f"{name}.webp" for name in pictures.PICTURES}

    assert shown == taken
    assert set(pictures.FOLDER.iterdir()) == taken


@pytest.mark.parametrize("name", pictures.PICTURES)
def test_a_picture_is_one_and_small(name: str) -> None:
    data = (pictures.FOLDER / f"{name}.webp").read_bytes()
    assert data.startswith(_SIGNATURE)
    assert 10_000 < len(data) < 120_000


def test_the_programs_of_the_pictures_are_those_of_the_pages() -> None:
    files = [
        block.orders["file"]
        for page in pictures.PAGES
        for block in Page(DOCS / page).blocks
        if "file" in block.orders
    ]
    assert files == ["chain.py", "change.diff", "transpose.py", "filter.py"]
