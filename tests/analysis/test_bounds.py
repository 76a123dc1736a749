"""Hostile and endless texts: what is asked of them costs no more than their size, and figures stay figures.

Work is counted in lines that are taken apart. What has no count here would not end if it grew with
the square of the text.
"""

from __future__ import annotations

import msgspec
import pytest

from scaly_viz.analysis.c_model import CText
from scaly_viz.analysis.correspondence import corresponding
from scaly_viz.analysis.cost import cost_of
from scaly_viz.analysis.following import Name, follow
from scaly_viz.analysis.models import cost_of_text, scanner_of
from scaly_viz.analysis.prog_names import ProgScanner
from scaly_viz.analysis.scanned_texts import Texts
from scaly_viz.analysis.scanners import ScannedText
from scaly_viz.analysis.search import Query, search
from scaly_viz.analysis.text_model import (
    LARGEST,
    Loop,
    Occurrence,
    Procedure,
    column_of_utf16,
    utf16_column,
)
from scaly_viz.analysis.text_prog import ProgramText
from scaly_viz.analysis.values import value_of
from scaly_viz.recording import Recording
from scaly_viz.scaly_viz_dict import from_dict

HEAD = "  prog.proc @f(%n: memref<1xint64>, %y: memref<4xfloat64>) {input_count=1} {"


def recording_of(dialect: str, kind: str, *texts: str) -> Recording:
    steps = [
        {"name": f"pass:{at}", "dialect": dialect, kind: text} for at, text in enumerate(texts)
    ]
    return from_dict({"id": "1", "function": "f", "steps": steps}, "memory")


def nested(depth: int, stop: str) -> list[str]:
    heads = [f"    prog.for %i_{at} = 0 to {stop} step 1 {{kind=serial}} {{" for at in range(depth)]
    return [HEAD, *heads, "prog.store 1, %y[%i_0] : float64", *["    }"] * depth, "  }"]


def test_loops_nested_beyond_reason_are_passed_over_and_said() -> None:
    cost = cost_of(ProgramText(nested(50_000, "prog.load %n[0]")).model())
    assert len(cost.loops) == 200
    assert "loops in proc f: those nested more than 200 deep, from line 202 on" in cost.uncounted
    # What comes behind them is counted again.
    again = [*nested(300, "2")[:-1], "    prog.store 1, %y[0] : float64", "  }"]
    assert cost_of(ProgramText(again).model()).totals.stores == 1


def test_bounds_that_vary_are_counted_through_64_loops() -> None:
    def cost(depth: int) -> list[str]:
        return cost_of(ProgramText(nested(depth, "prog.add(1, 1)")).model()).uncounted

    assert not [reason for reason in cost(62) if "too many loops" in reason]
    assert cost(65) == [
        "loop i_64 in proc f: it is in too many loops whose bounds vary",
        f"whatever is beyond {LARGEST:,}",
    ]


def test_figures_are_numbers_that_json_can_hold() -> None:
    text = nested(20, "999999999999999")
    c = ["int f(const double** arg, double** res) {"]
    c += [f"  for (long long i{at} = 0; i{at} < 999999999999999; ++i{at}) {{" for at in range(20)]
    c += ["res[0][0] = arg[0][0];", *["  }"] * 20, "}"]
    for model in (ProgramText(text).model(), CText(c).model()):
        cost = cost_of(model)
        assert cost.totals.stores == cost.totals.bytes == LARGEST
        assert f"whatever is beyond {LARGEST:,}" in cost.uncounted
        assert msgspec.json.decode(msgspec.json.encode(cost), type=type(cost)) == cost


def test_procedures_that_call_each_other_in_a_chain_end_at_the_largest_figure() -> None:
    text = []
    for at in range(200):
        text += [f"prog.proc @f{at}() {{input_count=0}} {{", *[f"prog.call @f{at + 1}()"] * 2, "}"]
    text += ["prog.proc @f200(%y: memref<1xfloat64>) {", "prog.store 1, %y[0] : float64", "}"]
    text += ["prog.proc @main() {", "prog.call @f0()", "}"]
    cost = cost_of(ProgramText(text).model())
    assert cost.totals.stores == LARGEST
    assert {each.name: each.runs for each in cost.procedures}["f3"] == 8


@pytest.mark.parametrize(
    "line",
    [
        f"prog.proc @f(%x: memref<{'9' * 5_000}xfloat64>) {{input_count={'9' * 5_000}}} {{",
        f"prog.call @f(%x) {{n_out={'9' * 5_000}}}",
        f"%x = prog.buffer : memref<1xfloat64> = prog.workspace offset {'9' * 5_000}",
        f"  for (long long i = 0; i < {'9' * 5_000}; ++i) {{",
        "  for (long long i = 0; i < 9; i += 0) {",
        f"expr.func @f(%x: tensor<{'9' * 5_000}xfloat64>) -> () {{",
    ],
)
def test_numbers_of_thousands_of_digits_are_no_numbers(line: str) -> None:
    model = ["prog.proc @g() {", line, "}", "int f(const double** arg, double** res) {", line, "}"]
    cost_of(ProgramText(model).model())
    cost_of(CText(model).model())
    for dialect, kind in (("expr", "assembly"), ("prog", "assembly"), ("c", "code")):
        scanner = scanner_of(dialect, kind)
        for use in scanner.names(line):
            scanner.declared(line, use.name)


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind", ["expr assembly", "prog assembly", "prog listing", "c code", "- a"]
)
@pytest.mark.parametrize(
    "unit",
    ['\\"', '"\\', "/*", "/", '"', ") -> (", " : tensor<", "%a: memref<", "%a, ", "%a: tensor<",
     "@", 'callee="', "(", "[", "]", "a(", "x ", "arg[0", "= ", "for (int i = ", "\U0001d538 ", "{", "1", "a"],
)  # fmt: skip
def test_lines_of_one_thing_repeated_are_taken_apart(kind: str, unit: str) -> None:
    scanner = scanner_of(*kind.split(" "))
    heads = {
        "expr assembly": "expr.func @f(",
        "prog assembly": "  prog.proc @f(",
        "prog listing": "  proc f(",
        "c code": "int f(const double* a, ",
        "- a": "",
    }
    for head in (heads[kind], "  %0 = expr.x(", "  prog.call @f(", "  prog.store ", "  "):
        line = head + unit * (30_000 // len(unit))
        for each in (line, line + ") {"):
            names = scanner.names(each)
            for use in dict.fromkeys(use.name for use in names):
                scanner.declared(each, use)
        if head == heads[kind] or kind == "- a":  # the other heads are the same for all kinds
            cost_of(ProgramText([line]).model())
            cost_of(CText(["int f(const double** arg, double** res) {", line, "}"]).model())


class Counting(ProgScanner):
    """Counts the lines that are taken apart."""

    def __init__(self) -> None:
        self.lines = 0

    def names(self, line: str) -> list[Occurrence]:
        """Return the names of a line."""
        self.lines += 1
        return super().names(line)


def test_a_name_a_thousand_times_in_a_line_is_followed_by_taking_the_line_apart_once() -> None:
    line = "prog.print(" + "%a, " * 1_000 + ")"
    scanner = Counting()
    one = ScannedText.of([line], scanner)
    other = ScannedText.of([line.replace("%a", "%b")], scanner)
    assert follow(Name("a", ""), one, other, [0]) == Name("b", "")
    assert scanner.lines == 2


@pytest.mark.parametrize("kind", ["expr assembly", "prog assembly", "prog listing", "c code"])
def test_a_text_without_procedures_is_one_scope(kind: str) -> None:
    text = ScannedText.of(["no", "procedure"], scanner_of(*kind.split(" ")))
    assert (text.scopes, text.scope_at(1).end) == ([], 2)


def test_only_lines_that_have_the_whole_name_are_taken_apart() -> None:
    scanner = Counting()
    text = ScannedText.of([f"    %v{at} = prog.sin(%x)" for at in range(1_000)], scanner)
    assert [line for line, _ in Name("v1", "").uses(text)] == [2]
    assert scanner.lines == 1


def test_a_value_in_fifteen_thousand_places_shows_the_first_of_them() -> None:
    line = "  " + "x + " * 1_000
    recording = recording_of("c", "code", "\n".join(["int f(int x) {", *[line] * 15, "}"]))
    step = recording.steps[0]
    value = value_of(Texts(recording), step, "code", Name("x", "f"), lambda: None)
    assert value is not None
    assert len(value.code) == 10_000
    assert value.life[0].lines == list(range(1, 17))


def test_loops_around_a_line_are_looked_for_once_for_all_its_names() -> None:
    depth = 3_000
    recording = recording_of("prog", "assembly", "\n".join(nested(depth, "prog.load %n[0]")))
    step = recording.steps[0]
    texts = Texts(recording)
    text = texts.scanned(step, "assembly")
    assert text is not None
    value = value_of(texts, step, "assembly", Name("y", "f"), lambda: None)
    assert value is not None
    # The variable of the outermost loop, 3,000 lines before, makes no value.
    assert value.producers == []


def test_the_life_of_a_value_does_not_hold_each_line_once_per_place() -> None:
    line = "prog.print(" + "%a, " * 20_000 + "0)"
    recording = recording_of("prog", "assembly", f"{HEAD}\n{line}", f"{HEAD}\n{line}\n")
    value = value_of(Texts(recording), recording.steps[0], "assembly", Name("a", "f"), lambda: None)
    assert value is not None
    assert [(each.state, each.lines) for each in value.life] == [("born", [2]), ("present", [2])]


def test_lines_of_a_source_are_followed_by_their_names() -> None:
    count = 2_000
    store = [f"    prog.store {at}, %y[{at}] : float64" for at in range(count)]
    code = [f"  res[0][{at}] = {at};" for at in range(count)]
    head = "int f(const double** arg, double** res, int* iw, double* w, int mem) {"
    steps = [
        {"name": "p", "dialect": "prog", "assembly": "\n".join([HEAD, *store, "  }"])},
        {"name": "c", "dialect": "c", "code": "\n".join([head, *code, "}"])},
    ]
    recording = from_dict({"id": "1", "function": "f", "steps": steps}, "memory")
    texts, (program, source) = Texts(recording), recording.steps
    for line in (2, 77, count + 1):
        assert corresponding(texts, source, "code", line, program, "assembly").lines == [line]
        assert corresponding(texts, program, "assembly", line, source, "code").lines == [line]


def test_the_innermost_loop_of_each_line_is_known() -> None:
    outer = Loop(2, 9, "i")
    inner, later = Loop(3, 5, "j", parent=outer), Loop(7, 9, "k", parent=outer)
    procedure = Procedure("f", 1, 12, loops=[outer, inner, later, Loop(11, 11, "torn")])
    found = [each and each.name for each in map(procedure.loop_at, range(1, 13))]
    assert found == [None, None, "i", "j", "j", "i", "i", "k", "k", None, None, None]


@pytest.mark.parametrize("line", ["abc", "aß\U0001d538b", "\U0001d538\U0001d538", "\ud800x"])
def test_columns_of_browsers_are_columns_of_the_line(line: str) -> None:
    for column in range(len(line) + 1):
        assert column_of_utf16(line, utf16_column(line, column)) == column
    assert column_of_utf16("\U0001d538b", 1) == 0


def test_a_line_of_a_million_characters_is_searched_to_its_end() -> None:
    recording = recording_of("prog", "assembly", "abc" * 333_333)
    found = search(recording, Query("bc"), seconds=600)
    assert (found.count, len(found.steps[0].hits)) == (333_333, 50)


@pytest.mark.parametrize("kind", ["code", "assembly", "listing", "odd"])
def test_every_text_has_a_cost_however_odd(kind: str) -> None:
    for dialect in ("c", "prog", "expr", "odd"):
        recording = recording_of(dialect, kind, "}\n{{(\n" * 20_000)
        assert cost_of_text(recording, recording.steps[0], kind).totals.flops == 0
