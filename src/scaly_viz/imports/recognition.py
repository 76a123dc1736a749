"""Owns telling by its content what a file is that somebody wants to import."""

from __future__ import annotations

import re
from pathlib import Path

from scaly_viz.sources.snapshot import open_file
from scaly_viz.sources.streams import content

OTLP = "otlp"
SCALY_VIZ = "json"
HTML = "html"
CHROME = "chrome"
PERFETTO = "perfetto"

_TIMES_ONLY = (
    "has only the times and figures of recordings, not what the steps made, so it cannot come back:"
    " export to .otlp.jsonl, .json or .html for that"
)
WITHOUT_CONTENT = {
    CHROME: f"a Chrome trace {_TIMES_ONLY}",
    PERFETTO: f"a Perfetto trace {_TIMES_ONLY}",
}
"""Kinds that recordings cannot be read from, and why."""

_HEAD_BYTES = 64 * 1024
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_TRACE_EVENTS = re.compile(rb'\{\s*"(traceEvents|displayTimeUnit|otherData|metadata)"')
_TRACE_EVENT = re.compile(rb'\[\s*\{[^{}]*"ph"\s*:')
_HTML_START = re.compile(rb"<(!doctype|html|!--)", re.IGNORECASE)


def kind_of(path: Path) -> str | None:
    """Return what the file ``path`` is, compressed or not; None for what is none of these, or empty.

    What is damaged before its first byte counts as lines, whose reader says so.
    """
    damages: list[str] = []
    file = open_file(path, _say_nothing)
    if file is None:
        return None
    head = b""
    with file:
        for chunk in content(file.read, damages.append):
            head += chunk
            if len(head) >= _HEAD_BYTES:
                break
    if damages and not head:
        return OTLP
    text = head.removeprefix(_BYTE_ORDER_MARK).lstrip()
    if text.startswith(b"{"):
        return CHROME if _TRACE_EVENTS.match(text) else OTLP
    if text.startswith(b"["):
        return CHROME if _TRACE_EVENT.match(text) else SCALY_VIZ
    if _HTML_START.match(text):
        return HTML
    # A trace is a list of packets: field 1 of that length, again and again.
    return PERFETTO if head.startswith(b"\n") and b"\0" in head else None


def _say_nothing(_: str) -> None:
    """What is wrong with the file is told when it is read."""
