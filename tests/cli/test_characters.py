"""Owns the tests of foreign text on a terminal."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from scaly_viz.cli.characters import ascii_json, visible, visible_json, visible_lines

ANY_TEXT = st.text(st.characters(codec=None))


def test_controls_become_their_escapes() -> None:
    assert visible("a\x1b[2J\r\n\x9b\u202e\u200b\ud800") == r"a\x1b[2J\r\n\x9b\u202e\u200b\ud800"
    assert visible("Größe 速度 🚀 [red]") == "Größe 速度 🚀 [red]"


def test_lines_keep_their_ends_and_tabs() -> None:
    assert visible_lines("a\tb\r\nc\rd\n\x00") == "a\tb\nc\\rd\n\\x00"


@given(ANY_TEXT)
def test_what_is_visible_is_printable(text: str) -> None:
    assert visible(text).isprintable()
    assert visible(visible(text)) == visible(text)


@given(st.recursive(ANY_TEXT, lambda inner: st.lists(inner) | st.dictionaries(ANY_TEXT, inner)))
def test_visible_json_means_the_same(value: object) -> None:
    text = visible_json(json.dumps(value, ensure_ascii=False, indent=1))
    assert text.replace("\n", "").isprintable()
    assert json.loads(text) == json.loads(json.dumps(value))
    assert json.loads(ascii_json(text)) == json.loads(text)
    assert ascii_json(text).isascii()
