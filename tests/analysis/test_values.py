"""The life of a value: followed through new numbers, new names, inlining, and into the C."""

from __future__ import annotations

import pytest

from scaly_viz.analysis.correspondence import corresponding
from scaly_viz.analysis.cost import TextCost
from scaly_viz.analysis.following import Name
from scaly_viz.analysis.models import cost_of_text
from scaly_viz.analysis.place import Place
from scaly_viz.analysis.scanned_texts import Texts
from scaly_viz.analysis.values import Value, ValueCost, name_at, value_of
from scaly_viz.recording import Recording
from scaly_viz.scaly_viz_dict import from_dict

EXPRESSION = """\
expr.module {
  expr.func @f(%x: tensor<3xfloat64>, %u: tensor<3xfloat64>) -> (%f: tensor<3xfloat64>) {
    %0 = expr.input {name="x"} : tensor<3xfloat64>
    %1 = expr.input {name="u"} : tensor<3xfloat64>
    %2 = expr.sin(%0) : tensor<3xfloat64>
    %3 = expr.add(%2, %1) : tensor<3xfloat64>
    expr.return %3
  }
}"""
LOWERED = """\
prog.module {
  prog.proc @f(%x: memref<3xfloat64>, %u: memref<3xfloat64>, %f_2: memref<3xfloat64>) {input_count=2} {
    %t0 = prog.buffer : memref<3xfloat64, private>
    prog.for %i_t0 = 0 to 3 step 1 {kind=global} {
      prog.store prog.sin(prog.load %x[%i_t0]), %t0[%i_t0] : float64
    }
    prog.for %i_f_2 = 0 to 3 step 1 {kind=global} {
      prog.store prog.add(prog.load %t0[%i_f_2], prog.load %u[%i_f_2]), %f_2[%i_f_2] : float64
    }
  }
}"""
LISTING = """\
program
  proc f(x:float64(3,), u:float64(3,), f_2:float64(3,)):
    buffer
    for i_t0 in [0, 3) step 1 kind=global:
      t0[i_t0] <- sin(x[i_t0])
    for i_f_2 in [0, 3) step 1 kind=global:
      f_2[i_f_2] <- (t0[i_f_2] + u[i_f_2])"""
PACKED = LOWERED.replace("%t0", "%s0").replace("private>", "private> = prog.workspace offset 0")
CODE = """\
#include <math.h>

int f(const double** arg, double** res, int* iw, double* w, int mem) {
  double* s0 = w;
  for (long long i_t0 = 0; i_t0 < 3; ++i_t0) {
    s0[i_t0] = sin(arg[0][i_t0]);
  }
  for (long long i_f_2 = 0; i_f_2 < 3; ++i_f_2) {
    res[0][i_f_2] = (s0[i_f_2] + arg[1][i_f_2]);
  }
  return 0;
}"""


@pytest.fixture
def recording() -> Recording:
    return recording_of_f()


def recording_of_f() -> Recording:
    steps = [
        {"name": "expression", "dialect": "expr", "assembly": EXPRESSION},
        {"name": "lowered", "dialect": "prog", "assembly": LOWERED, "listing": LISTING},
        {"name": "pass:same", "dialect": "prog", "assembly": LOWERED, "listing": LISTING},
        {"name": "pass:pack_workspace", "dialect": "prog", "assembly": PACKED},
        {"name": "generated C", "dialect": "c", "code": CODE},
    ]
    return from_dict({"id": "1", "function": "f", "steps": steps}, "memory")


def value(recording: Recording, step: int, kind: str, name: str, scope: str = "f") -> Value:
    def cost() -> TextCost:
        return cost_of_text(recording, recording.steps[step], kind)

    found = value_of(Texts(recording), recording.steps[step], kind, Name(name, scope), cost)
    assert found is not None
    return found


def lives(value: Value) -> list[tuple[int, str, str, str]]:
    return [(each.step, each.kind, each.state, each.name) for each in value.life]


def test_a_buffer_is_born_renamed_and_ends_in_the_c(recording: Recording) -> None:
    buffer = value(recording, 1, "assembly", "t0")

    assert (buffer.role, buffer.type) == ("buffer", "float64 (3,)")
    assert buffer.definition == Place(1, "assembly", 3, 4, 7)
    assert lives(buffer) == [
        (0, "assembly", "born", "2"),  # the sine, which lowering keeps in t0
        (1, "assembly", "present", "t0"),
        (1, "listing", "present", "t0"),
        (2, "assembly", "present", "t0"),
        (2, "listing", "present", "t0"),
        (3, "assembly", "changed", "s0"),
        (4, "code", "present", "s0"),
    ]
    assert [each.name for each in buffer.producers] == ["x"]
    assert [each.name for each in buffer.consumers] == ["f_2"]
    assert [(place.line, place.column) for place in buffer.code] == [(4, 10), (6, 4), (9, 21)]
    # Three sines, each of a loaded element, stored.
    assert buffer.cost == ValueCost(flops=3, loads=3, stores=3, bytes=48)
    assert buffer.life[1].lines == [3, 5, 8]
    assert buffer.life[1].text == "%t0 = prog.buffer : memref<3xfloat64, private>"


def test_a_buffer_of_a_listing_has_the_type_that_the_assembly_says(recording: Recording) -> None:
    buffer = value(recording, 1, "listing", "t0")

    assert (buffer.role, buffer.type) == ("buffer", "float64 (3,)")
    assert buffer.definition == Place(1, "listing", 5, 6, 8)


@pytest.mark.parametrize(("step", "kind", "name"), [(3, "assembly", "s0"), (4, "code", "s0")])
def test_a_value_can_be_followed_from_any_of_its_texts(
    recording: Recording, step: int, kind: str, name: str
) -> None:
    expected = lives(value(recording, 1, "assembly", "t0"))
    assert lives(value(recording, step, kind, name)) == expected


def test_inputs_and_outputs_are_followed_by_their_place(recording: Recording) -> None:
    names = [each.name for each in value(recording, 0, "assembly", "u").life]
    assert names == ["u", "u", "u", "u", "u", "u", "arg[1]"]
    output = value(recording, 4, "code", "res[0]")
    assert [each.name for each in output.life] == ["f", *["f_2"] * 5, "res[0]"]
    assert output.role == "output"
    assert value(recording, 0, "assembly", "f").type == "float64 (3,)"


def test_a_value_of_an_expression_is_followed_into_the_c(recording: Recording) -> None:
    ssa = value(recording, 0, "assembly", "2")
    assert (ssa.role, ssa.type, ssa.note) == ("ssa", "float64 (3,)", "")
    assert [each.name for each in ssa.life] == ["2", "t0", "t0", "t0", "t0", "s0", "s0"]
    assert [each.name for each in ssa.producers] == ["0"]
    assert [each.name for each in ssa.consumers] == ["3"]
    assert [place.line for place in ssa.code] == [4, 6, 9]


@pytest.mark.parametrize("at", range(4))
def test_steps_of_the_recording_read_again_are_as_good_as_those_of_the_first_time(at: int) -> None:
    texts, again = Texts(recording_of_f()), recording_of_f()
    step = again.steps[at]
    name = Name("2" if step.dialect == "expr" else "s0" if at == 3 else "t0", "f")
    found = value_of(texts, step, "assembly", name, lambda: cost_of_text(again, step, "assembly"))
    assert found is not None
    assert [(entry.step, entry.name) for entry in found.life if entry.state == "born"] == [(0, "2")]


def test_what_a_pass_removes_is_gone_from_then_on() -> None:
    fused = LOWERED.replace("prog.load %t0[%i_f_2]", "prog.sin(prog.load %x[%i_f_2])")
    kept = [line for line in fused.split("\n") if "t0" not in line]
    steps = [
        {"name": "lowered", "dialect": "prog", "assembly": LOWERED},
        {"name": "pass:fuse", "dialect": "prog", "assembly": "\n".join(kept)},
        {"name": "generated C", "dialect": "c", "code": "int f() { return 0; }"},
    ]
    buffer = value(from_dict({"id": "1", "steps": steps}, "memory"), 0, "assembly", "t0")
    assert [each.state for each in buffer.life] == ["born", "gone", "absent"]
    assert buffer.code == []


def test_a_procedure_changes_with_its_body_and_costs_what_a_run_of_it_does() -> None:
    changed = LOWERED.replace("prog.sin(prog.load %x[%i_t0])", "prog.load %x[%i_t0]")
    other = f"{changed[:-2]}\n  prog.proc @g() {{input_count=0}} {{\n  }}\n}}"
    steps = [
        {"name": f"pass:{i}", "dialect": "prog", "assembly": text}
        for i, text in enumerate((LOWERED, LOWERED, changed, other))
    ]
    recording = from_dict({"id": "1", "steps": steps}, "memory")
    cost = cost_of_text(recording, recording.steps[0], "assembly")
    name = Name("f", "", is_procedure=True)
    found = value_of(Texts(recording), recording.steps[0], "assembly", name, lambda: cost)
    assert found is not None
    assert [each.state for each in found.life] == ["born", "present", "changed", "present"]
    # Three sines and three sums, of nine elements loaded and six stored.
    assert found.cost == ValueCost(6, 9, 6, 120)


def test_a_value_moves_into_the_procedure_that_its_own_is_inlined_in() -> None:
    head = "  prog.proc @g(%x: memref<1xfloat64>, %y: memref<1xfloat64>) {input_count=1} {"
    body = "    %v3 = prog.assign prog.cos(prog.load %x[0]) : float64 {declare=True}"
    before = f"prog.module {{\n{head}\n{body}\n    prog.store %v3, %y[0] : float64\n  }}\n}}"
    after = f"prog.module {{\n{head.replace('@g', '@f')}\n{body.replace('%v3', '%v0')}\n    done\n  }}\n}}"
    steps = [
        {"name": f"pass:{i}", "dialect": "prog", "assembly": text}
        for i, text in enumerate((before, after))
    ]
    life = value(from_dict({"id": "1", "steps": steps}, "memory"), 0, "assembly", "v3", "g").life
    assert [(each.state, each.name, each.scope) for each in life] == [
        ("born", "v3", "g"),
        ("changed", "v0", "f"),
    ]


def test_a_word_of_a_language_that_nobody_knows_is_followed_too() -> None:
    steps = [{"name": "a", "odd": "alpha beta\ngamma"}, {"name": "b", "odd": "gamma"}]
    recording = from_dict({"id": "1", "steps": steps}, "memory")
    found = value(recording, 0, "odd", "gamma", "")
    assert (found.role, [each.state for each in found.life]) == ("word", ["born", "present"])


def test_a_name_is_found_at_its_column(recording: Recording) -> None:
    text = Texts(recording).scanned(recording.steps[1], "assembly")
    assert text is not None
    found = name_at(text, 5, 36)
    assert found is not None
    assert (found[0].name, found[1].name) == ("x", "f")
    assert name_at(text, 5, 0) is None
    assert name_at(text, 99, 0) is None


@pytest.mark.parametrize(
    ("step", "kind", "line", "to_step", "to_kind", "lines"),
    [
        (1, "assembly", 8, 1, "listing", [7]),
        (1, "listing", 5, 1, "assembly", [5]),
        (1, "assembly", 6, 1, "listing", []),  # a closing bracket
        (1, "assembly", 8, 3, "assembly", [8]),
        (3, "assembly", 5, 1, "listing", [5]),
        (1, "listing", 7, 4, "code", [9]),
        (4, "code", 6, 3, "assembly", [5]),
        (4, "code", 5, 1, "listing", [4]),
        (1, "assembly", 2, 4, "code", [3]),
        (1, "assembly", 3, 4, "code", [4]),
        # Of expressions what has a name in the program: function, inputs, outputs; and storage.
        (0, "assembly", 2, 1, "assembly", [2]),
        (0, "assembly", 3, 1, "listing", [2]),
        (0, "assembly", 5, 1, "assembly", [5]),
        (0, "assembly", 6, 1, "assembly", [8]),
        (0, "assembly", 7, 4, "code", [9]),
        (4, "code", 9, 0, "assembly", [6, 7]),
        (1, "assembly", 5, 0, "assembly", [5]),
        (1, "assembly", 4, 0, "assembly", []),
        (1, "assembly", 99, 3, "assembly", []),
        (3, "assembly", 99, 4, "code", []),
        (4, "code", 99, 3, "assembly", []),
    ],
)
def test_lines_correspond_to_lines_of_other_texts(
    recording: Recording,
    step: int,
    kind: str,
    line: int,
    to_step: int,
    to_kind: str,
    lines: list[int],
) -> None:
    texts = Texts(recording)
    there = recording.steps[to_step]
    assert corresponding(texts, recording.steps[step], kind, line, there, to_kind).lines == lines


def test_calls_correspond_by_their_callee_where_there_is_no_doubt() -> None:
    expression = """\
expr.module {
  expr.func @g(%x: tensor<2xfloat64>) -> (%a: tensor<2xfloat64>, %b: tensor<2xfloat64>) {
    %0 = expr.input {lowering="auto", name="x"} : tensor<2xfloat64>
    expr.return %0, %0
  }
  expr.func @h(%x: tensor<2xfloat64>) -> (%y: tensor<2xfloat64>) {
    %0 = expr.input {lowering="auto", name="x"} : tensor<2xfloat64>
    %1 = expr.call(%0) {callee="g", output=0} : tensor<2xfloat64>
    %2 = expr.call(%0) {callee="g", output=1} : tensor<2xfloat64>
    %3 = expr.call(%1) {callee="k", output=0} : tensor<2xfloat64>
    %4 = expr.call(%2) {callee="k", output=0} : tensor<2xfloat64>
    %5 = expr.add(%3, %4) : tensor<2xfloat64>
    expr.return %5
  }
}"""
    program = """\
prog.module {function_symbols=[[@h, "h"], [@g, "g_2"], [@k, "k"]]} {
  prog.proc @g_2(%x: memref<2xfloat64>, %a: memref<2xfloat64>, %b: memref<2xfloat64>) {input_count=1} {
  }
  prog.proc @k(%x: memref<2xfloat64>, %a: memref<2xfloat64>) {input_count=1} {
  }
  prog.proc @h(%x: memref<2xfloat64>, %y: memref<2xfloat64>) {input_count=1} {
    prog.call @g_2(%x, %t0, %t1) {n_in=1, n_out=2}
    prog.call @k(%t0, %t2) {n_in=1, n_out=1}
    prog.call @k(%t1, %t3) {n_in=1, n_out=1}
  }
}"""
    steps = [
        {"name": "expression", "dialect": "expr", "assembly": expression},
        {"name": "lowered", "dialect": "prog", "assembly": program},
    ]
    recording = from_dict({"id": "1", "function": "h", "steps": steps}, "memory")
    texts, (one, other) = Texts(recording), recording.steps

    def there(line: int) -> list[int]:
        return corresponding(texts, one, "assembly", line, other, "assembly").lines

    assert [there(line) for line in (2, 3, 6)] == [[2], [2], [6]]
    # The two results of one call are one call; which of two calls became which is not told.
    assert [there(line) for line in (8, 9, 10, 11)] == [[7], [7], [], []]
    assert corresponding(texts, other, "assembly", 7, one, "assembly").lines == [8, 9]


def test_of_functions_of_one_name_nothing_is_guessed() -> None:
    function = "  expr.func @f(%x: tensor<float64>) -> (%y: tensor<float64>) {\n  }"
    head = 'prog.module {function_symbols=[[@f, "f"], [@f, "f_2"]]} {'
    procedures = "\n".join(f"  prog.proc @{name}() {{\n  }}" for name in ("f_2", "f"))
    steps = [
        {"name": "a", "dialect": "expr", "assembly": f"expr.module {{\n{function}\n{function}\n}}"},
        {"name": "b", "dialect": "prog", "assembly": f"{head}\n{procedures}\n}}"},
    ]
    recording = from_dict({"id": "1", "function": "f", "steps": steps}, "memory")
    one, other = recording.steps
    assert corresponding(Texts(recording), one, "assembly", 2, other, "assembly").lines == []


def test_texts_that_do_not_fit_into_memory_are_read_again(recording: Recording) -> None:
    texts = Texts(recording, most_bytes=0)
    step = recording.steps[1]
    found = value_of(texts, step, "assembly", Name("t0", "f"), lambda: None)
    assert found is not None
    assert lives(found) == lives(value(recording, 1, "assembly", "t0"))
    first, second = (texts.scanned(step, "assembly") for _ in range(2))
    assert first is second  # the last one is always kept
    texts.scanned(step, "listing")
    assert texts.scanned(step, "assembly") is not first
