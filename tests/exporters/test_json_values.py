"""What a value may contain, and how it stands in the local file."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from scaly_viz.sources.otlp_json import decode_line
from scaly_viz_exporters.json_file import JsonFileExporter
from scaly_viz_exporters.span_lines import line_of

from .local_file import read
from .made_spans import Value, made

scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(st.characters(codec=None))
    | st.binary()
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner) | st.dictionaries(st.text(min_size=1), inner),
    max_leaves=8,
)


def as_read(value: Value) -> Value:
    """Return what OTLP keeps of ``value``: integers beyond 64 bits become text."""
    if isinstance(value, (list, tuple)):
        return [as_read(item) for item in value]
    if isinstance(value, Mapping):
        return {key: as_read(item) for key, item in value.items()}
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        return str(value)
    return value


@settings(deadline=None)
@given(st.dictionaries(st.text(min_size=1), values), st.text(st.characters(codec=None)))
def test_what_is_written_is_read_back(attributes: dict[str, Value], name: str) -> None:
    [span] = made(name, **attributes)
    line = line_of(span)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert line.isascii()
    [record] = decode_line(line, "here:1")
    kept = span.attributes or {}
    assert record.attributes == {key: as_read(value) for key, value in kept.items()}  # type: ignore[arg-type]  # the SDK's own type is as wide
    assert record.name == name
    assert (record.start_ns, record.end_ns) == (span.start_time, span.end_time)
    assert record.trace_id == f"{span.context.trace_id:032x}"
    assert record.span_id == f"{span.context.span_id:016x}"


def test_line_ends_nuls_and_emoji_stay_on_one_line(path: Path) -> None:
    text = "a\nb\r\n\0\u2028\x85😀\ud800"
    JsonFileExporter(path).export(made(text, **{text: text}))
    assert path.read_bytes().count(b"\n") == 1
    [span] = read(path)
    assert (span.name, span.attributes) == (text, {text: text})


def test_numbers_that_json_has_not_are_written_as_otlp_json_has_them(path: Path) -> None:
    attributes: dict[str, Value] = {"nan": math.nan, "inf": [math.inf, -math.inf], "big": 2**63}
    JsonFileExporter(path).export(made("render f", **attributes))

    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    document = json.loads(path.read_text(), parse_constant=refuse)
    [span] = document["resourceSpans"][0]["scopeSpans"][0]["spans"]
    assert {pair["key"]: pair["value"] for pair in span["attributes"]} == {
        "nan": {"doubleValue": "NaN"},
        "inf": {"arrayValue": {"values": [{"doubleValue": v} for v in ("Infinity", "-Infinity")]}},
        "big": {"stringValue": "9223372036854775808"},
    }


def test_text_that_looks_like_a_big_integer_field_is_left_alone(path: Path) -> None:
    text = '"intValue": "99999999999999999999"'
    JsonFileExporter(path).export(made("render f", **{"text": text, "max": 2**63 - 1}))
    [span] = read(path)
    assert span.attributes == {"text": text, "max": 2**63 - 1}
