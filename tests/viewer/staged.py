"""Owns recordings of every state that a page can be in, beside those that went well: hostile, damaged, running."""

from __future__ import annotations

from pathlib import Path

from scaly_viz import graph_table
from scaly_viz.codec import GRAPH_DELTA, Payload
from scaly_viz.graph_table import GraphDelta, Kind
from scaly_viz.spans import Failure

from .recorded import Content, Recorder

RTL = "\u202e"
PROGRAM = """\
prog.module {
  prog.proc @f(%x: memref<3xfloat64>, %f_2: memref<3xfloat64>) {input_count=1} {
    %t0 = prog.buffer : memref<3xfloat64, private>
    prog.for %i_t0 = 0 to 3 step 1 {kind=global} {
      prog.store prog.sin(prog.load %x[%i_t0]), %t0[%i_t0] : float64
    }
    prog.for %i_f_2 = 0 to 3 step 1 {kind=global} {
      prog.store prog.mul(prog.load %t0[%i_f_2], prog.load %t0[%i_f_2]), %f_2[%i_f_2] : float64
    }
  }
}"""
LISTING = """\
program
  proc f(x:float64(3,), f_2:float64(3,)):
    buffer
    for i_t0 in [0, 3) step 1 kind=global:
      t0[i_t0] <- sin(x[i_t0])
    for i_f_2 in [0, 3) step 1 kind=global:
      f_2[i_f_2] <- (t0[i_f_2] * t0[i_f_2])"""
HOSTILE = f"<img src=x onerror=alert(1)> {RTL}gnirts {'label ' * 40}"
LONG = "x" * 100_000


def chain(length: int, title: str = "SIN", detail: str = "float64") -> Payload:
    """A function whose operations hang on each other in a row."""
    kinds = [
        Kind("INPUT", f"{detail}\nx", "#fff", {}),
        Kind(title, detail, "#fff", {"note": title}),
    ]
    delta = GraphDelta(
        prefix="e",
        roots=[length - 1],
        first=0,
        first_kind=0,
        kinds=kinds,
        rows=[0] + [1] * (length - 1),
        arity=[0] + [1] * (length - 1),
        args=[1] * (length - 1),
    )
    return Payload("graph", graph_table.encode(delta), GRAPH_DELTA)


def stage(path: Path) -> dict[str, str]:
    """Write the recordings to ``path``, and return their ids by what they are."""
    texts = ["".join(f"{i}: {n}\n" for i in range(2_000)) for n in range(2)]
    damaged = Recorder(path).record("damaged", steps=[{"listing": text} for text in texts])
    # Its first step is lost, on which the second one builds.
    _, *rest = path.read_text().splitlines(keepends=True)
    path.write_text("".join(rest))
    recorder = Recorder(path)
    step: dict[str, Content] = {"assembly": PROGRAM, "listing": LISTING, "graph": chain(30)}
    fine = recorder.record("fine", label="fine", steps=[step])
    hostile = recorder.record(
        f"<script>alert(2)</script>{RTL}",
        label=HOSTILE,
        steps=[
            {"listing": f"for i in 0..3\n  {LONG}\n</script><b>bold</b>\n{RTL}abc def\n"},
            {"listing": f"for i in 0..3\n  {LONG}y\n</script><i>italic</i>\nabc {RTL}def\n"},
        ],
    )
    message = f"no way down at %t0 {HOSTILE}"
    failed = recorder.record(
        "failed", steps=[{"assembly": PROGRAM}], failure=Failure("LoweringError", message)
    )
    running = recorder.begin("running", label="running")
    running.add({"assembly": PROGRAM})
    running.add({"assembly": PROGRAM.replace("sin", "cos")})
    return {
        "fine": fine,
        "hostile": hostile,
        "failed": failed,
        "damaged": damaged,
        "running": running.id,
    }
