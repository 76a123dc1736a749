"""Owns the words that choose recordings from a list, such as ``failed fn:ocp_* since:2h``.

Words are separated by spaces, and all of them must hold; ``-word`` must not. Quotes keep spaces.

==================  ============================================================================
``ok`` ``failed``   how the render ended; so does ``incomplete``
``fn:ocp_*``        the function's name: a glob, or a part of it
``label:tuned``     the name that is shown, likewise; so do ``file:`` ``host:`` ``source:`` ``error:``
``version:0.1*``    the compiler's version, likewise
``id:7c0e``         the start of the recording's id; ``trace:`` that of its trace
``process:4711``    the id of the process that rendered
``since:2h``        begun so long ago at most: s, min, h, d or w; or since a date, ``2026-11-30T08:00``
``until:1d``        begun so long ago at least, or before a date
``code>100kB``      size of the source; ``nodes>10k`` ``steps<5`` ``time>=1.5s`` likewise
anything else       part of the name, function, file or error, or the start of the id
==================  ============================================================================

Letters match in either case.
"""

from __future__ import annotations

import operator
import re
import shlex
from collections.abc import Callable, Iterable
from datetime import datetime
from fnmatch import fnmatchcase

from scaly_viz.analysis.summary import RecordingSummary
from scaly_viz.errors import ScalyVizError

STATUSES = ("ok", "failed", "incomplete")

type Predicate = Callable[[RecordingSummary], bool]

_TEXTS: dict[str, Callable[[RecordingSummary], str]] = {
    "fn": lambda summary: summary.function,
    "label": lambda summary: summary.name,
    "file": lambda summary: summary.file,
    "host": lambda summary: summary.host,
    "source": lambda summary: summary.source,
    "error": lambda summary: summary.error or "",
    "version": lambda summary: summary.compiler_version,
}
_NUMBERS: dict[str, Callable[[RecordingSummary], float | None]] = {
    "code": lambda summary: summary.code_bytes,
    "nodes": lambda summary: summary.nodes,
    "steps": lambda summary: summary.steps,
    "time": lambda summary: summary.duration_s,
}
_OPERATORS: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
    "=": operator.eq,
}
_COMPARISON = re.compile(rf"({'|'.join(_NUMBERS)})(>=|<=|>|<|=)(.*)", re.IGNORECASE)
_QUANTITY = re.compile(r"(\d+(?:\.\d*)?|\.\d+)\s*([a-z]*)", re.IGNORECASE | re.ASCII)
_MULTIPLES = {"": 1.0, "k": 1e3, "m": 1e6, "g": 1e9}
_SECONDS = {"ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0, "d": 86_400.0, "w": 604_800.0}


class FilterError(ScalyVizError):
    """A word of a filter that cannot be understood."""


def select(summaries: Iterable[RecordingSummary], words: str, now: float) -> list[RecordingSummary]:
    """Return those of ``summaries`` that ``words`` choose; ``now`` is seconds since the Unix epoch.

    Raises:
        FilterError: a word cannot be understood.
    """
    predicates = [_predicate(word, now) for word in _words(words)]
    return [summary for summary in summaries if all(holds(summary) for holds in predicates)]


def _words(text: str) -> list[str]:
    lexer = shlex.shlex(text, posix=True, punctuation_chars=False)
    lexer.whitespace_split = True
    lexer.commenters = lexer.escape = ""
    lexer.quotes = '"'
    try:
        return list(lexer)
    except ValueError:
        return text.replace('"', " ").split()  # a quote that is still being typed


def _predicate(word: str, now: float) -> Predicate:
    if word.startswith("-") and len(word) > 1:
        unwanted = _predicate(word[1:], now)
        return lambda summary: not unwanted(summary)
    if word.lower() in STATUSES:
        return lambda summary: summary.status == word.lower()
    comparison = _COMPARISON.fullmatch(word)
    if comparison:
        return _comparison(*comparison.groups())
    key, colon, value = word.partition(":")
    if colon and key.lower() in _TEXTS:
        return _about(_TEXTS[key.lower()], value)
    return _special(key.lower(), value, now) or _anywhere(word)


def _special(key: str, value: str, now: float) -> Predicate | None:
    start = value.lower()
    match key:
        case "id":
            return lambda summary: summary.id.lower().startswith(start)
        case "trace":
            return lambda summary: summary.trace_id.startswith(start)
        case "process":
            return lambda summary: str(summary.process) == value
        case "since":
            moment = _moment(value, now)
            return lambda summary: summary.started_at >= moment
        case "until":
            moment = _moment(value, now)
            return lambda summary: summary.started_at < moment
    return None


def _about(text_of: Callable[[RecordingSummary], str], pattern: str) -> Predicate:
    glob = pattern.lower()
    if re.search(r"[*?\[]", glob):
        return lambda summary: fnmatchcase(text_of(summary).lower(), glob)
    return lambda summary: glob in text_of(summary).lower()


def _anywhere(word: str) -> Predicate:
    part = word.lower()

    def holds(summary: RecordingSummary) -> bool:
        texts = (summary.name, summary.function, summary.file, summary.error or "")
        return summary.id.startswith(part) or any(part in text.lower() for text in texts)

    return holds


def _comparison(key: str, sign: str, text: str) -> Predicate:
    number, compare = _NUMBERS[key.lower()], _OPERATORS[sign]
    match = _QUANTITY.fullmatch(text)
    unit = match[2].lower() if match else "?"
    units = _SECONDS | {"": 1.0} if key.lower() == "time" else _MULTIPLES
    factor = units.get(unit.removesuffix("b") if key.lower() == "code" else unit)
    if match is None or factor is None:
        raise FilterError(f"{key}{sign}{text}: the number cannot be understood")
    limit = float(match[1]) * factor

    def holds(summary: RecordingSummary) -> bool:
        value = number(summary)
        return value is not None and compare(value, limit)

    return holds


def _moment(text: str, now: float) -> float:
    match = _QUANTITY.fullmatch(text)
    if match and match[2].lower() in _SECONDS:
        return now - float(match[1]) * _SECONDS[match[2].lower()]
    try:
        return datetime.fromisoformat(text).timestamp()
    except (ValueError, OverflowError, OSError) as error:
        example = "2h, 3d or 2026-11-30"
        raise FilterError(f"{text!r} is neither a time span nor a date, as {example}") from error
