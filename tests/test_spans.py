"""Owns the limits of a span's texts: no backend refuses a recording for a label or an error."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaly_viz.spans import TEXT_BYTES, bounded, clean


@given(st.text(max_size=50), st.integers(1, 3000))
def test_a_text_fits_and_keeps_its_ends(text: str, times: int) -> None:
    whole = text * times

    cut = bounded(whole)

    size = len(whole.encode())
    assert len(cut.encode()) <= TEXT_BYTES
    if size <= TEXT_BYTES:
        assert cut == whole
    else:
        first, note, last = cut.rpartition(f"\n[... cut: {size} bytes in all ...]\n")
        assert note
        assert whole.startswith(first)
        assert whole.endswith(last)
        assert len(first.encode()) + len(last.encode()) > TEXT_BYTES - 200


@pytest.mark.parametrize("character", ["x", "é", "😀", "\ud800"])
def test_every_attribute_of_a_recording_fits(character: str) -> None:
    cleaned = clean({"error": character * 100_000, "uncounted": [character * 100] * 10_000})

    for value in cleaned.values():
        text = value if isinstance(value, str) else json.dumps(value)
        assert len(text.encode()) <= TEXT_BYTES
    assert cleaned["error"]
    assert cleaned["uncounted"]


def test_an_exact_form_is_given_where_it_fits() -> None:
    assert clean({"label": "\ud800"}) == {"label": "\\ud800", "label.json": '"\\ud800"'}
    assert list(clean({"label": "\ud800" * 40_000})) == ["label"]
