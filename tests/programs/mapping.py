"""Owns programs with mapped calls: windows, broadcasts, nested maps and what passes make of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import scaly as sc

from .compat import arg, broadcast, call, function, mapped, mapped_tree, results, window
from .program import Program


def pendulum_step() -> Any:
    """Return one semi-implicit step of a pendulum, a callee for the programs below."""

    @function(arg("x", 2), arg("u", ()), outputs=arg("xnext"))
    def pendulum_step(x: sc.Expr, u: sc.Expr) -> sc.Expr:
        spin = x[1] + 0.05 * (u - 9.81 * x[0].sin() - 0.1 * x[1])
        return sc.stack([x[0] + 0.05 * spin, spin])

    return pendulum_step


def windows() -> Any:
    """Overlapping windows of one trajectory, as scaly users write multiple shooting."""
    step = pendulum_step()

    @function(arg("x", 18), arg("u", 8), outputs=results("gaps", "worst"))
    def windows(x: sc.Expr, u: sc.Expr) -> tuple[sc.Expr, ...]:
        ends = mapped(step, 8, window(x, 0, 2), u)
        gaps = ends.vec() - x[2:]
        return gaps, sc.concat([gaps[:1], gaps[3:5] * 2.0, sc.const([1.0])])

    return windows


def assembly() -> Any:
    """Results of maps assembled by elementwise operations alone, fused into the maps' loops."""
    step = pendulum_step()

    @function(arg("x", 18), arg("u", 8), outputs=results("gaps", "weighted"))
    def assembly(x: sc.Expr, u: sc.Expr) -> tuple[sc.Expr, ...]:
        gaps = mapped(step, 8, window(x, 0, 2), u).vec() - x[2:]
        return gaps, gaps * np.tile([1.0, 10.0], 8)

    return assembly


def broadcasts() -> Any:
    """A mapped call whose parameters repeat, so that what depends on them alone is hoisted."""

    @function(arg("x", 3), arg("frame", (3, 3)), arg("angle", ()), outputs=results("y", "size"))
    def rotated(x: sc.Expr, frame: sc.Expr, angle: sc.Expr) -> tuple[sc.Expr, ...]:
        scaled = (frame * angle.cos()).block()
        y = (scaled @ scaled) @ x
        return y, sc.norm_2(y)

    @function(
        arg("points", (7, 3)), arg("frame", (3, 3)), arg("angle", ()), outputs=results("y", "size")
    )
    def broadcasts(points: sc.Expr, frame: sc.Expr, angle: sc.Expr) -> tuple[sc.Expr, ...]:
        moved, sizes = mapped_tree(rotated, 7, points, broadcast(frame), broadcast(angle))
        return moved, sizes.sum() * moved[0]

    return broadcasts


def nested_maps() -> Any:
    """A map inside a mapped function, each with windows of its own."""

    @function(arg("x", 2), arg("gain", ()), outputs=arg("y"))
    def inner(x: sc.Expr, gain: sc.Expr) -> sc.Expr:
        return (gain * x[0] - x[1]).tanh()

    @function(arg("row", 5), arg("gain", ()), outputs=arg("y"))
    def outer(row: sc.Expr, gain: sc.Expr) -> sc.Expr:
        return mapped(inner, 4, window(row, 0, 1), broadcast(gain)) * 0.5

    @function(arg("table", (6, 5)), arg("gains", 6), outputs=arg("y"))
    def nested_maps(table: sc.Expr, gains: sc.Expr) -> sc.Expr:
        return mapped(outer, 6, table, gains).T @ gains

    return nested_maps


def masks() -> Any:
    """Products with tables of zeros and ones, which a pass packs into bits."""
    selected = (np.add.outer(3 * np.arange(4), np.arange(11)) % 3 == 0).astype(float)

    @function(arg("x", 11), arg("y", 16), outputs=results("masked", "both"))
    def masks(x: sc.Expr, y: sc.Expr) -> tuple[sc.Expr, ...]:
        return sc.const(selected) * x.exp(), sc.const(np.eye(16)[:3]) * y - np.ones((3, 16)) * 2.0

    return masks


def softmaxes() -> Any:
    """A map whose callee stays a loop, so that vector lanes need storage of their own."""

    @function(arg("x", 4), outputs=arg("p"))
    def softmax(x: sc.Expr) -> sc.Expr:
        e = x.exp().block()
        return e / e.sum()

    @function(arg("table", (16, 4)), outputs=arg("rows"))
    def softmaxes(table: sc.Expr) -> sc.Expr:
        return mapped(softmax, 16, table)

    return softmaxes


def loops() -> Any:
    """Maps of length nought and one, and a mapped call of two results of which one is used."""
    step = pendulum_step()

    @function(arg("x", ()), outputs=results("up", "down"))
    def rounding(x: sc.Expr) -> tuple[sc.Expr, ...]:
        return x.ceil(), x.floor() * 2.0

    @function(arg("x", (1, 2)), arg("u", 4), outputs=results("once", "never", "down"))
    def loops(x: sc.Expr, u: sc.Expr) -> tuple[sc.Expr, ...]:
        _, down = mapped_tree(rounding, 4, u)
        return (
            mapped(step, 1, x, u[:1]),
            mapped(step, 0, x[:0], u[:0]),
            down + call(step, x[0], u[3])[0],
        )

    return loops


PROGRAMS = (
    Program("windows", windows),
    Program("assembly", assembly),
    Program("broadcasts", broadcasts),
    Program("nested_maps", nested_maps),
    Program("masks", masks),
    Program("softmaxes", softmaxes),
    Program("loops", loops),
)
