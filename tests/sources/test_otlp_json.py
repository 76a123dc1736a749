"""One line of OTLP JSON: as the specification has it, as other tools write it, and as no one may."""

from __future__ import annotations

import json
import math
import re
from contextlib import suppress

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scaly_viz.errors import RecordingFileError
from scaly_viz.sources.otlp_json import MAX_NESTING, decode_line
from scaly_viz.span_record import AttributeValue, EventRecord, SpanRecord

type Json = str | int | float | bool | list[Json] | dict[str, Json] | None

# Written by a Collector's file exporter (0.161.0), shortened: one batch of two services.
COLLECTOR_LINE = r"""
{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"scaly"}},
{"key":"process.pid","value":{"intValue":"42"}}]},"scopeSpans":[{"scope":{"name":"scaly_viz",
"version":"0.1"},"spans":[{"traceId":"bb2da954394913a3b560726d47f5ce6c","spanId":"86e07e9ff220d581",
"parentSpanId":"dcd27fcde984be58","flags":256,"name":"lower","kind":1,
"startTimeUnixNano":"1796004323429560826","endTimeUnixNano":"1796004323429745951",
"events":[{"timeUnixNano":"1796004323429589389","name":"scaly.assembly",
"attributes":[{"key":"scaly.payload.size","value":{"intValue":"5"}}]}],
"status":{"message":"bad","code":2}}]}]},{"resource":{"attributes":[{"key":"service.name",
"value":{"stringValue":"other"}}]},"scopeSpans":[{"scope":{},"spans":[
{"traceId":"5d8033788a1a337b72854785f6dbbe78","spanId":"2edb5cbed6a0cb98","flags":256,
"name":"render f","kind":1,"startTimeUnixNano":"1796004323431345144",
"endTimeUnixNano":"1796004323431844345","attributes":[{"key":"n","value":{"intValue":"3"}},
{"key":"f","value":{"doubleValue":1}},{"key":"g","value":{"doubleValue":0.1}},
{"key":"ok","value":{"boolValue":true}},{"key":"bytes","value":{"bytesValue":"AP8="}},
{"key":"list","value":{"arrayValue":{"values":[{"stringValue":"a"},{},{"intValue":"2"},
{"doubleValue":2.5}]}}},{"key":"map","value":{"kvlistValue":{"values":[{"key":"a","value":
{"kvlistValue":{"values":[{"key":"b","value":{"arrayValue":{}}}]}}}]}}},
{"key":"inf","value":{"doubleValue":"-Infinity"}},
{"key":"text","value":{"stringValue":"a\nb é 😀 <&>"}}],"status":{"code":1}}]}]}]}
""".replace("\n", "").encode()


def line(span: dict[str, Json]) -> bytes:
    return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}).encode()


def decode(span: dict[str, Json]) -> SpanRecord:
    [record] = decode_line(line(span), "here:1")
    return record


def attribute(value: Json) -> AttributeValue:
    return decode({"attributes": [{"key": "key", "value": value}]}).attributes["key"]


def cause(data: bytes) -> str:
    with pytest.raises(RecordingFileError) as caught:
        decode_line(data, "recordings.jsonl:118")
    origin, _, text = str(caught.value).partition(": ")
    assert origin == "recordings.jsonl:118"
    assert text.isprintable()
    return text


def test_a_collectors_line_gives_the_spans_of_all_its_resources() -> None:
    assert decode_line(COLLECTOR_LINE, "traces.jsonl:3") == [
        SpanRecord(
            trace_id="bb2da954394913a3b560726d47f5ce6c",
            span_id="86e07e9ff220d581",
            parent_span_id="dcd27fcde984be58",
            name="lower",
            start_ns=1796004323429560826,
            end_ns=1796004323429745951,
            attributes={},
            events=[EventRecord("scaly.assembly", 1796004323429589389, {"scaly.payload.size": 5})],
            status="error",
            status_message="bad",
            resource={"service.name": "scaly", "process.pid": 42},
            scope="scaly_viz",
            origin="traces.jsonl:3",
        ),
        SpanRecord(
            trace_id="5d8033788a1a337b72854785f6dbbe78",
            span_id="2edb5cbed6a0cb98",
            parent_span_id="",
            name="render f",
            start_ns=1796004323431345144,
            end_ns=1796004323431844345,
            attributes={
                "n": 3,
                "f": 1.0,
                "g": 0.1,
                "ok": True,
                "bytes": b"\x00\xff",
                "list": ["a", None, 2, 2.5],
                "map": {"a": {"b": []}},
                "inf": -math.inf,
                "text": "a\nb é 😀 <&>",
            },
            events=[],
            status="ok",
            status_message="",
            resource={"service.name": "other"},
            scope="",
            origin="traces.jsonl:3",
        ),
    ]


def snake_case(value: Json) -> Json:
    if isinstance(value, dict):
        return {
            "".join("_" + c.lower() if c.isupper() else c for c in key): snake_case(item)
            for key, item in value.items()
        }
    return [snake_case(item) for item in value] if isinstance(value, list) else value


def test_snake_case_names_read_like_camel_case() -> None:
    snake = json.dumps(snake_case(json.loads(COLLECTOR_LINE))).encode()
    assert b'"start_time_unix_nano"' in snake
    assert decode_line(snake, "o") == decode_line(COLLECTOR_LINE, "o")


def test_attribute_keys_keep_their_underscores_in_snake_case_files() -> None:
    data = b"""{"resource_spans": [{"scope_spans": [{"spans": [{"attributes":
        [{"key": "a_b", "value": {"string_value": "c_d"}}]}]}]}]}"""
    assert decode_line(data, "o")[0].attributes == {"a_b": "c_d"}


def test_nulls_count_as_missing() -> None:
    nulled = COLLECTOR_LINE.replace(b'"scope":{}', b'"scope":null,"schemaUrl":null')
    nulled = nulled.replace(b"{},", b"null,").replace(b'"flags":256', b'"parentSpanId":null')
    assert nulled.count(b"null") == 5
    expected = decode_line(COLLECTOR_LINE.replace(b"dcd27fcde984be58", b""), "o")
    assert decode_line(nulled, "o") == expected


def test_a_span_without_any_field_gets_the_defaults() -> None:
    assert decode({}) == SpanRecord(
        trace_id="",
        span_id="",
        parent_span_id="",
        name="",
        start_ns=0,
        end_ns=0,
        attributes={},
        events=[],
        status="unset",
        status_message="",
        resource={},
        scope="",
        origin="here:1",
    )


def test_unknown_fields_are_ignored() -> None:
    span = decode({"name": "f", "novel": {"deep": [1]}, "status": {"code": 2, "novel": None}})
    assert (span.name, span.status) == ("f", "error")


def test_the_scopes_of_old_collectors_are_read() -> None:
    data = b"""{"resourceSpans": [{"instrumentationLibrarySpans":
        [{"instrumentationLibrary": {"name": "lib"}, "spans": [{"name": "f"}]}]}]}"""
    [span] = decode_line(data, "o")
    assert (span.scope, span.name) == ("lib", "f")


@pytest.mark.parametrize("key", ["resourceLogs", "resourceMetrics", "resourceProfiles"])
def test_lines_of_other_signals_have_no_spans(key: str) -> None:
    assert decode_line(json.dumps({key: [{"resource": {}}]}).encode(), "o") == []


def test_an_empty_batch_has_no_spans() -> None:
    assert decode_line(b"{}", "o") == []
    assert decode_line(b'{"resourceSpans": []}', "o") == []


@pytest.mark.parametrize("time", ["1796004323431345144", 1796004323431345144])
def test_times_may_be_strings_or_numbers(time: Json) -> None:
    assert decode({"startTimeUnixNano": time}).start_ns == 1796004323431345144


@pytest.mark.parametrize(
    ("code", "status"),
    [
        (0, "unset"),
        (1, "ok"),
        (2, "error"),
        ("STATUS_CODE_UNSET", "unset"),
        ("STATUS_CODE_OK", "ok"),
        ("STATUS_CODE_ERROR", "error"),
        (7, "unset"),
    ],
)
def test_a_status_may_be_a_number_or_a_name(code: Json, status: str) -> None:
    assert decode({"status": {"code": code}}).status == status


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("86e07e9ff220d581", "86e07e9ff220d581"),
        ("86E07E9FF220D581", "86e07e9ff220d581"),
        ("huB+n/Ig1YE=", "86e07e9ff220d581"),
        ("huB-n_Ig1YE", "86e07e9ff220d581"),
        ("0000000000000000", ""),
        ("", ""),
    ],
)
def test_ids_may_be_hex_or_base64(written: str, read: str) -> None:
    assert decode({"parentSpanId": written}).parent_span_id == read


def test_a_trace_id_may_be_base64() -> None:
    assert decode({"traceId": "uy2pVDlJE6O1YHJtR/XObA=="}).trace_id == (
        "bb2da954394913a3b560726d47f5ce6c"
    )


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ({"intValue": "-9223372036854775808"}, -(2**63)),
        ({"intValue": 9223372036854775807}, 2**63 - 1),
        ({"doubleValue": "Infinity"}, math.inf),
        ({"doubleValue": "2.5"}, 2.5),
        ({"doubleValue": 3}, 3.0),
        ({"boolValue": False}, False),
        ({"stringValue": ""}, ""),
        ({"bytesValue": ""}, b""),
        ({"bytesValue": "-_8"}, b"\xfb\xff"),
        ({"arrayValue": {}}, []),
        ({"kvlistValue": {}}, {}),
        ({"novelValue": 1}, None),
        ({}, None),
        (None, None),
    ],
)
def test_every_kind_of_value_is_read(written: Json, read: AttributeValue) -> None:
    value = attribute(written)
    assert value == read
    assert type(value) is type(read)


def test_not_a_number_is_read() -> None:
    values = [attribute({"doubleValue": "NaN"}), attribute({"doubleValue": math.nan})]
    assert all(isinstance(value, float) and math.isnan(value) for value in values)


def test_lone_surrogates_are_read_as_they_are() -> None:
    assert decode({"name": "a\ud800b"}).name == "a\ud800b"


def nested(levels: int) -> Json:
    value: Json = {"intValue": 1}
    for _ in range(levels):
        value = {"arrayValue": {"values": [value]}}
    return value


def test_deep_values_are_read_up_to_a_limit() -> None:
    value = attribute(nested(MAX_NESTING))
    for _ in range(MAX_NESTING):
        assert isinstance(value, list)
        [value] = value
    assert value == 1
    too_deep = line({"attributes": [{"key": "k", "value": nested(MAX_NESTING + 1)}]})
    assert cause(too_deep) == "an attribute is nested more than 200 levels deep"


@pytest.mark.parametrize("levels", [10_000, 1_000_000])
@pytest.mark.parametrize("opening", [b"[", b'{"a":', b'{"resourceSpans":[{"resource":[['])
def test_absurd_depth_is_an_error_like_any_other(opening: bytes, levels: int) -> None:
    assert cause(opening * levels) == "nested too deeply to be a trace"


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"garbage", "not JSON: Expecting value at column 1"),
        (b'{"resourceSpans": "ab', "not JSON: Unterminated string starting at column 19"),
        (b'{"resourceSpans": [', "not JSON: Expecting value at column 20"),
        (b'{\n "a": 1,\n}', "not JSON: "),
        (b"\x00\x00\x00", "not JSON: Expecting value at column 1"),
        (b'{"name": "\xff"}', "not JSON: not UTF-8 text at byte 10"),
        (b"[1]", "not OTLP traces: a list instead of an object"),
        (b"1", "not OTLP traces: a number instead of an object"),
        (b"true", "not OTLP traces: a boolean instead of an object"),
        (b"null", "not OTLP traces: null instead of an object"),
        (b'"text"', "not OTLP traces: a string instead of an object"),
        (
            b'{"id": 1, "steps": []}',
            "not OTLP traces: no resourceSpans, but the keys 'id', 'steps'",
        ),
        (
            json.dumps({"\x1b[2J" + "x" * 99: 0} | dict.fromkeys("abcde")).encode(),
            r"not OTLP traces: no resourceSpans, but the keys '\x1b[2J" + "x" * 36 + "...', 'a', "
            "'b', 'c', 'd', ...",
        ),
        (b'{"resourceSpans": 3}', "not OTLP traces: resourceSpans: expected array, got integer"),
        (
            line({"name": 5}),
            "not OTLP traces: resourceSpans[0].scopeSpans[0].spans[0].name: expected string,"
            " got integer",
        ),
        (line({"traceId": "abc"}), "traceId: 'abc' is not 32 hex digits"),
        (line({"spanId": "x" * 16}), f"spanId: '{'x' * 16}' is not 16 hex digits"),
        (line({"parentSpanId": "é"}), r"parentSpanId: '\xe9' is not 16 hex digits"),
        (line({"startTimeUnixNano": "soon"}), "startTimeUnixNano: 'soon' is no integer"),
        (line({"startTimeUnixNano": math.inf}), "startTimeUnixNano: 'inf' is no integer"),
        (line({"endTimeUnixNano": -1}), "endTimeUnixNano: '-1' is no time in nanoseconds"),
        (
            line({"events": [{"timeUnixNano": 2**64}]}),
            "timeUnixNano: '18446744073709551616' is no time in nanoseconds",
        ),
        (line({"endTimeUnixNano": 0}).replace(b" 0}", b"9" * 5000 + b"}"), "not OTLP traces: "),
        (line({"attributes": [{"value": {"bytesValue": "*"}}]}), "bytesValue: '*' is not base64"),
        (line({"attributes": [{"value": {"doubleValue": "x"}}]}), "doubleValue: 'x' is no number"),
        (line({"attributes": [{"value": {"intValue": "x"}}]}), "intValue: 'x' is no integer"),
    ],
)
def test_a_bad_line_is_an_error_that_says_where_and_why(data: bytes, words: str) -> None:
    assert cause(data).startswith(words)


FIELDS = st.sampled_from(sorted(set(re.findall(r'"(\w+)":', COLLECTOR_LINE.decode()))))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(FIELDS, inner, max_size=4),
    max_leaves=20,
)


def spans_or_error(data: bytes) -> list[SpanRecord]:
    with suppress(RecordingFileError):
        spans = decode_line(data, "here:1")
        bare = decode_line(data, "here:1", events=False)
        assert repr([msgspec.structs.replace(span, events=()) for span in spans]) == repr(bare)
        return spans
    with pytest.raises(RecordingFileError):
        decode_line(data, "here:1", events=False)
    assert len(cause(data)) < 300
    return []


@settings(deadline=None)
@given(JSON)
def test_whatever_json_there_is_gives_spans_or_one_kind_of_error(document: Json) -> None:
    for data in (document, {"resourceSpans": document}, {"resourceSpans": [document]}):
        for span in spans_or_error(json.dumps(data).encode()):
            assert span.status in ("unset", "ok", "error")


@settings(deadline=None)
@given(st.data())
def test_whatever_byte_is_changed_gives_spans_or_one_kind_of_error(data: st.DataObject) -> None:
    position = data.draw(st.integers(0, len(COLLECTOR_LINE) - 1))
    changed = bytearray(COLLECTOR_LINE)
    changed[position] = data.draw(st.integers(0, 255))
    for span in spans_or_error(bytes(changed)):
        assert len(span.trace_id) in (0, 32)
        assert len(span.span_id) in (0, 16)
        assert 0 <= span.start_ns < 2**64
