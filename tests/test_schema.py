"""Owns the contract: docs/schema.md against attributes.py, and both against what is really written."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import scaly_viz
from programs import PROGRAMS
from scaly_viz import attributes as a
from scaly_viz.codec import BODY_CHARS
from scaly_viz.sources.files import read_spans
from scaly_viz.span_record import Attributes, SpanRecord

_ROOT = Path(__file__).parents[1]
_SPEC = importlib.util.spec_from_file_location("write_tables", _ROOT / "tools/write_tables.py")
assert _SPEC
assert _SPEC.loader
write_tables = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(write_tables)

_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "int": (int,),
    "double": (float,),
    "boolean": (bool,),
    "string[]": (list, tuple),
}
_BY_KEY = {attribute.key: attribute for attribute in a.ATTRIBUTES}


def test_the_tables_of_the_contract_are_made_from_the_code() -> None:
    for page in (write_tables.SCHEMA, write_tables.SETTINGS, write_tables.COMPARE):
        text = page.read_text(encoding="utf-8")
        assert write_tables.with_tables(text) == text, "run tools/write_tables.py"
    text = write_tables.SCHEMA.read_text(encoding="utf-8")
    places = set(re.findall(r"<!-- table: (.+?) -->", text))
    assert places == {attribute.where for attribute in a.ATTRIBUTES}
    assert f"Schema version: **{a.SCHEMA_VERSION}**" in text


def test_every_name_in_the_code_is_in_the_contract() -> None:
    text = write_tables.SCHEMA.read_text(encoding="utf-8")
    spans = [value for name, value in vars(a).items() if name.startswith("SPAN_")]

    assert spans
    assert all(name in text for name in spans)
    assert all(attribute.meaning and attribute.example for attribute in a.ATTRIBUTES)
    assert len(_BY_KEY) == len(a.ATTRIBUTES)


@pytest.fixture
def spans() -> list[SpanRecord]:
    chosen = [p for p in PROGRAMS if p.name in ("saturation", "jacobian", "broken_pass", "prints")]
    for program in chosen:
        program.run(scaly_viz.visualize(program.build(), label="a label"))
    scaly_viz.recordings()
    return list(read_spans(scaly_viz.recording_path(), pytest.fail))


def test_what_is_written_is_as_the_contract_says(spans: list[SpanRecord]) -> None:
    seen: set[str] = set()
    for where, attributes in _places(spans):
        for key, value in attributes.items():
            assert key in _BY_KEY, f"{key} is not in the contract"
            assert isinstance(value, _TYPES[_BY_KEY[key].type]), f"{key}={value!r}"
            assert _BY_KEY[key].where in where, f"{key} is found on a {where[0]}"
            seen.add(key)
        for key, attribute in _BY_KEY.items():
            if attribute.where == where[0] and attribute.where in ("every span", "step"):
                assert key in attributes or key == a.LABEL or "graph" in key, key
    unseen = set(_BY_KEY) - seen
    assert unseen <= {a.UNCOUNTED, a.WORKSPACE_BYTES, a.PAYLOAD_ERROR}


def _places(spans: list[SpanRecord]) -> Iterator[tuple[tuple[str, ...], Attributes]]:
    for span in spans:
        if a.RECORDING_STEPS in span.attributes:
            yield ("root", "every span"), span.attributes
        elif a.STEP_NAME in span.attributes:
            # A pass says where it is written, under the keys by which the root says who asked.
            kinds = {"prog": ("program step", "root"), "c": ("code step",)}
            extra = kinds.get(str(span.attributes[a.STEP_DIALECT]), ())
            yield ("step", "every span", *extra), span.attributes
        for event in span.events:
            if event.name != a.EVENT_EXCEPTION:
                yield ("event",), event.attributes


def test_span_names_are_of_low_cardinality(spans: list[SpanRecord]) -> None:
    allowed = re.compile(
        rf"{a.SPAN_RENDER} .+|{a.SPAN_EXPRESSION_GRAPH}|{a.SPAN_NORMALIZE}|{a.SPAN_LOWER}"
        rf"|{a.SPAN_PASS} \w+|{a.SPAN_EMIT}"
    )

    assert [span.name for span in spans if not allowed.fullmatch(span.name)] == []


def test_no_body_is_too_long_or_begins_like_json(spans: list[SpanRecord]) -> None:
    bodies: list[Any] = [
        event.attributes[key]
        for span in spans
        for event in span.events
        for key in (a.PAYLOAD_BODY, a.PAYLOAD_PREVIEW)
        if key in event.attributes
    ]

    assert bodies
    assert all(len(body) <= BODY_CHARS and body[0] not in "{[" for body in bodies)


def test_steps_follow_each_other_and_lie_inside_their_root(spans: list[SpanRecord]) -> None:
    roots = {span.span_id: span for span in spans if a.RECORDING_STEPS in span.attributes}
    ends = {span_id: root.start_ns for span_id, root in roots.items()}

    for span in spans:
        if a.STEP_NAME in span.attributes:
            root = roots[span.parent_span_id]
            assert ends[root.span_id] <= span.start_ns <= span.end_ns <= root.end_ns
            ends[root.span_id] = span.end_ns
