"""Owns the round trip of payloads and graphs, and what damage does to them: a word, never a wrong payload."""

from __future__ import annotations

import base64
import hashlib
import json
from typing import Any

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from scaly_viz import attributes as a
from scaly_viz import codec, graph_table
from scaly_viz.errors import PayloadError
from scaly_viz.graph_table import GraphDelta, GraphTable, Kind

_TEXTS = st.lists(st.text(max_size=30).map(lambda text: text * 400), max_size=5)


def _round_trip(payloads: list[codec.Payload]) -> list[bytes]:
    encoder = codec.Encoder()
    decoded: dict[str, bytes] = {}
    result = []
    for payload in payloads:
        events = [(f"scaly.{payload.kind}", event) for event in encoder.encode(payload)]
        (read,) = codec.collect(reversed(events))
        if read.encoding != "same":
            decoded[read.digest] = codec.unpack(read, decoded.get(read.base))
        result.append(decoded[read.digest])
    return result


@given(_TEXTS)
def test_texts_come_back_as_they_were(texts: list[str]) -> None:
    payloads = [codec.text_payload("assembly", text) for text in texts]

    assert _round_trip(payloads) == [payload.data for payload in payloads]


@given(st.lists(st.binary(max_size=9_000), max_size=4))
def test_binary_payloads_come_back_as_they_were(blobs: list[bytes]) -> None:
    payloads = [codec.Payload("blob", blob, "application/octet-stream") for blob in blobs]

    assert _round_trip(payloads) == blobs


def test_a_lone_surrogate_survives() -> None:
    (data,) = _round_trip([codec.text_payload("listing", "a\ud800b")])

    assert data.decode("utf-8", "surrogatepass") == "a\ud800b"


def test_a_small_text_is_readable_in_any_backend() -> None:
    (event,) = codec.Encoder().encode(codec.text_payload("assembly", "prog.module"))

    assert event[a.PAYLOAD_ENCODING] == "text"
    assert event[a.PAYLOAD_BODY] == "prog.module"


def test_an_equal_payload_has_no_body() -> None:
    encoder = codec.Encoder()
    encoder.encode(codec.text_payload("assembly", "x" * 9_000))

    (event,) = encoder.encode(codec.text_payload("assembly", "x" * 9_000))

    assert event[a.PAYLOAD_ENCODING] == "same"
    assert a.PAYLOAD_BODY not in event


def test_a_long_body_is_spread_over_parts_of_at_most_60000_characters() -> None:
    data = b"".join(hashlib.sha256(bytes([i % 256, i // 256])).digest() for i in range(6_000))
    payload = codec.Payload("blob", data, "application/octet-stream")

    events = codec.Encoder().encode(payload)

    assert len(events) == 5
    assert max(len(str(event[a.PAYLOAD_BODY])) for event in events) == codec.BODY_CHARS
    assert _round_trip([payload]) == [data]


def test_a_text_that_begins_like_json_is_compressed_and_so_is_its_preview_kept_from_it() -> None:
    (event,) = codec.Encoder().encode(codec.text_payload("trace", '{"a": 1}'))

    assert event[a.PAYLOAD_ENCODING] == "zstd"
    assert str(event[a.PAYLOAD_PREVIEW]).startswith(" {")


def _encoded(data: bytes, **changes: Any) -> codec.EncodedPayload:
    (event,) = codec.Encoder().encode(codec.Payload("blob", data, "application/octet-stream"))
    (payload,) = codec.collect([("scaly.blob", event | changes)])
    return payload


@given(st.binary(min_size=1, max_size=2_000), st.data())
def test_a_flipped_character_never_gives_a_wrong_payload(data: bytes, draw: st.DataObject) -> None:
    body = _encoded(data).body
    position = draw.draw(st.integers(0, len(body) - 1))
    character = draw.draw(st.sampled_from("ABCabc019+/=\x00é{"))
    damaged = body[:position] + character + body[position + 1 :]

    try:
        unpacked = codec.unpack(_encoded(data, **{a.PAYLOAD_BODY: damaged}), None)
    except PayloadError:
        unpacked = data
    assert unpacked == data


@pytest.mark.parametrize(
    ("changes", "cause"),
    [
        ({a.PAYLOAD_BODY: "AAAA"}, "cannot be unpacked"),
        ({a.PAYLOAD_BODY: "not base64!"}, "cannot be unpacked"),
        ({a.PAYLOAD_DIGEST: "0" * 64}, "its digest is wrong"),
        ({a.PAYLOAD_SIZE: 10}, "holds 9,000 bytes instead of 10"),
        ({a.PAYLOAD_SIZE: 1 << 40}, "its size of 1,099,511,627,776 bytes is implausible"),
        ({a.PAYLOAD_SIZE: -1}, "is implausible"),
        ({a.PAYLOAD_BASE: "f" * 64}, "it builds on payload ffffffffffff, which is missing"),
        ({a.PAYLOAD_ENCODING: "brotli"}, "its encoding 'brotli' is unknown"),
        ({a.PAYLOAD_PARTS: 3}, "part 2 of 3 of its body is missing"),
        ({a.PAYLOAD_ERROR: "RecursionError: too deep"}, "RecursionError: too deep"),
    ],
)
def test_a_damaged_payload_says_what_is_wrong(changes: dict[str, Any], cause: str) -> None:
    with pytest.raises(PayloadError, match=cause):
        codec.unpack(_encoded(b"x" * 9_000, **changes), None)


def test_a_bomb_is_refused_before_it_unfolds() -> None:
    bomb = zstandard.ZstdCompressor().compress(bytes(1 << 26))
    body = base64.b64encode(bomb).decode()

    with pytest.raises(PayloadError, match="holds 67,108,864 bytes instead of 9,000"):
        codec.unpack(_encoded(b"x" * 9_000, **{a.PAYLOAD_BODY: body}), None)


def test_a_bomb_without_a_declared_size_is_cut_off() -> None:
    writer = zstandard.ZstdCompressor(write_content_size=False).compressobj()
    bomb = writer.compress(bytes(1 << 26)) + writer.flush()
    body = base64.b64encode(bomb).decode()

    with pytest.raises(PayloadError, match=r"cannot be unpacked|digest is wrong"):
        codec.unpack(_encoded(b"x" * 9_000, **{a.PAYLOAD_BODY: body}), None)


def _delta(**changes: Any) -> GraphDelta:
    fields: dict[str, Any] = {
        "prefix": "p",
        "roots": [2],
        "first": 0,
        "first_kind": 0,
        "kinds": [Kind("VAR", "float64\nx", "#fff", {}), Kind("ADD", "float64", "#ffc", {"n": 1})],
        "rows": [0, 0, 1],
        "arity": [0, 0, 2],
        "args": [2, 1],
    }
    return GraphDelta(**fields | changes)


def test_a_graph_is_rebuilt_as_scaly_viz_has_it() -> None:
    table = GraphTable()
    table.extend(graph_table.decode(graph_table.encode(_delta())))

    assert table.graph("p", [2]) == {
        "nodes": [
            {"id": "p0", "label": "VAR\n%0\nfloat64\nx", "color": "#fff"},
            {"id": "p1", "label": "VAR\n%1\nfloat64\nx", "color": "#fff"},
            {"id": "p2", "label": "ADD\n%2\nfloat64", "color": "#ffc"},
        ],
        "edges": [
            {"from": "p0", "to": "p2", "label": "0"},
            {"from": "p1", "to": "p2", "label": "1"},
        ],
        "outputs": ["p2"],
    }


@pytest.mark.parametrize(
    "changes",
    [
        {"first": 7},
        {"first_kind": 7},
        {"rows": [0, 0, 9]},
        {"rows": [0, 0]},
        {"rows": [0, 0, -1]},
        {"arity": [0, 0, 3]},
        {"arity": [0, -1, 3]},
        {"args": [0, 1]},
        {"args": [3, 1]},
        {"args": [-9, 1]},
        {"roots": [5]},
        {"roots": [-1]},
    ],
)
def test_a_graph_that_makes_no_sense_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(PayloadError):
        GraphTable().extend(_delta(**changes))


@pytest.mark.parametrize("data", [b"", b"[]", b'{"prefix": 1}', b"\xff", b"[" * 100_000])
def test_what_is_no_graph_is_refused(data: bytes) -> None:
    with pytest.raises(PayloadError, match="not a graph"):
        graph_table.decode(data)


def test_names_with_lone_surrogates_survive_in_a_graph() -> None:
    delta = _delta(kinds=[Kind("VAR", "x\ud800", "#fff", {}), Kind("ADD", "", "#fff", {})])

    data = graph_table.encode(delta)

    assert graph_table.decode(data) == delta
    assert json.loads(data)["kinds"][0][1] == "x\ud800"
