"""Owns programs of scalar and elementwise arithmetic, constants and other dtypes than float64."""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np
import scaly as sc

from .compat import arg, call, function, results, scaly_api, since_a2
from .program import Program


def scalar_functions() -> Any:
    """Every unary and binary operation, on scalars."""

    @function(arg("x", ()), arg("y", ()), outputs=arg("z"))
    def scalar_functions(x: sc.Expr, y: sc.Expr) -> sc.Expr:
        angle = x.sin() + x.cos() * y.tan() - x.atan()
        inverse = x.tanh().asin() + y.tanh().acos() + sc.atan2(x, y)
        growth = x.sinh() / x.cosh() + (-x).exp() + (x * x + 1.0).log() + (y * y).sqrt()
        steps = x.floor() + y.ceil() - x.abs() + x.erf()
        return angle + inverse + growth + steps + (x.abs() + 1.0) ** y + 2.0**y - x**3

    return scalar_functions


def vectors() -> Any:
    """Broadcasting, reductions and several outputs."""

    @function(
        arg("column", (3, 1)),
        arg("row", 4),
        arg("gain", ()),
        outputs=results("table", "length", "inner", "total"),
    )
    def vectors(column: sc.Expr, row: sc.Expr, gain: sc.Expr) -> tuple[sc.Expr, ...]:
        table = gain * column + row / (1.0 + row * row)
        return table, sc.norm_2(table), sc.dot(row, row - 1.0), table.sum()

    return vectors


def saturation() -> Any:
    """The conditionals that scaly has: minimum, maximum, and what is built of them."""

    @function(arg("u", 6), arg("limit", ()), outputs=arg("applied"))
    def saturation(u: sc.Expr, limit: sc.Expr) -> sc.Expr:
        clipped = sc.minimum(sc.maximum(u, -limit), limit)
        dead_zone = sc.maximum(u - 0.1, 0.0) + sc.minimum(u + 0.1, 0.0)
        return clipped + dead_zone * (u.abs() / (u.abs() + 1e-9)).floor()

    return saturation


def constants() -> Any:
    """Constants short and long, of one value, signed zeros, infinities, not-a-numbers."""
    ramp = np.linspace(-1.0, 1.0, 40)
    odd = np.array([-0.0, 0.0, np.nan, np.inf, -np.inf, 5e-324, 1.7976931348623157e308, 1 / 3])

    @function(arg("x", 40), outputs=results("weighted", "odd", "one", "matrix", "pattern"))
    def constants(x: sc.Expr) -> tuple[sc.Expr, ...]:
        head = x[:8]
        return (
            x * ramp + np.e,
            head + sc.const(odd) * head.sin(),
            head[:1] * np.array([2.5]) - np.array(-1e-300),
            head.reshape((2, 4)) @ np.arange(12.0).reshape((4, 3)),
            x * np.tile([1.0, -2.0, 0.5, 4.0], 10) + np.full(40, 7.0),
        )

    return constants


def long_table() -> Any:
    """A table of 3,000 values, read by a gather and a product."""
    table = np.sin(np.arange(3000.0)) * np.arange(3000.0)

    @function(arg("x", 3000), outputs=results("picked", "moment"))
    def long_table(x: sc.Expr) -> tuple[sc.Expr, ...]:
        return (x * table).gather((np.arange(50) ** 2) % 3000), sc.dot(x, sc.const(table))

    return long_table


def signed_zero() -> Any:
    """Both zeros, the negative one met by a later pass: 0.1.0a1 then changes the steps before."""

    @function(arg("x", 2), outputs=arg("y"))
    def shifted(x: sc.Expr) -> sc.Expr:
        return x + np.array([-0.0, 3.0])

    @function(arg("x", 2), outputs=arg("y"))
    def signed_zero(x: sc.Expr) -> sc.Expr:
        shifted_x = call(shifted, x)
        return (shifted_x @ np.array([[1.0, 2.0], [3.0, 4.0]])) * shifted_x.sum()

    return signed_zero


def hints() -> Any:
    """The three lowering hints, on values and on a constant."""

    @function(arg("x", 3), outputs=arg("y"))
    def unrolled(x: sc.Expr) -> sc.Expr:
        return (x * x).scalar().sum() * x

    @function(arg("x", 3), outputs=arg("y"))
    def looped(x: sc.Expr) -> sc.Expr:
        return (x + 1.0).block().exp()

    @function(arg("x", 3), outputs=arg("y"))
    def opaque(x: sc.Expr) -> sc.Expr:
        return x * sc.const(np.array([1.0, 2.0, 3.0]), lowering="opaque")

    @function(arg("x", 3), outputs=arg("y"))
    def hints(x: sc.Expr) -> sc.Expr:
        parts = (call(callee, x) for callee in (unrolled, looped, opaque))
        return reduce(sc.Expr.__add__, parts)

    return hints


def cast(x: sc.Expr, dtype: str) -> sc.Expr:
    """Return ``x`` reversed, in another dtype: scaly has no cast, but a gather converts."""
    indices = np.arange(x.size)[::-1].reshape(x.shape)
    target = sc.TensorType(x.shape, sc.as_dtype(dtype), diff=False)
    return sc.Expr(sc.ExprOp.GATHER, (x,), target, attrs={"indices": indices})


def narrow_dtypes() -> Any:
    """Values, constants and arithmetic in int32, int64, float32 and bool between float64 leaves."""

    @function(arg("x", 5), outputs=results("counted", "rounded"))
    def narrow_dtypes(x: sc.Expr) -> tuple[sc.Expr, ...]:
        count = cast(x, "int32") * sc.const([1, -2, 3, -4, 5], dtype="int32")
        wide = cast(x, "int64") + sc.const(2**53 + 1, dtype="int64")
        single = cast(x, "float32").sin() / sc.const(3.0, dtype="float32")
        positive = cast(x, "bool")
        counted = cast(count, "float64") + cast(wide, "float64") * cast(positive, "float64")
        return counted, cast(single, "float64")

    return narrow_dtypes


def prints() -> Any:
    """Prints of scalars, vectors and nothing but text, in a caller and in its callee."""

    @function(arg("x", ()), outputs=arg("y"))
    def noisy(x: sc.Expr) -> sc.Expr:
        traced: sc.Expr = scaly_api.print('100 % "sure"\\ {{x}} = {}\tend', x.sin())
        return traced * 2.0

    @function(arg("x", ()), arg("v", 3), outputs=arg("y"))
    def prints(x: sc.Expr, v: sc.Expr) -> sc.Expr:
        scaled = call(noisy, x) * v
        empty: sc.Expr = scaly_api.print("empty {} <b>é\u2028 {}</b>", v[3:], x)
        matrix: sc.Expr = scaly_api.print("{}, {} and {}", scaled, x, sc.stack([v, v]))
        return matrix + empty.sum()

    return prints


PROGRAMS = (
    Program("scalar_functions", scalar_functions),
    Program("vectors", vectors),
    Program("saturation", saturation),
    Program("constants", constants),
    Program("long_table", long_table),
    Program("signed_zero", signed_zero),
    Program("hints", hints),
    Program("narrow_dtypes", narrow_dtypes),
    *since_a2(Program("prints", prints)),  # 0.1.0a1 has no print
)
