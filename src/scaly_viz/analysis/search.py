"""Owns finding a string in the texts of a recording: how often each step has it, and where."""

from __future__ import annotations

import time
from bisect import bisect_right
from collections.abc import Collection, Iterator
from dataclasses import dataclass

import msgspec
import regex

from scaly_viz.analysis.diff import lines_of
from scaly_viz.analysis.text_model import utf16_column
from scaly_viz.analysis.texts import text_kinds, text_of
from scaly_viz.errors import PayloadError, ScalyVizError
from scaly_viz.recording import Recording

_EXCERPT = 240
_BEFORE = 60
_MAX_QUERY = 1_000


class SearchError(ScalyVizError):
    """What was searched for cannot be: it is no expression, or takes too long."""


class Hit(msgspec.Struct, frozen=True):
    """A place where the string is: line from 1, columns from 0 in UTF-16 code units.

    ``text`` is the line, or the part of a long one from column ``text_column`` on.
    """

    line: int
    column: int
    end_column: int
    text: str
    text_column: int


class StepHits(msgspec.Struct, frozen=True):
    """The hits in one text of the step ``name``: how many there are, and the first of them.

    Where the text is that of an earlier step, ``same_as`` is that step's index, which has the hits.
    """

    index: int
    kind: str
    count: int
    hits: list[Hit]
    same_as: int | None = None
    name: str = ""


class SearchResult(msgspec.Struct, frozen=True):
    """Where a string is in a recording. ``truncated`` where the search had to end before its end.

    ``skipped`` says which texts could not be read, and why.
    """

    steps: list[StepHits]
    count: int
    truncated: bool
    skipped: list[str]


@dataclass(frozen=True, slots=True)
class Query:
    """What is searched for: a string, or a regular expression."""

    text: str
    is_regex: bool = False
    matches_case: bool = False
    kinds: Collection[str] = ()

    def pattern(self) -> regex.Pattern[str]:
        """Return the expression to search with.

        Raises:
            SearchError: it is empty, too long, or no expression.
        """
        if not self.text:
            raise SearchError("there is nothing to search for")
        if len(self.text) > _MAX_QUERY:
            raise SearchError(f"what is searched for has more than {_MAX_QUERY:,} characters")
        flags = regex.MULTILINE | (0 if self.matches_case else regex.IGNORECASE)
        source = self.text if self.is_regex else regex.escape(self.text, special_only=True)
        try:
            return regex.compile(source, flags)
        except (regex.error, RecursionError, OverflowError) as error:
            raise SearchError(f"{self.text:.80} is no regular expression: {error}") from error


def search(
    recording: Recording, query: Query, *, first: int = 50, seconds: float = 5.0
) -> SearchResult:
    """Return where ``query`` is in the texts of ``recording``, the ``first`` hits of each.

    It ends after about so many ``seconds``, with what was found until then.

    Raises:
        SearchError: the query cannot be searched for, or takes too long on a single text.
    """
    pattern = query.pattern()
    end = time.monotonic() + seconds
    counts: dict[tuple[str, str], tuple[int, int]] = {}
    names = {step.index: step.name for step in recording.steps}
    steps: list[StepHits] = []
    skipped: list[str] = []
    truncated = False
    for index, kind, digest, text in _texts(recording, query, counts, skipped):
        if time.monotonic() >= end:
            truncated = True
            break
        if text is None:
            count, same_as = counts[kind, digest]
            hits: list[Hit] = []
        else:
            left = max(0.2, end - time.monotonic())
            count, hits = _hits(text, pattern, first, left)
            same_as = None
            counts[kind, digest] = count, index
        if count:
            steps.append(StepHits(index, kind, count, hits, same_as, names[index]))
    return SearchResult(steps, sum(step.count for step in steps), truncated, skipped)


def _texts(
    recording: Recording,
    query: Query,
    known: dict[tuple[str, str], tuple[int, int]],
    skipped: list[str],
) -> Iterator[tuple[int, str, str, str | None]]:
    """The texts with their digests; None in the place of one that was searched before."""
    for step in recording.steps:
        for kind in text_kinds(step):
            if query.kinds and kind not in query.kinds:
                continue
            digest = step.payloads[kind].digest
            if (kind, digest) in known:
                yield step.index, kind, digest, None
                continue
            try:
                text = text_of(recording, step, kind)
            except PayloadError as error:
                skipped.append(f"{kind} of step {step.index}: {error}")
                continue
            yield step.index, kind, digest, text


def _hits(
    text: str, pattern: regex.Pattern[str], first: int, seconds: float
) -> tuple[int, list[Hit]]:
    if "\r" in text:
        text = "\n".join(lines_of(text))
    starts: list[int] | None = None
    count = 0
    hits: list[Hit] = []
    try:
        for match in pattern.finditer(text, timeout=seconds):
            begin, end = match.span()
            if begin == end:
                continue
            count += 1
            if len(hits) < first:
                starts = starts or _line_starts(text)
                hits.append(_hit(text, starts, begin, end))
    except TimeoutError:
        raise SearchError(f"{pattern.pattern:.80} takes too long to search for") from None
    return count, hits


def _line_starts(text: str) -> list[int]:
    starts = [0]
    at = text.find("\n")
    while at >= 0:
        starts.append(at + 1)
        at = text.find("\n", at + 1)
    return starts


def _hit(text: str, starts: list[int], begin: int, end: int) -> Hit:
    number = bisect_right(starts, begin)
    start = starts[number - 1]
    stop = starts[number] - 1 if number < len(starts) else len(text)
    shown = max(start, min(begin - _BEFORE, stop - _EXCERPT)) if stop - start > _EXCERPT else start
    line = text[start : min(stop, max(end, shown + _EXCERPT))]
    return Hit(
        number,
        utf16_column(line, begin - start),
        utf16_column(line, min(end, stop) - start),
        text[shown : min(stop, shown + _EXCERPT)],
        utf16_column(line, shown - start),
    )
