"""Owns comparing what a page shows with what was printed: what one run has other than the next may differ."""

from __future__ import annotations

import doctest
import re

_RULES = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
_VARYING = (
    (re.compile(r"\b\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d)?(\.\d+)?(\+\d\d:\d\d|Z)?"), "<when>"),
    (re.compile(r"\b\d\d-\d\d \d\d:\d\d\b"), "<when>"),
    (re.compile(r"\b[0-9a-f]{8,64}\b"), "<id>"),
    (re.compile(r"(?<![\w.,])[+-−]?\d[\d,.]* ?(ns|µs|us|ms|s|min|h)\b"), "<time>"),  # noqa: RUF001
    (re.compile(r"\b\d+ on \S+"), "<process>"),
    (re.compile(r"\b(ok|failed|incomplete) +\d+ *$", re.MULTILINE), r"\1 <process>"),
    # Of a file with times in it.
    (re.compile(r"(recordings?), [\d,]+ bytes"), r"\1, <bytes>"),
    (re.compile(r"\([\d.]+ kB\)"), "(<bytes>)"),
    (re.compile(r"(127\.0\.0\.1|localhost):\d+"), "<host>"),
    (re.compile(r"[─━]+"), "<rule>"),
)


def agree(shown: str, printed: str) -> bool:
    """Tell whether ``printed`` is what ``shown`` promises; ``...`` there stands for anything."""
    return doctest.OutputChecker().check_output(_steady(shown), _steady(printed), _RULES)


def _steady(text: str) -> str:
    for pattern, name in _VARYING:
        text = pattern.sub(name, text)
    return f"{text.strip()}\n"
