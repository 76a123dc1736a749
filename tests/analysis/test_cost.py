"""The static cost of a text: each line by hand, and in all what the recording itself counted."""

from __future__ import annotations

from importlib.metadata import version

import pytest

from programs import PROGRAMS, Program
from scaly_viz import attributes as a
from scaly_viz.analysis.c_model import CText
from scaly_viz.analysis.cost import LineCost, LoopCost, TextCost, Totals, cost_of
from scaly_viz.analysis.diff import lines_of
from scaly_viz.analysis.text_listing import listing_lines, listing_model
from scaly_viz.analysis.text_prog import ProgramText

from .recorded import records

ASSEMBLY = """\
prog.module {function_symbols=[[@f, "f"], [@g, "g"]]} {
  prog.proc @g(%x: memref<3xfloat64>, %y: memref<3xfloat32>) {device=host, input_count=1} {
    %k0 = prog.buffer : memref<3xint64, constant> = dense<[2, 0, 1]>
    prog.for %i = 0 to 3 step 1 {kind=global} {
      prog.store prog.mul(2, prog.load %x[prog.load %k0[%i]]), %y[%i] : float32
    }
  }
  prog.proc @f(%x: memref<9xfloat64>, %y: memref<3xfloat32>) {device=host, input_count=1, sz_w=4} {
    %v0 = prog.assign prog.add(prog.load %x[0], prog.sin(prog.load %x[1])) : float64 {declare=True}
    prog.for %j = 0 to 2 step 1 {kind=global} {
      prog.call @g(%x[prog.mul(3, %j)], %y) {n_in=1, n_out=1}
      prog.for %k = %j to 3 step 1 {kind=serial} {
        prog.store_pair %v0, prog.neg(%v0), %y[%k] : float32
      }
    }
  }
}"""

LISTING = """\
program
  proc g(x:float64(3,), y:float32(3,)):
    buffer
    for i in [0, 3) step 1 kind=global:
      y[i] <- (2 * x[k0[i]])
  proc f(x:float64(9,), y:float32(3,)):
    float64 v0 = (x[0] + sin(x[1]))
    for j in [0, 2) step 1 kind=global:
      call g(x[(3 * j)], <buffer>)
      for k in [j, 3) step 1 kind=serial:
        y[k] <- pair(v0, (-v0))"""


@pytest.fixture(scope="module")
def cost() -> TextCost:
    return cost_of(ProgramText(ASSEMBLY.split("\n")).model())


def test_a_line_costs_what_its_statement_does_times_the_passes_of_its_loop(cost: TextCost) -> None:
    by_line = {each.line: each for each in cost.lines}
    # A product of two loads, one of them an index of 8 bytes; 8 + 8 + 4 bytes, 3 times.
    assert by_line[5] == LineCost(5, 1, 2, 1, 20, 3, Totals(3, 6, 3, 60))
    assert by_line[9] == LineCost(9, 2, 2, 0, 16, 1, Totals(2, 2, 0, 16))


def test_a_call_costs_what_its_callee_does(cost: TextCost) -> None:
    call = next(each for each in cost.lines if each.line == 11)
    assert call == LineCost(11, 3, 6, 3, 60, 2, Totals(6, 12, 6, 120))


def test_a_loop_whose_bounds_vary_is_counted_value_by_value(cost: TextCost) -> None:
    pair = next(each for each in cost.lines if each.line == 13)
    # From 0 and from 1 to 3: five times one negation, two elements of four bytes.
    assert pair == LineCost(13, 1, 0, 2, 8, 5, Totals(5, 0, 10, 40))
    assert cost.loops == [
        LoopCost(4, 6, "i", 3, Totals(3, 6, 3, 60)),
        LoopCost(10, 15, "j", 2, Totals(11, 12, 16, 160)),
        LoopCost(12, 14, "k", None, Totals(5, 0, 10, 40)),
    ]


def test_procedures_say_how_often_they_run_and_the_program_what_it_does(cost: TextCost) -> None:
    assert [(each.name, each.line, each.end, each.runs) for each in cost.procedures] == [
        ("g", 2, 7, 2),
        ("f", 8, 16, 1),
    ]
    assert cost.totals == Totals(13, 14, 16, 176)
    assert cost.uncounted == []


def test_a_listing_costs_what_its_assembly_does(cost: TextCost) -> None:
    model = listing_model(LISTING.split("\n"), ProgramText(ASSEMBLY.split("\n")).model())
    assert model is not None
    listed = cost_of(model)
    assert [(each.line, each.total) for each in listed.lines] == [
        (line, each.total) for line, each in zip((5, 7, 9, 11), cost.lines, strict=True)
    ]
    assert [(each.line, each.end) for each in listed.loops] == [(4, 5), (8, 11), (10, 11)]
    assert listed.totals == cost.totals


def test_a_listing_that_does_not_fit_has_no_cost() -> None:
    assert listing_model(["program"], ProgramText(ASSEMBLY.split("\n")).model()) is None


def test_a_loop_over_vector_lanes_counts_its_elements_once() -> None:
    text = """\
  prog.proc @f(%x: memref<10xfloat64>, %y: memref<10xfloat64>) {input_count=1} {
    prog.for %c = 0 to prog.div(prog.add(10, prog.sub(%SCALY_WIDTH, 1)), %SCALY_WIDTH) step 1 {kind=serial} {
      prog.for %l = 0 to prog.minimum(%SCALY_WIDTH, prog.sub(10, prog.mul(%c, %SCALY_WIDTH))) step 1 {kind=vector} {
        prog.store prog.load %x[%l], %y[%l] : float64
      }
    }
  }"""
    cost = cost_of(ProgramText(text.split("\n")).model())
    assert cost.totals == Totals(0, 10, 10, 160)
    assert [(loop.name, loop.trips, loop.per_element) for loop in cost.loops] == [
        ("c", None, False),
        ("l", 10, True),
    ]


def test_a_loop_that_only_a_run_can_count_is_named() -> None:
    text = """\
  prog.proc @f(%n: memref<1xint64>, %y: memref<10xfloat64>) {input_count=1} {
    prog.for %i = 0 to prog.load %n[0] step 1 {kind=serial} {
      prog.store 1, %y[%i] : float64
    }
  }"""
    cost = cost_of(ProgramText(text.split("\n")).model())
    store = next(each for each in cost.lines if each.line == 3)
    assert (store.stores, store.trips, store.total) == (1, None, None)
    assert cost.totals == Totals(0, 1, 0, 8)
    assert cost.uncounted == ["loop i in proc f: its stop is loaded from data (buffer n)"]


def test_procedures_that_call_each_other_are_counted_once() -> None:
    text = """\
  prog.proc @f() {input_count=0} {
    prog.call @g() {n_in=0, n_out=0}
  }
  prog.proc @g() {input_count=0} {
    prog.call @f() {n_in=0, n_out=0}
  }"""
    cost = cost_of(ProgramText(text.split("\n")).model())
    assert cost.totals == Totals(0, 0, 0, 0)
    assert [line for line in cost.uncounted if "recursive" in line]


def test_a_deep_expression_is_read() -> None:
    deep = "prog.sin(" * 20_000 + "%x" + ")" * 20_000
    text = f"prog.proc @f(%y: memref<1xfloat64>) {{\n%v0 = prog.assign {deep} : float64\n}}"
    assert cost_of(ProgramText(text.split("\n")).model()).totals.flops == 20_000


@pytest.mark.parametrize(
    "text",
    [
        "",
        "}",
        "prog.proc @",
        "prog.for %i = 0",
        "prog.store ], : x",
        "prog.proc @f() {\nprog.for %i = 0\nprog.store %x : float64",
        "  prog.proc @f() {\n}}\n)]",
    ],
)
def test_garbage_costs_nothing(text: str) -> None:
    assert cost_of(ProgramText(text.split("\n")).model()).totals == Totals(0, 0, 0, 0)


# The text of the program loses conversions between types, which C has.
_OTHER_IN_C = ("narrow_dtypes",)
# Names with spaces and brackets, which scaly 0.1.0a1 prints as they were given.
_UNREADABLE = ("odd_names", "unpaired_surrogate") if version("scaly") == "0.1.0a1" else ()

C = """\
static inline void g_raw(const double* x, double* y, double* w) {
  for (long long i = 0; i < 3; ++i) {
    y[i] = (2.0 * x[(i + 1)]);
  }
  *(double2*)(y + 4) = (double2){-1.0, sin(x[0])};
}
static inline __attribute__((always_inline)) void f_lanes_1(long long c, long long n, double* y, const double* x) {
  lanes_vec l;
  if (n == SCALY_WIDTH) l = *(const lanes_vec_mem*)(&x[(c * SCALY_WIDTH)]);
  else for (long long k = 0; k < SCALY_WIDTH; ++k) l[k] = x[((c * SCALY_WIDTH) + k)];
  lanes_vec_st(&y[(c * SCALY_WIDTH)], (l + l), n);
}
int f(const double** arg, double** res, int* iw, double* w, int mem) {
  (void)iw;
  const double* t0 = arg[0] + 1;
  g_raw(t0, res[0], NULL);
  for (long long c = 0; c < 10 / SCALY_WIDTH; ++c) {
    f_lanes_1(c, SCALY_WIDTH, res[1], arg[0]);
  }
#if (10 % SCALY_WIDTH) != 0
  f_lanes_1(10 / SCALY_WIDTH, 10 % SCALY_WIDTH, res[1], arg[0]);
#endif
  return 0;
}"""


def test_the_c_is_counted_by_the_same_conventions() -> None:
    cost = cost_of(CText(C.split("\n")).model())
    by_line = {each.line: each for each in cost.lines}
    assert by_line[3] == LineCost(3, 1, 1, 1, 16, 3, Totals(3, 3, 3, 48))
    assert by_line[5] == LineCost(5, 1, 1, 2, 24, 1, Totals(1, 1, 2, 24))
    # Ten elements in lanes, each loaded, added and stored; the remainder is among them.
    assert by_line[18] == LineCost(18, 1, 1, 1, 16, 10, Totals(10, 10, 10, 160))
    # Called once per chunk of lanes, whose number only the C compiler knows.
    assert [(each.name, each.runs, each.per_element) for each in cost.procedures] == [
        ("g_raw", 1, False),
        ("f_lanes_1", 10, True),
        ("f", 1, False),
    ]
    assert [(loop.line, loop.trips, loop.per_element) for loop in cost.loops] == [
        (2, 3, False),
        (17, 10, True),
    ]
    assert cost.totals == Totals(14, 14, 15, 232)
    assert all(reason.startswith("C: ") for reason in cost.uncounted)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_the_text_costs_what_the_recording_counted(program: Program) -> None:
    seen: set[str] = set()
    totals = Totals(0, 0, 0, 0)
    for recording in records(program.name):
        for step in recording.steps:
            payload = step.payloads.get("assembly")
            if "code" in step.payloads and program.name not in (*_OTHER_IN_C, *_UNREADABLE):
                code = CText(lines_of(recording.text(step, "code"))).model()
                assert cost_of(code).totals == totals
            if step.dialect != "prog" or payload is None or payload.digest in seen:
                continue
            seen.add(payload.digest)
            lines = lines_of(recording.text(step, "assembly"))
            model = ProgramText(lines).model()
            totals = cost_of(model).totals
            # Fusing loses conversions between types, of which the text then says nothing.
            told = not any("several types" in reason for reason in model.uncounted)
            assert told or program.name == "narrow_dtypes"
            unread = any("cannot be read" in reason for reason in model.uncounted)
            assert unread == (program.name in _UNREADABLE)
            if unread:
                continue
            assert totals.flops == step.figure(a.FLOPS) or not told
            assert totals.loads == step.figure(a.LOADS)
            assert totals.stores == step.figure(a.STORES)
            assert totals.bytes == step.figure(a.TRAFFIC)
            assert listing_lines(lines, lines_of(recording.text(step, "listing"))) is not None
