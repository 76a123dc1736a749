"""Owns the grammar of conditions, ``flops > +5% or nodes@lowered > 2_000``: from a text to its parts.

``docs/compare.md`` has the grammar for users. Numbers are exact, so that a change of just 5 % is not
more than 5 %.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from fractions import Fraction
from typing import Literal, NoReturn

from scaly_viz.analysis.figures import BY_NAME, DIFFERING_STEPS, RENDER_TIME, Figure, Reference
from scaly_viz.errors import ScalyVizError

type Operator = Literal["<", "<=", ">", ">=", "==", "!="]
type Measure = Literal["value", "change", "percent", "ratio"]


class ConditionError(ScalyVizError):
    """A condition that cannot be understood; the text shows it and says what was expected where."""


@dataclass(frozen=True, slots=True)
class Limit:
    """What a figure is compared with: a value, a change in units or percent of BASE, or a ratio to it."""

    measure: Measure
    number: Fraction


@dataclass(frozen=True, slots=True)
class Check:
    """One comparison; ``text`` is as it was written."""

    reference: Reference
    operator: Operator
    limit: Limit
    text: str


@dataclass(frozen=True, slots=True)
class Combination:
    """Parts of which all, or any, must be met."""

    how: Literal["and", "or"]
    parts: tuple[Check | Combination, ...]


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition on recordings whose function or label matches the glob ``functions``, all if empty."""

    text: str
    functions: str
    root: Check | Combination

    def checks(self) -> Iterator[Check]:
        """Yield the comparisons in it, in the order of the text."""
        waiting: list[Check | Combination] = [self.root]
        while waiting:
            part = waiting.pop(0)
            if isinstance(part, Check):
                yield part
            else:
                waiting[:0] = part.parts

    @property
    def needs_base(self) -> bool:
        """Whether any part is about a change."""
        return any(
            check.limit.measure != "value" or check.reference.figure.name == DIFFERING_STEPS
            for check in self.checks()
        )


def parse_condition(text: str) -> Condition:
    """Return the condition that ``text`` states.

    Raises:
        ConditionError: it states none.
    """
    return _Parser(text).condition()


def parse_reference(text: str) -> Reference:
    """Return the figure that ``text`` names, ``nodes@lowered``.

    Raises:
        ConditionError: there is none.
    """
    return _Parser(text).reference()


# A text longer than this is no condition that anybody wrote.
_LONGEST = 2_000
_TOKEN = re.compile(
    r"""\s*(?:
        (?P<quoted>"[^"]*"|'[^']*')
      | (?P<sign>[()@:]|<=|>=|==|!=|<|>)
      | (?P<word>[^\s()@:"'<>=!]+)
    )""",
    re.VERBOSE,
)
# A step's name has colons, and is one word after its @.
_STEP = re.compile(r"""\s*(?:"(?P<double>[^"]*)"|'(?P<single>[^']*)'|(?P<bare>[^\s()@"'<>=!#]+))""")
_NTH = re.compile(r"#([1-9][0-9]{0,5})(?![0-9])")
_NUMBER = re.compile(
    r"(?P<sign>[+\-\u2212]?)(?P<digits>[0-9][0-9_]*(?:\.[0-9][0-9_]*)?(?:[eE][+-]?[0-9]{1,3})?)"
    r"(?P<unit>[^\s0-9()]*)"
)
_OPERATORS: tuple[Operator, ...] = ("<", "<=", ">", ">=", "==", "!=")

_COUNTS = {prefix: Fraction(1000**i) for i, prefix in enumerate(("", "k", "M", "G"))}
_BYTES = (
    {"": Fraction(1), "B": Fraction(1)}
    | {f"{prefix}B": Fraction(1000**i) for i, prefix in enumerate(("k", "M", "G"), start=1)}
    | {f"{prefix}iB": Fraction(1024**i) for i, prefix in enumerate(("K", "M", "G"), start=1)}
)
_SECONDS = {
    "": Fraction(1),
    "s": Fraction(1),
    "ms": Fraction(1, 10**3),
    "us": Fraction(1, 10**6),
    "µs": Fraction(1, 10**6),
    "min": Fraction(60),
}


class _Parser:
    """Takes a text apart from left to right."""

    def __init__(self, text: str) -> None:
        if len(text) > _LONGEST:
            raise ConditionError(f"a condition of {len(text):,} characters is too long")
        self._text = text
        self._at = 0
        self._depth = 0

    def condition(self) -> Condition:
        """``[functions ":"] any``, and nothing behind it."""
        functions = self._functions()
        root = self._any()
        if self._peek():
            self._fail("'and', 'or' or the end")
        return Condition(self._text.strip(), functions, root)

    def reference(self) -> Reference:
        """``figure ["@" step]``, and nothing behind it."""
        reference = self._reference()
        if self._peek():
            self._fail("the end")
        return reference

    def _functions(self) -> str:
        start = self._at
        word = self._peek()
        if word and word not in ("(", ")", "@", ":"):
            self._next()
            if self._peek() == ":":
                self._next()
                if unquoted := _unquoted(word):
                    return unquoted
                self._at = start
                self._fail("the name of a function before ':'")
        self._at = start
        return ""

    def _any(self) -> Check | Combination:
        return self._joined("or", self._all)

    def _all(self) -> Check | Combination:
        return self._joined("and", self._part)

    def _joined(
        self, how: Literal["and", "or"], part: Callable[[], Check | Combination]
    ) -> Check | Combination:
        parts = [part()]
        while self._peek().lower() == how:
            self._next()
            parts.append(part())
        return parts[0] if len(parts) == 1 else Combination(how, tuple(parts))

    def _part(self) -> Check | Combination:
        if self._peek() != "(":
            return self._check()
        self._depth += 1
        if self._depth > 50:
            self._fail("fewer parentheses")
        self._next()
        inside = self._any()
        if self._peek() != ")":
            self._fail("')'")
        self._next()
        self._depth -= 1
        return inside

    def _check(self) -> Check:
        self._skip_blanks()
        start = self._at
        reference = self._reference()
        operator = self._operator()
        limit = self._limit(reference.figure)
        text = " ".join(self._text[start : self._at].split())
        return Check(reference, operator, limit, text)

    def _reference(self) -> Reference:
        figure = self._figure()
        step, occurrence = self._step() if self._peek() == "@" else ("", 0)
        self._check_step(figure, step)
        return Reference(figure, step, occurrence)

    def _figure(self) -> Figure:
        word = self._peek()
        figure = BY_NAME.get(word)
        if figure is not None:
            self._next()
            return figure
        if not word or not re.match(r"\w", word):
            self._fail("the name of a figure")
        close = get_close_matches(word, BY_NAME, n=1)
        hint = f"did you mean {close[0]}?" if close else f"there are: {', '.join(BY_NAME)}"
        raise ConditionError(f"{self._text!r}: there is no figure {word!r}; {hint}")

    def _step(self) -> tuple[str, int]:
        self._next()
        match = _STEP.match(self._text, self._at)
        name = match and (match["double"] or match["single"] or match["bare"])
        if match is None or not name:
            self._fail("the name of a step after '@', quoted where it has blanks")
        self._at = match.end()
        nth = _NTH.match(self._text, self._at)
        if nth is None:
            if self._text[self._at : self._at + 1] == "#":
                self._fail("a number from 1 after '#'")
            return name, 0
        self._at = nth.end()
        return name, int(nth[1])

    def _check_step(self, figure: Figure, step: str) -> None:
        if step and not figure.key and figure.name != RENDER_TIME:
            raise ConditionError(f"{self._text!r}: {figure.name} is of a recording, not of a step")

    def _operator(self) -> Operator:
        word = self._peek()
        operator = next((each for each in _OPERATORS if each == word), None)
        if operator is None:
            self._fail("one of " + " ".join(_OPERATORS))
        self._next()
        return operator

    def _limit(self, figure: Figure) -> Limit:
        self._skip_blanks()
        start = self._at
        match = _NUMBER.match(self._text, self._at)
        if match is None:
            self._fail("a number, as 12_000, +5% or 1.2x")
        self._at = match.end()
        unit = match["unit"]
        if not unit:
            unit = self._unit_apart()
        number = Fraction(match["digits"].replace("_", ""))
        sign = match["sign"]
        if sign and sign != "+":
            number = -number
        if unit == "%":
            if not sign:
                self._at = start
                self._fail(f"a sign before a percentage, which is a change: +{match['digits']}%")
            return Limit("percent", number)
        if unit == "x":
            if sign:
                self._at = start
                self._fail(f"no sign before a ratio: {match['digits']}x")
            return Limit("ratio", number)
        units = _units(figure)
        if unit not in units:
            known = " ".join(filter(None, (*units, "%", "x")))
            raise ConditionError(
                f"{self._text!r}: {figure.name} has no unit {unit!r}; there are: {known}"
            )
        return Limit("change" if sign else "value", number * units[unit])

    def _unit_apart(self) -> str:
        """A unit may stand apart from its number, unless the word joins two conditions."""
        word = self._peek()
        if not word or not re.fullmatch(r"%|[^\W\d_]+", word) or word.lower() in ("and", "or"):
            return ""
        return self._next()

    def _skip_blanks(self) -> None:
        while self._text[self._at : self._at + 1].isspace():
            self._at += 1

    def _peek(self) -> str:
        match = _TOKEN.match(self._text, self._at)
        if match is None:
            self._skip_blanks()
            return self._text[self._at : self._at + 1]
        return match[0].strip()

    def _next(self) -> str:
        match = _TOKEN.match(self._text, self._at)
        if match is None:
            self._fail("something else")
        self._at = match.end()
        return match[0].strip()

    def _fail(self, expected: str) -> NoReturn:
        self._skip_blanks()
        rest = self._text[self._at :]
        found = f"{rest[:20]!r}" if rest else "the end"
        raise ConditionError(f"{self._text!r}: expected {expected}, found {found}")


def _units(figure: Figure) -> Mapping[str, Fraction]:
    return {"By": _BYTES, "s": _SECONDS}.get(figure.unit, _COUNTS)


def _unquoted(word: str) -> str:
    return word[1:-1] if word[:1] in ("'", '"') else word
