"""Owns the tests of what a backend's address may be."""

from __future__ import annotations

import pytest

from scaly_viz.errors import BackendError
from scaly_viz.sources.address import Address, is_address, parse_address


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("jaeger:http://h:16686", Address("jaeger", "http://h:16686")),
        ("TEMPO:https://h", Address("tempo", "https://h")),
        ("jaeger:http://h/jaeger/ui/", Address("jaeger", "http://h/jaeger/ui")),
        ("jaeger:http:/h:1", Address("jaeger", "http://h:1")),  # which a Path makes of it
        ("tempo:http://[::1]:3200/", Address("tempo", "http://[::1]:3200")),
        ("jaeger:http://h/search?service=mpc&lookback=1h", Address("jaeger", "http://h", services=("mpc",))),
        ("jaeger:http://h/x/trace/0ab?uiFind=y", Address("jaeger", "http://h/x", trace="0" * 29 + "0ab")),
        (
            "jaeger:http://me:a%40b@h?since=2h&limit=7&page=3&service=a&service=b#x",
            Address("jaeger", "http://h", "me", "a@b", ("a", "b"), "2h", "", 7, 3, "", "x"),
        ),
    ],
)  # fmt: skip
def test_an_address_says_where_who_and_what(text: str, address: Address) -> None:
    assert is_address(text)
    assert parse_address(text) == address


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("jaeger:h:16686", "jaeger:h:16686: write jaeger:http://HOST:PORT or jaeger:https://HOST"),
        ("jaeger:ftp://h", "jaeger:ftp://h: write jaeger:http://HOST:PORT or jaeger:https://HOST"),
        ("jaeger:http://h:99999", "jaeger:http://h:99999: not an address: wrong port or host"),
        ("jaeger:http://u:geheim/x@h", "jaeger:http://h: not an address: wrong port or host"),
        ("tempo:http://h?limit=0", "limit='0' is no number from 1 to 100,000"),
        ("tempo:http://h?limit=9999999", "limit='9999999' is no number from 1 to 100,000"),
        ("tempo:http://h?trace=xyz", "trace='xyz' is no trace id of 32 hex digits"),
        ("tempo:http://h?since=soon", "'soon' is neither a duration, as 7d or 12h, nor a date, as 2026-01-31"),
        ("tempo:http://h?sinse=1d", "option 'sinse' is unknown; known: service, since, until, limit, page, trace"),
    ],
)  # fmt: skip
def test_what_is_no_address_is_told_without_a_password(text: str, error: str) -> None:
    with pytest.raises(BackendError) as raised:
        parse_address(text)
    assert str(raised.value) == error


def test_credentials_are_shown_nowhere() -> None:
    address = parse_address("jaeger:http://me:geheim@h:1/base?since=1d")

    assert str(address) == "jaeger:http://h:1/base"
    assert "geheim" not in repr(address)


@pytest.mark.parametrize("path", ["recordings.jsonl", "/tmp/jaeger:x", "c:/x", "./tempo:http://h"])
def test_a_path_is_no_address(path: str) -> None:
    assert not is_address(path)
