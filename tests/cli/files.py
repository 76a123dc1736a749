"""Owns the making of recording files for tests: lines of OTLP JSON, read, changed and written."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from scaly_viz.codec import Encoder, Payload

type Line = dict[str, Any]


def lines_of(path: Path) -> list[Line]:
    """Return the lines of ``path``, one span each."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def write_lines(path: Path, lines: Iterable[Line]) -> None:
    """Write ``lines`` to ``path``."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")


def attribute_of(line: Line, key: str) -> Any:
    """Return an attribute of the span, None where it has none."""
    for attribute in span_of(line)["attributes"]:
        if attribute["key"] == key:
            return next(iter(attribute["value"].values()))
    return None


def add_attribute(line: Line, key: str, value: Line) -> None:
    """Add an attribute to the span, its value as OTLP has it."""
    span_of(line)["attributes"].append({"key": key, "value": value})


def add_event(line: Line, kind: str, attributes: Line) -> None:
    """Add the event of a payload of ``kind`` to the span."""
    values = [
        {"key": k, "value": {"stringValue": v} if isinstance(v, str) else {"intValue": str(v)}}
        for k, v in attributes.items()
    ]
    event = {"name": f"scaly.{kind}", "timeUnixNano": "1", "attributes": values}
    span_of(line).setdefault("events", []).append(event)


def add_payload(line: Line, kind: str, data: bytes, media_type: str) -> None:
    """Add a payload to the span."""
    for attributes in Encoder().encode(Payload(kind, data, media_type)):
        add_event(line, kind, attributes)


def span_of(line: Line) -> Line:
    """Return the only span of ``line``."""
    span: Line = line["resourceSpans"][0]["scopeSpans"][0]["spans"][0]
    return span
