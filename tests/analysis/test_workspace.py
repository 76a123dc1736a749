"""The map of memory: offsets, lives, reuse and peak of a small program, worked out by hand."""

from __future__ import annotations

from collections.abc import Mapping

from scaly_viz import attributes as a
from scaly_viz.analysis.workspace import Tenant, Workspace, WorkspaceBuffer, workspace
from scaly_viz.analysis.workspace_text import bytes_of, read_program
from scaly_viz.recording import Recording
from scaly_viz.scaly_viz_dict import from_dict

# f needs t0 in statements 0 to 1, t1 in 1 to 2, t2 in 2 to 3: t2 can have the place of t0.
UNPACKED = """\
prog.module {function_symbols=[[@f, "f"], [@g, "g"]]} {
  prog.proc @g(%x: memref<2000xfloat64>, %y: memref<1xfloat64>) {device=host, input_count=1} {
    %t0 = prog.buffer : memref<1500xfloat64, private>
    prog.for %i = 0 to 1500 step 1 {kind=global} {
      prog.store prog.load %x[%i], %t0[%i] : float64
    }
    prog.store prog.load %t0[0], %y[0] : float64
  }
  prog.proc @f(%x: memref<2000xfloat64>, %y: memref<1xfloat64>) {device=host, input_count=1} {
    %k0 = prog.buffer : memref<3xint32, constant> = dense<[1, 2, 3]>
    %t0 = prog.buffer : memref<40x50xfloat64, private>
    prog.for %i = 0 to 2000 step 1 {kind=global} {
      prog.store prog.load %x[%i], %t0[%i] : float64
    }
    %t1 = prog.buffer : memref<1024xfloat64, private>
    prog.for %j = 0 to 1024 step 1 {kind=global} {
      prog.store prog.load %t0[%j], %t1[%j] : float64
    }
    %t2 = prog.buffer : memref<1100xfloat64, private>
    %n = prog.buffer : memref<int64, private>
    prog.for %k = 0 to 1024 step 1 {kind=global} {
      prog.store prog.load %t1[%k], %t2[%k] : float64
      prog.store 1, %n[0] : int64
    }
    %t3 = prog.buffer : memref<10xfloat64, private> = prog.alias %t2 offset 5
    prog.call @g(%x, %t3) {n_in=1, n_out=1}
  }
}"""

PACKED = """\
prog.module {function_symbols=[[@f, "f"], [@g, "g"]]} {
  prog.proc @g(%x: memref<2000xfloat64>, %y: memref<1xfloat64>) {device=host, input_count=1, sz_w=1500, w_self=1500} {
    %s0 = prog.buffer : memref<1500xfloat64, private> = prog.workspace offset 0
    prog.for %i = 0 to 1500 step 1 {kind=global} {
      prog.store prog.load %x[%i], %s0[%i] : float64
    }
    prog.store prog.load %s0[0], %y[0] : float64
  }
  prog.proc @f(%x: memref<2000xfloat64>, %y: memref<1xfloat64>) {device=host, input_count=1, sz_w=4524, w_self=3024} {
    %k0 = prog.buffer : memref<3xint32, constant> = dense<[1, 2, 3]>
    %s0 = prog.buffer : memref<2000xfloat64, private> = prog.workspace offset 0
    prog.for %i = 0 to 2000 step 1 {kind=global} {
      prog.store prog.load %x[%i], %s0[%i] : float64
    }
    %s1 = prog.buffer : memref<1024xfloat64, private> = prog.workspace offset 2000
    prog.for %j = 0 to 1024 step 1 {kind=global} {
      prog.store prog.load %s0[%j], %s1[%j] : float64
    }
    %s2 = prog.buffer : memref<1xint64, private>
    prog.for %k = 0 to 1024 step 1 {kind=global} {
      prog.store prog.load %s1[%k], %s0[%k] : float64
      prog.store 1, %s2[0] : int64
    }
    %t3 = prog.buffer : memref<10xfloat64, private> = prog.alias %s0 offset 5
    prog.call @g(%x, %t3) {callee_needs_w=True, n_in=1, n_out=1, w_self=3024}
  }
}"""


def recorded(*texts: str) -> Recording:
    steps = [
        {"name": f"pass:{i}", "phase": "", "dialect": "prog", "assembly": text}
        for i, text in enumerate(texts)
    ]
    return from_dict({"id": "r", "function": "f", "steps": steps}, "test")


def map_of(*texts: str) -> Workspace:
    """The map of the last step."""
    recording = recorded(*texts)
    return workspace(recording, recording.steps[-1])


def buffers(found: Workspace, procedure: str) -> Mapping[str, WorkspaceBuffer]:
    (each,) = (each for each in found.procedures if each.name == procedure)
    return {buffer.name: buffer for buffer in each.buffers}


def test_before_packing_there_are_sizes_and_lives_but_no_offsets() -> None:
    found = map_of(UNPACKED)
    _, f = found.procedures

    assert not found.is_packed
    assert (found.workspace_bytes, found.packed_in, found.entries) == (None, None, ["f"])
    # 2,000 + 1,024 + 1,100 doubles and an int64 in f, 1,500 doubles in g.
    assert found.private_bytes == 8 * (2_000 + 1_024 + 1_100 + 1) + 8 * 1_500
    lives = {each.name: (each.place, each.first, each.last) for each in f.buffers}
    assert lives == {
        "t0": ("unpacked", 0, 1),
        "t1": ("unpacked", 1, 2),
        "t2": ("unpacked", 2, 3),
        "n": ("unpacked", 2, 2),
        "t3": ("unpacked", 3, 3),
    }
    assert {each.offset for each in f.buffers} == {None}
    # t0 and t1 at statement 1.
    assert (f.peak_bytes, f.peak_statement, f.waste_bytes) == (8 * 3_024, 1, None)


def test_packed_buffers_have_offsets_and_say_who_shares_them() -> None:
    found = map_of(UNPACKED, PACKED)
    shown = buffers(found, "f")

    assert (found.is_packed, found.packed_in) == (True, 1)
    assert (shown["s0"].offset, shown["s0"].bytes, shown["s0"].type) == (0, 16_000, "float64 2000")
    assert (shown["s1"].offset, shown["s1"].bytes) == (16_000, 8_192)
    assert shown["s0"].tenants == [Tenant("t0", 16_000, 0, 1), Tenant("t2", 8_800, 2, 3)]
    assert shown["s0"].shares == ["t0", "t2", "t3"]
    assert shown["s1"].tenants == [Tenant("t1", 8_192, 1, 2)]
    assert shown["s1"].shares == []
    assert (shown["s2"].place, shown["s2"].offset, shown["s2"].bytes) == ("private", None, 8)


def test_an_alias_lies_in_its_owner_and_keeps_it_alive() -> None:
    shown = buffers(map_of(UNPACKED, PACKED), "f")

    assert (shown["t3"].alias_of, shown["t3"].alias_offset) == ("s0", 40)
    assert (shown["t3"].offset, shown["t3"].bytes, shown["t3"].first) == (40, 80, 3)
    assert (shown["s0"].first, shown["s0"].last) == (0, 3)


def test_a_callee_gets_the_window_behind_the_callers_own() -> None:
    found = map_of(UNPACKED, PACKED)
    g, f = found.procedures
    (call,) = f.calls

    assert (call.callee, call.statement, call.offset, call.bytes) == ("g", 3, 8 * 3_024, 12_000)
    assert (f.window_bytes, f.own_bytes, f.bases) == (36_192, 24_192, [0])
    assert (g.window_bytes, g.bases) == (12_000, [24_192])


def test_peak_and_waste_count_what_is_alive() -> None:
    _, f = map_of(UNPACKED, PACKED).procedures

    # Statement 1 has t0 and t1: 24,192 bytes; statement 3 has t2 and the callee: 8,800 + 12,000.
    assert (f.peak_bytes, f.peak_statement) == (24_192, 1)
    assert f.live == [16_000, 24_192, 16_992, 20_800]
    assert f.waste_bytes == 36_192 - 24_192


def test_the_totals_are_those_of_the_entry_and_of_all_procedures() -> None:
    found = map_of(UNPACKED, PACKED)

    assert (found.workspace_bytes, found.private_bytes) == (8 * 4_524, 8)


def test_a_figure_that_does_not_agree_is_told() -> None:
    recording = recorded(PACKED)
    figures = {a.WORKSPACE_BYTES: 36_192, a.PRIVATE_BYTES: 16}
    recording.steps[0].attributes = {**recording.steps[0].attributes, **figures}

    assert workspace(recording, recording.steps[0]).problems == [
        "the assembly gives 8 private bytes, the compiler's program had 16"
    ]


def test_without_the_step_before_packing_slots_have_no_tenants() -> None:
    shown = buffers(map_of(PACKED), "f")

    assert (shown["s0"].tenants, shown["s0"].shares) == ([], ["t3"])


def test_statements_that_a_later_pass_merged_keep_the_tenants_in_order() -> None:
    merged = PACKED.replace(
        "    prog.store prog.load %s0[0], %y[0] : float64\n",
        "    prog.store prog.load %s0[0], %y[0] : float64\n    prog.store 1, %y[1] : float64\n",
    ).replace(
        "    prog.for %j = 0 to 1024 step 1 {kind=global} {\n",
        "    prog.store 5, %y[0] : float64\n    prog.for %j = 0 to 1024 step 1 {kind=global} {\n",
    )
    shown = buffers(map_of(UNPACKED, PACKED, merged), "f")

    assert shown["s0"].tenants == [Tenant("t0", 16_000, 0, 2), Tenant("t2", 8_800, 3, 4)]


def test_a_solver_needs_what_the_greediest_of_its_oracles_needs() -> None:
    head = (
        "prog.module {solver_external_workspace={s=100}, "
        'solver_oracles={s=["f", "g", "elsewhere"]}, solver_root="s"} {'
    )
    text = "\n".join([head, *PACKED.split("\n")[1:]])
    found = map_of(text)

    assert found.entries == ["f", "g"]
    assert found.workspace_bytes == 8 * 4_524
    assert {each.name: each.bases for each in found.procedures} == {"f": [0], "g": [0, 24_192]}


def test_calls_that_close_a_circle_end() -> None:
    text = PACKED.replace("prog.store prog.load %s0[0], %y[0] : float64", "prog.call @f(%x, %y)")
    found = map_of(text)

    assert len(found.procedures[0].bases) == 16


def test_an_alias_of_an_alias_and_one_of_itself_are_no_trouble() -> None:
    text = PACKED.replace(
        "    prog.call @g",
        "    %t4 = prog.buffer : memref<2xfloat64, private> = prog.alias %t3 offset 1\n"
        "    %t5 = prog.buffer : memref<2xfloat64, private> = prog.alias %t5 offset 1\n"
        "    prog.call @g",
    )
    shown = buffers(map_of(text), "f")

    assert (shown["t4"].alias_of, shown["t4"].offset) == ("s0", 48)
    assert "t5" not in shown


def test_text_that_is_no_program_has_no_memory() -> None:
    for text in ("", "\n", "prog.proc @", "expr.module {\n}", "prog.proc @f(" + ") {" * 50_000):
        found = map_of(text)
        assert (found.private_bytes, found.workspace_bytes) == (0, None)


def test_elements_have_the_size_of_their_type() -> None:
    sizes = {"float64": 8, "float32": 4, "int64": 8, "int32": 4, "uint8": 1, "bool": 1}
    assert {name: bytes_of(name) for name in sizes} == sizes
    assert read_program(UNPACKED).procedures[1].declarations["n"].bytes == 8
