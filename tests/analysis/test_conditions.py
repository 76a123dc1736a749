"""Conditions on figures: their grammar, and what they say of numbers, of changes, and of what is missing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pytest

from scaly_viz.analysis.condition_text import ConditionError, parse_condition
from scaly_viz.analysis.conditions import judge
from scaly_viz.analysis.figures import BY_NAME, FigureError, Number, RecordingFigures, Reference
from scaly_viz.analysis.render_times import compare_times

from .recorded import record


@dataclass(frozen=True)
class Known:
    """Figures that are given."""

    values: Mapping[str, Number]

    def value(self, reference: Reference) -> Number:
        try:
            return self.values[str(reference)]
        except KeyError:
            raise FigureError(f"there is no {reference}") from None


BASE = {
    "flops": 1000,
    "code_bytes": 12_000,
    "loops": 0,
    "workspace_bytes": 65_536,
    "render_time": 2.0,
    "nodes@pass:fuse_ranges": 100,
    "nodes@generated C": 7,
    "nodes@lowered#2": 9,
}
NEW = BASE | {"flops": 1050, "code_bytes": 12_001, "render_time": 2.5, "nodes@pass:fuse_ranges": 98}


def is_met(text: str, new: Mapping[str, Number] = NEW) -> bool | None:
    return judge(parse_condition(text).root, Known(new), Known(BASE)).is_met


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("flops > +5%", False),
        ("flops >= +5%", True),
        ("flops > +4.99%", True),
        ("flops>+50", False),
        ("flops > +49", True),
        ("flops > 1_049", True),
        ("flops > 1.05k", False),
        ("flops == 1050", True),
        ("flops != +0", True),
        ("flops < -5%", False),
        ("flops > 1.05x", False),
        ("flops > 1.04 x", True),
        ("code_bytes > 12 kB", True),
        ("code_bytes > 12.001kB", False),
        ("code_bytes > +1 B", False),
        ("workspace_bytes > 64 KiB", False),
        ("workspace_bytes > 65.5 kB", True),
        ("render_time > 1.25x", False),
        ("render_time > 2400 ms", True),
        ("render_time >= +0.5 s", True),
        ("nodes@pass:fuse_ranges < +0", True),
        ("nodes@pass:fuse_ranges<100", True),
        ("nodes@'generated C' == 7", True),
        ('nodes@"generated C" == 8', False),
        ("nodes@lowered#2 == 9", True),
        ("loops > +0", False),
        ("loops > +5%", False),
        ("loops > 1x", False),
        ("flops > +5% or code_bytes > 12 kB", True),
        ("flops > +5% and code_bytes > 12 kB", False),
        ("flops > 1 and loops > 1 or code_bytes > 1", True),
        ("flops > 1 AND (loops > 1 OR code_bytes > 1)", True),
        ("(flops > +5%)", False),
        ("calls > 1", None),
        ("calls > 1 or flops > 1", True),
        ("calls > 1 or flops > 9k", None),
        ("calls > 1 and flops > 1", None),
        ("calls > 1 and flops > 9k", None),
        ("nodes@no_such_pass > 1", None),
    ],
)
def test_a_condition_is_met_or_not_or_cannot_be_judged(text: str, expected: bool | None) -> None:
    assert is_met(text) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("loops > +5%", True), ("loops > 9x", True), ("loops < +5%", False), ("loops == +0%", False)],
)
def test_whatever_comes_from_nothing_is_infinitely_more(text: str, expected: bool) -> None:
    assert is_met(text, NEW | {"loops": 1}) is expected


def test_reasons_have_both_values_and_the_change() -> None:
    condition = parse_condition("flops >  +4%  or code_bytes > 1 or loops > 3")
    verdict = judge(condition.root, Known(NEW), Known(BASE))
    assert verdict.reasons == (
        "flops > +4%: 1,000 -> 1,050 (+5.0 %)",
        "code_bytes > 1: it is 12,001 B",
    )


NOISE = compare_times([2.0, 1.0, 3.0, 2.0], [2.5, 2.4, 2.6, 2.5])
SLOWER = compare_times([2.0, 1.9, 2.1, 2.0], [2.5, 2.4, 2.6, 2.5])
TOO_FEW = compare_times([2.0], [2.5])


@pytest.mark.parametrize(
    ("text", "in_noise", "beyond", "of_too_few"),
    [
        ("render_time > 1.01x", False, True, None),
        ("render_time >= 1x", True, True, None),
        ("render_time > +1%", False, True, None),
        ("render_time > +1 ms", False, True, None),
        ("render_time != +0", False, True, None),
        ("render_time < -1%", False, False, None),
        ("render_time > 1.5x", False, False, None),
        ("render_time > 1.01x or flops > +4%", True, True, True),
        ("render_time > 1.01x and flops > +4%", False, True, None),
        ("render_time > 2 s", True, True, True),
        ("render_time < 2 s", False, False, False),
        ("render_time@lowered > 1.01x", True, True, True),
    ],
)
def test_a_change_of_the_render_time_counts_beyond_the_noise_only(
    text: str, *, in_noise: bool, beyond: bool, of_too_few: bool | None
) -> None:
    base, new = (Known(side | {"render_time@lowered": side["render_time"]}) for side in (BASE, NEW))
    root = parse_condition(text).root
    answers = [judge(root, new, base, times).is_met for times in (NOISE, SLOWER, TOO_FEW)]
    assert answers == [in_noise, beyond, of_too_few]


def test_a_reason_tells_that_a_time_is_noise_and_how_many_recordings_are_needed() -> None:
    root = parse_condition("render_time >= 1x").root
    assert judge(root, Known(NEW), Known(BASE), NOISE).reasons == (
        "render_time >= 1x: 2.00 s -> 2.50 s (within the noise)",
    )
    assert judge(root, Known(NEW), Known(BASE), TOO_FEW).reasons == (
        "render_time >= 1x: too few recordings to tell a change from noise: 1 in BASE and 1 in NEW;"
        " 4 on each side are enough",
    )


def test_what_has_no_base_cannot_be_said_to_have_changed() -> None:
    verdict = judge(parse_condition("flops > +4%").root, Known(NEW), None)
    assert verdict.is_met is None
    assert verdict.reasons == ("flops > +4%: there is nothing that flops could be compared with",)
    assert judge(parse_condition("flops > 4").root, Known(NEW), None).is_met is True


@pytest.mark.parametrize(
    ("text", "functions"),
    [
        ("flops > 1", ""),
        ("mpc_*: flops > 1", "mpc_*"),
        ("'tests/test_a.py::test_b*': flops > 1", "tests/test_a.py::test_b*"),
        ("flops: flops > 1", "flops"),
    ],
)
def test_a_condition_may_be_on_some_functions_only(text: str, functions: str) -> None:
    assert parse_condition(text).functions == functions


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "'': expected the name of a figure, found the end"),
        ("flop > 1", "'flop > 1': there is no figure 'flop'; did you mean flops?"),
        ("xyzzy > 1", "'xyzzy > 1': there is no figure 'xyzzy'; there are: code_bytes, "),
        ("flops", "expected one of < <= > >= == !=, found the end"),
        ("flops = 1", "expected one of < <= > >= == !=, found '= 1'"),
        ("flops > ", "expected a number, as 12_000, +5% or 1.2x, found the end"),
        ("flops > much", "expected a number, as 12_000, +5% or 1.2x, found 'much'"),
        ("flops > 5%", "expected a sign before a percentage, which is a change: +5%"),
        ("flops > +2x", "expected no sign before a ratio: 2x"),
        ("flops > 1 kB", "flops has no unit 'kB'; there are: k M G % x"),
        ("code_bytes > 1 s", "code_bytes has no unit 's'; there are: B kB MB GB KiB MiB GiB % x"),
        ("render_time > 1 kB", "render_time has no unit 'kB'; there are: s ms us"),
        ("flops > 12,000", "flops has no unit ','"),
        ("flops > 1 flops > 2", "flops has no unit 'flops'"),
        ("flops > 1 > 2", "expected 'and', 'or' or the end, found '> 2'"),
        ("flops > 1 and", "expected the name of a figure, found the end"),
        ("(flops > 1", "expected ')', found the end"),
        ("flops > 1)", "expected 'and', 'or' or the end, found ')'"),
        ("flops@ > 1", "expected the name of a step after '@'"),
        ("flops@x#0 > 1", "expected a number from 1 after '#'"),
        ("flops@x y > 1", "expected one of < <= > >= == !=, found 'y > 1'"),
        ("flops@'x > 1", "expected the name of a step after '@'"),
        ("steps@lowered > 1", "steps is of a recording, not of a step"),
        (": flops > 1", "expected the name of a figure, found ': flops > 1'"),
        ("'': flops > 1", "expected the name of a function before ':'"),
        ("(" * 60 + "flops > 1", "expected fewer parentheses"),
        ("flops > 1" + " " * 3000, "a condition of 3,009 characters is too long"),
    ],
)
def test_what_cannot_be_understood_is_told_where(text: str, message: str) -> None:
    with pytest.raises(ConditionError) as raised:
        parse_condition(text)
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_step_that_there_is_once_has_no_second() -> None:
    figures = RecordingFigures(record("hessian"))
    assert figures.value(Reference(BY_NAME["flops"], "lowered", 1))
    with pytest.raises(FigureError, match=r"has step lowered only once$"):
        figures.value(Reference(BY_NAME["flops"], "lowered", 2))
