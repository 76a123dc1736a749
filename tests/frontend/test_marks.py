"""Owns what a mark covers, how long it lasts, and which label wins."""

from __future__ import annotations

import gc
from importlib.metadata import version
from typing import Any

import pytest
import scaly as sc
import scaly.viz
from scaly.codegen.aot import render_c_source

import scaly_viz
from programs.compat import arg, function


def _square() -> Any:
    @function(arg("x", 3), outputs=arg("y"), name="square")
    def square(x: sc.Expr) -> sc.Expr:
        return x * x

    return square


def _names() -> list[str]:
    return [recording["name"] for recording in scaly_viz.recordings()]


def test_a_mark_returns_the_function_and_names_the_recording_by_its_label() -> None:
    square = _square()

    assert scaly_viz.visualize(square, label="first try") is square
    render_c_source(square)

    (recording,) = scaly_viz.recordings()
    assert (recording["name"], recording["function"]) == ("first try", "square")


def test_an_unmarked_function_is_not_recorded() -> None:
    scaly_viz.visualize(_square())

    render_c_source(_square())

    assert _names() == []


def test_a_second_mark_replaces_the_label() -> None:
    square = scaly_viz.visualize(_square(), label="old")

    scaly_viz.visualize(square, label="new")
    render_c_source(square)
    scaly_viz.visualize(square)
    render_c_source(square)

    assert _names() == ["new", "square"]


def test_an_unmarked_again_function_is_not_recorded() -> None:
    square = scaly_viz.visualize(_square())

    scaly_viz.unvisualize_function(square)
    scaly_viz.unvisualize_function(square)
    render_c_source(square)

    assert _names() == []


def test_capture_records_inside_its_block_only() -> None:
    square = _square()

    with scaly_viz.capture(square, label="inside") as captured:
        render_c_source(captured)
    render_c_source(square)

    assert captured is square
    assert _names() == ["inside"]


def test_capture_ends_where_its_block_raises() -> None:
    square = _square()

    with pytest.raises(ZeroDivisionError), scaly_viz.capture(square):
        raise ZeroDivisionError
    render_c_source(square)

    assert _names() == []


def test_a_mark_does_not_keep_its_function_alive() -> None:
    from scaly_viz.frontend.session import SESSION

    square = scaly_viz.visualize(_square())
    marks = SESSION.armed()
    assert marks.count() == 1

    del square
    gc.collect()

    assert marks.count() == 0


def test_what_is_no_function_cannot_be_marked() -> None:
    with pytest.raises(TypeError, match=r"expected a scaly Function.*got function"):
        scaly_viz.visualize(lambda x: x)  # type: ignore[type-var]  # that is the point


@pytest.mark.skipif(
    version("scaly") == "0.1.0a1", reason="0.1.0a1 has no declarations with open shapes"
)
class TestDeclarations:
    """Since 0.1.0a2 a declaration may leave shapes open, and has an instance for each binding."""

    @staticmethod
    def _open() -> Any:
        @sc.function(sc.arg("x", None))
        def double(x: sc.Expr) -> sc.Expr:
            return x + x

        return double

    def test_a_declaration_marks_its_present_and_future_instances(self) -> None:
        double = self._open()
        present = double.instantiate((2,))
        scaly_viz.visualize(double, label="any shape")
        future = double.instantiate((3,))

        render_c_source(present)
        render_c_source(future)

        assert _names() == ["any shape", "any shape"]

    def test_the_mark_of_an_instance_takes_precedence(self) -> None:
        double = self._open()
        scaly_viz.visualize(double, label="any shape")
        scaly_viz.visualize(double.instantiate((2,)), label="pairs")

        render_c_source(double.instantiate((2,)))
        render_c_source(double.instantiate((3,)))

        assert _names() == ["pairs", "any shape"]

    def test_unmarking_an_instance_leaves_its_declaration_marked(self) -> None:
        double = self._open()
        scaly_viz.visualize(double)
        scaly_viz.visualize(double.instantiate((2,)), label="pairs")

        scaly_viz.unvisualize_function(double.instantiate((2,)))
        render_c_source(double.instantiate((2,)))

        assert _names() == [double.instantiate((2,)).name]

    def test_a_closed_declaration_and_its_instance_share_one_mark(self) -> None:
        square = _square()

        scaly_viz.visualize(square)
        scaly_viz.unvisualize_function(square.instantiate())
        render_c_source(square)

        assert _names() == []

    def test_marks_mean_what_they_mean_in_scaly_viz(self) -> None:
        scaly.viz.clear_recordings()
        double = self._open()
        for viz in (scaly_viz, scaly.viz):
            viz.visualize(double, label="any")
            viz.visualize(double.instantiate((4,)), label="four")
            viz.unvisualize_function(double.instantiate((5,)))

        for shape in (4, 5, 6):
            render_c_source(double.instantiate((shape,)))

        assert _names() == [recording["name"] for recording in scaly.viz.recordings()]
        scaly.viz.clear_recordings()


@pytest.mark.parametrize("label", [5, b"tuned", ["tuned"], object()])
def test_a_label_that_is_no_text_is_refused_at_the_mark(label: Any) -> None:
    square = _square()

    with pytest.raises(TypeError, match="expected a label of type str, or None, got "):
        scaly_viz.visualize(square, label=label)

    render_c_source(square)
    assert _names() == []
