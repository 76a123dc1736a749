"""Which storage of a program holds the values of the expression that it was lowered from."""

from __future__ import annotations

from scaly_viz.analysis.following import Name
from scaly_viz.analysis.scanned_texts import Texts
from scaly_viz.analysis.values import Value, value_of
from scaly_viz.recording import Recording
from scaly_viz.scaly_viz_dict import from_dict

EXPRESSION = """\
expr.module {
  expr.func @g(%x: tensor<2xfloat64>) -> (%a: tensor<2xfloat64>, %b: tensor<2xfloat64>) {
    %0 = expr.input {lowering="auto", name="x"} : tensor<2xfloat64>
    %1 = expr.sin(%0) : tensor<2xfloat64>
    expr.return %1, %0
  }
  expr.func @h(%x: tensor<4xfloat64>) -> (%y: tensor<2xfloat64>) {
    %0 = expr.input {lowering="auto", name="x"} : tensor<4xfloat64>
    %1 = expr.slice(%0) {index=[slice(0, 2, None)]} : tensor<2xfloat64>
    %2 = expr.call(%1) {callee="g", output=0} : tensor<2xfloat64>
    %3 = expr.call(%1) {callee="g", output=1} : tensor<2xfloat64>
    %4 = expr.mul(%2, %3) : tensor<2xfloat64>
    %5 = expr.const {value=array([1., 2.])} : tensor<2xfloat64>
    %6 = expr.add(%4, %5) : tensor<2xfloat64>
    expr.return %6
  }
}"""
PROGRAM = """\
prog.module {function_symbols=[[@h, "h"], [@g, "g_2"]]} {
  prog.proc @g_2(%x: memref<2xfloat64>, %a: memref<2xfloat64>, %b: memref<2xfloat64>) {input_count=1} {
    prog.for %i_a = 0 to 2 step 1 {kind=global} {
      prog.store prog.sin(prog.load %x[%i_a]), %a[%i_a] : float64
    }
    prog.for %i_b = 0 to 2 step 1 {kind=global} {
      prog.store prog.load %x[%i_b], %b[%i_b] : float64
    }
  }
  prog.proc @h(%x: memref<4xfloat64>, %y: memref<2xfloat64>) {input_count=1} {
    %t0 = prog.buffer : memref<2xfloat64, private> = prog.alias %x offset 0
    %t1 = prog.buffer : memref<2xfloat64, private>
    %t2 = prog.buffer : memref<2xfloat64, private>
    prog.call @g_2(%t0, %t1, %t2) {n_in=1, n_out=2}
    %t3 = prog.buffer : memref<2xfloat64, private>
    prog.for %i_t3 = 0 to 2 step 1 {kind=global} {
      prog.store prog.mul(prog.load %t1[%i_t3], prog.load %t2[%i_t3]), %t3[%i_t3] : float64
    }
    %k4 = prog.buffer : memref<2xfloat64, constant> = dense<[1.0, 2.0]>
    prog.for %i_y = 0 to 2 step 1 {kind=global} {
      prog.store prog.add(prog.load %t3[%i_y], prog.load %k4[%i_y]), %y[%i_y] : float64
    }
  }
}"""


def recorded(program: str = PROGRAM) -> Recording:
    steps = [
        {"name": "expression", "dialect": "expr", "assembly": EXPRESSION},
        {"name": "lowered", "dialect": "prog", "assembly": program},
        {"name": "pass:rename", "dialect": "prog", "assembly": program.replace("%t", "%s")},
    ]
    return from_dict({"id": "1", "function": "h", "steps": steps}, "memory")


def value(recording: Recording, step: int, name: str, scope: str) -> Value:
    texts = Texts(recording)
    found = value_of(texts, recording.steps[step], "assembly", Name(name, scope), lambda: None)
    assert found is not None
    return found


def storage(program: str, function: str) -> dict[str, str]:
    one, other, _ = recorded(program).steps
    lowering = Texts(recorded(program)).lowering(one, other)
    assert lowering is not None
    return dict(lowering.storage(function))


def test_each_value_is_found_in_its_storage() -> None:
    of_h = {"0": "x", "1": "t0", "2": "t1", "3": "t2", "4": "t3", "5": "k4", "6": "y"}
    assert storage(PROGRAM, "h") == {"x": "x", "y": "y"} | of_h
    assert storage(PROGRAM, "g") == {"x": "x", "a": "a", "b": "b", "0": "x", "1": "a"}


def test_a_value_is_followed_into_the_program_and_through_its_passes_and_back() -> None:
    product = value(recorded(), 0, "4", "h")
    assert [each.name for each in product.life] == ["4", "t3", "s3"]
    assert [each.scope for each in product.life] == ["h", "h", "h"]
    assert product.note == ""
    assert [each.name for each in value(recorded(), 2, "s3", "h").life] == ["4", "t3", "s3"]
    # A procedure that has another name than its function.
    assert [each.scope for each in value(recorded(), 0, "1", "g").life] == ["g", "g_2", "g_2"]


def test_lines_of_operations_correspond_to_those_that_write_their_storage() -> None:
    one, other, _ = recorded().steps
    lowering = Texts(recorded()).lowering(one, other)
    assert lowering is not None
    assert lowering.lines() == {
        4: [4],  # the sine
        9: [11],  # a slice, an alias
        10: [14],
        11: [14],
        12: [17],
        13: [19],
        14: [21],
    }


def test_nothing_is_guessed_from_where_the_program_does_something_else() -> None:
    other = PROGRAM.replace("prog.mul(", "prog.div(")
    assert set(storage(other, "h")) == {"x", "y", "0", "1", "2", "3"}
    found = value(recorded(other), 0, "4", "h")
    assert [each.state for each in found.life] == ["born", "gone", "absent"]
    assert found.note == (
        "The texts do not tell which storage of the program holds this value. It is part of y."
    )
    # Of another type, in another order, or from other storage.
    assert "4" not in storage(
        PROGRAM.replace("%t3 = prog.buffer : memref<2", "%t3 = prog.buffer : memref<3"), "h"
    )
    assert "1" not in storage(PROGRAM.replace("alias %x", "alias %y"), "h")
    assert "2" not in storage(PROGRAM.replace("@g_2(%t0, %t1, %t2)", "@g_2(%t0, %t2, %t1)"), "h")
    assert "4" not in storage(PROGRAM.replace("prog.load %t2[%i_t3]", "prog.load %t1[%i_t3]"), "h")


def test_a_function_without_a_procedure_is_told_as_such() -> None:
    found = value(recorded(PROGRAM.replace('[@h, "h"], ', "")), 0, "4", "h")
    assert found.note == "h has no procedure of its own in the program. It is part of y."


def test_a_name_without_its_function_is_told_as_such() -> None:
    found = value(recorded(), 0, "x", "")
    assert found.note == (
        "Which function it belongs to is not said: without that it is not followed into the program."
    )


def test_a_value_is_not_taken_for_that_of_another_function() -> None:
    function = EXPRESSION.partition("  expr.func @h")[0]
    other = """\
expr.module {
  expr.func @k(%x: tensor<2xfloat64>) -> (%a: tensor<2xfloat64>, %b: tensor<2xfloat64>) {
    %7 = expr.cos(%0) : tensor<2xfloat64>
    expr.return %7, %0
  }
}"""
    steps = [
        {"name": "expression", "dialect": "expr", "assembly": EXPRESSION},
        {"name": "normalized:g", "dialect": "expr", "assembly": f"{function}}}"},
        {"name": "normalized:k", "dialect": "expr", "assembly": other},
        {"name": "lowered", "dialect": "prog", "assembly": PROGRAM},
    ]
    recording = from_dict({"id": "1", "function": "h", "steps": steps}, "memory")
    found = value(recording, 1, "1", "g")
    assert [each.name for each in found.life] == ["1", "1", "", "a"]


def test_an_output_may_be_called_as_an_input_is() -> None:
    same = EXPRESSION.replace("(%y: tensor<2xfloat64>)", "(%x: tensor<2xfloat64>)")
    program = PROGRAM.replace("[[@h", "[[@other")
    steps = [
        {"name": "expression", "dialect": "expr", "assembly": same},
        {"name": "lowered", "dialect": "prog", "assembly": program},
    ]
    found = value(from_dict({"id": "1", "function": "h", "steps": steps}, "memory"), 0, "4", "h")
    assert found.note == "h has no procedure of its own in the program. It is part of x."
    steps[1]["assembly"] = PROGRAM.replace("%y", "%x_2")
    found = value(from_dict({"id": "1", "function": "h", "steps": steps}, "memory"), 0, "6", "h")
    assert [each.name for each in found.life] == ["6", "x_2"]
