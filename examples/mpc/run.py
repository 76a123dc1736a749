# /// script
# requires-python = ">=3.12"
# dependencies = ["scaly-viz[scaly]", "scaly[sqp]"]
# [tool.uv.sources]
# scaly-viz = { path = "../.." }
# ///
"""A drone holds its place in wind: from the model to a controller in C, which then flies it.

The controller plans one second ahead. The model of it has a bug that the viewer finds: README.md.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import scaly as sc
from scaly.codegen import write_module

import scaly_viz

HERE = Path(__file__).parent
OUT = HERE / "out"

STAGES = 5
DURATION_S = 0.2  # of a stage
DRAG = 0.25  # 1/m: acceleration by the air, per square of the speed through it
THRUST = 6.0  # m/s^2, along each axis

type Plan = tuple[sc.Expr, sc.Expr]

CALM = sc.const([0.0, 0.0])


def motion(x: sc.Expr, u: sc.Expr, wind: sc.Expr = CALM) -> sc.Expr:
    """Return the time derivative of position and velocity, each in two axes, under the thrust u."""
    velocity = x[2:]
    air = wind - velocity
    return sc.concat([velocity, u + DRAG * (sc.sumsqr(air) + 1e-4).sqrt() * air])


def later(x: sc.Expr, u: sc.Expr, wind: sc.Expr = CALM) -> sc.Expr:
    """Return the state a stage later, by the explicit midpoint rule."""
    middle = x + DURATION_S / 2 * motion(x, u, wind)
    return x + DURATION_S * motion(middle, u, wind)


@sc.function(sc.arg("x", 4), sc.arg("u", 2), sc.arg("xnext", 4), sc.arg("wind", 2))
def gap(x: sc.Expr, u: sc.Expr, xnext: sc.Expr, wind: sc.Expr) -> sc.Expr:
    """By how much a stage misses the next one."""
    return later(x, u) - xnext


@sc.problem(
    vars=sc.group(sc.arg("x", (STAGES + 1, 4)), sc.arg("u", (STAGES, 2))),
    params=sc.group(sc.arg("x0", 4), sc.arg("target", 2), sc.arg("wind", 2)),
)
def hold(plan: Plan, params: tuple[sc.Expr, sc.Expr, sc.Expr]) -> sc.ProblemSpec[Plan]:
    """Fly to the target and stay there, in the wind that was measured."""
    (x, u), (x0, target, wind) = plan, params
    gaps = sc.vmap(gap, STAGES)(x[:-1], u, x[1:], sc.broadcast(wind))
    return sc.ProblemSpec(
        minimize=sc.sumsqr(x[:, :2] - target) + 0.1 * sc.sumsqr(x[:, 2:]) + 0.001 * sc.sumsqr(u),
        eq=(x[0] - x0, gaps.vec()),
        lb=(sc.NO_LB, sc.const(-THRUST)),
        ub=(sc.NO_UB, sc.const(THRUST)),
    )


def main() -> None:
    """Write the controller as C, which is recorded; compile it with the plant of flight.c, and fly."""
    solver = sc.solver(hold, "sqp")
    scaly_viz.visualize(solver)
    module = write_module(solver, OUT)
    print(f"{module.source_name}: {len(module.source):,} bytes of C", flush=True)

    flight = OUT / "flight"
    sources = [HERE / "flight.c", OUT / module.source_name]
    how = ["-O2", f"-I{OUT}", *module.link_flags, "-lm"]
    subprocess.run([os.environ.get("CC", "cc"), *sources, *how, "-o", flight], check=True)
    subprocess.run([flight], check=True)

    scaly_viz.flush()
    print(f"recorded in {scaly_viz.recording_path()}")


if __name__ == "__main__":
    main()
