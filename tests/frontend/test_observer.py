"""Owns what is recorded: every way to render, from every thread, each render in its own trace."""

from __future__ import annotations

import os
import threading
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scaly as sc
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from scaly.codegen import aot, render_c_module, write_module
from scaly.codegen.aot import render_c_source

import scaly_viz
from programs.compat import arg, call, function, mapped
from scaly_viz import attributes as a
from scaly_viz.recording import Recording
from scaly_viz.sources import load


def _make(name: str = "sine", factor: float = 2.0) -> Any:
    @function(arg("x", 3), outputs=arg("y"), name=name)
    def sine(x: sc.Expr) -> sc.Expr:
        return x.sin() * factor

    return sine


def _load() -> list[Recording]:
    scaly_viz.recordings()
    return load(scaly_viz.recording_path())


def test_importing_arms_nothing_and_imports_no_heavy_part() -> None:
    import subprocess
    import sys

    code = (
        "import sys, scaly_viz; heavy = {'scaly', 'flask', 'opentelemetry', 'numpy', 'msgspec'};"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules);"
        "import scaly.codegen.aot as aot; assert not aot._RENDER_OBSERVERS"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(
    "render",
    [
        render_c_source,
        render_c_module,
        lambda f: write_module(f, Path(os.environ["SCALY_VIZ_DIR"])),
        lambda f: render_c_module(f, lang="cpp"),
        lambda f: render_c_source(f, casadi=True),
        lambda f: f(np.ones(3)),
        lambda f: f.compile(),
    ],
    ids=["source", "module", "write", "cpp", "casadi", "call", "compile"],
)
def test_every_way_to_render_is_recorded(render: Any) -> None:
    sine = scaly_viz.visualize(_make())

    render(sine)

    (recording,) = scaly_viz.recordings()
    assert recording["function"] == "sine"
    assert recording["steps"][0]["name"] == "expression"
    assert "sin(" in recording["steps"][-1]["code"]


@pytest.mark.parametrize("kind", ["jacobian", "gradient", "hessian", "vmap"])
def test_derived_functions_are_recorded(kind: str) -> None:
    @function(arg("x", 3), outputs=arg("y"), name="cost")
    def cost(x: sc.Expr) -> sc.Expr:
        return sc.sumsqr(x.sin())

    @function(arg("rows", (5, 3)), outputs=arg("costs"), name="costs")
    def costs(rows: sc.Expr) -> sc.Expr:
        return mapped(cost, 5, rows)

    first = version("scaly") == "0.1.0a1"
    arguments = ("y", "x") if first else ()
    derived = costs if kind == "vmap" else getattr(sc, kind)(cost, *arguments)
    render_c_source(scaly_viz.visualize(derived))

    (recording,) = scaly_viz.recordings()
    assert recording["function"] == derived.name


def test_a_function_rendered_again_is_recorded_again_in_a_trace_of_its_own() -> None:
    sine = scaly_viz.visualize(_make())

    for _ in range(3):
        render_c_source(sine)

    recordings = _load()
    assert len({recording.id for recording in recordings}) == 3
    assert len({recording.head.trace_id for recording in recordings}) == 3


def test_renders_from_several_threads_are_all_recorded_each_in_its_own_trace() -> None:
    functions = [scaly_viz.visualize(_make(f"f{i}", float(i + 1))) for i in range(8)]
    sources: dict[str, str] = {}
    start = threading.Barrier(len(functions))

    def render(f: Any) -> None:
        start.wait()
        sources[f.name] = render_c_source(f)

    threads = [threading.Thread(target=render, args=(f,)) for f in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    recordings = scaly_viz.recordings()
    assert {r["function"]: r["steps"][-1]["code"] for r in recordings} == sources
    assert len({r.head.trace_id for r in _load()}) == len(functions)


def test_marks_from_several_threads_all_count() -> None:
    functions = [_make(f"g{i}") for i in range(16)]
    start = threading.Barrier(4)

    def mark(some: list[Any]) -> None:
        start.wait()
        for f in some:
            scaly_viz.visualize(f)

    threads = [threading.Thread(target=mark, args=(functions[i::4],)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for f in functions:
        render_c_source(f)

    assert [r["function"] for r in scaly_viz.recordings()] == [f.name for f in functions]
    ours = [begin for begin in aot._RENDER_OBSERVERS if begin.__module__.startswith("scaly_viz.")]
    assert len(ours) == 1


def test_a_render_inside_a_render_is_recorded_in_a_trace_of_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    inner, outer = scaly_viz.visualize(_make("inner")), scaly_viz.visualize(_make("outer"))

    class Nesting:
        def __getattr__(self, name: str) -> Any:
            return lambda *args, **kwargs: None

        def add_program(self, name: str, root: Any) -> None:
            if name == "lowered":
                render_c_source(inner)

    def begin(fun: Any) -> Any:
        return Nesting() if fun.name == "outer" else None

    monkeypatch.setattr(aot, "_RENDER_OBSERVERS", [*aot._RENDER_OBSERVERS, begin])
    render_c_source(outer)

    recordings = _load()
    assert [r.function for r in recordings] == ["inner", "outer"]
    assert all(r.complete for r in recordings)
    assert recordings[0].head.trace_id != recordings[1].head.trace_id


def test_a_render_inside_a_span_of_the_caller_belongs_to_that_trace() -> None:
    sine = scaly_viz.visualize(_make())
    tracer = TracerProvider(shutdown_on_exit=False).get_tracer("application")

    with tracer.start_as_current_span("request") as request:
        render_c_source(sine)
        assert trace.get_current_span() is request

    (recording,) = _load()
    context = request.get_span_context()
    assert recording.head.trace_id == f"{context.trace_id:032x}"
    assert recording.head.parent_span_id == f"{context.span_id:016x}"


def test_the_root_says_where_the_render_was_asked_for() -> None:
    sine = scaly_viz.visualize(_make())

    render_c_source(sine)  # this line

    (recording,) = _load()
    attributes = recording.head.attributes
    assert attributes[a.FILE_PATH] == __file__
    line = Path(__file__).read_text().splitlines().index("    render_c_source(sine)  # this line")
    assert attributes[a.LINE_NUMBER] == line + 1
    assert "# this line" in str(attributes[a.STACKTRACE])
    assert "scaly/codegen" not in str(attributes[a.STACKTRACE])


def test_recordings_right_after_a_render_holds_it() -> None:
    functions = [scaly_viz.visualize(_make(f"h{i}", float(i))) for i in range(20)]

    for i, f in enumerate(functions):
        render_c_source(f)
        assert len(scaly_viz.recordings()) == i + 1


def test_clear_recordings_forgets_memory_and_on_request_the_file() -> None:
    sine = scaly_viz.visualize(_make())

    render_c_source(sine)
    scaly_viz.clear_recordings()
    assert scaly_viz.recordings() == []
    assert len(scaly_viz.load_recordings()) == 1

    scaly_viz.clear_recordings(disk=True)
    assert scaly_viz.load_recordings() == []
    assert not scaly_viz.recording_path().exists()


def test_recording_does_not_touch_the_random_state_of_the_user() -> None:
    import random

    sine = scaly_viz.visualize(_make())
    random.seed(7)
    expected = random.getstate()

    render_c_source(sine)
    scaly_viz.recordings()

    assert random.getstate() == expected


def test_limits_of_the_environment_lose_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SPAN_EVENT_COUNT_LIMIT", "ATTRIBUTE_VALUE_LENGTH_LIMIT", "ATTRIBUTE_COUNT_LIMIT"):
        monkeypatch.setenv(f"OTEL_{name}", "1")
    monkeypatch.setenv("OTEL_TRACES_SAMPLER", "always_off")
    scaly_viz.configure()
    sine = scaly_viz.visualize(_make())

    source = render_c_source(sine)

    (recording,) = scaly_viz.load_recordings(strict=True)
    assert recording["steps"][-1]["code"] == source
    assert len(recording["steps"][2]) == 6


def test_numpys_print_options_of_the_renders_thread_count() -> None:
    @function(arg("x", 3), outputs=arg("y"), name="constants")
    def constants(x: sc.Expr) -> sc.Expr:
        return x * np.array([1 / 3, 2 / 3, 1.0])

    scaly_viz.visualize(constants)
    with np.printoptions(precision=2):
        render_c_source(constants)

    (recording,) = scaly_viz.recordings()
    assert "[0.33, 0.67, 1.  ]" in recording["steps"][0]["assembly"]


def test_nested_functions_are_one_recording() -> None:
    inner = _make("inner")

    @function(arg("x", 3), outputs=arg("y"), name="outer")
    def outer(x: sc.Expr) -> sc.Expr:
        return call(inner, x) + call(inner, x * 2)

    scaly_viz.visualize(outer)
    render_c_source(outer)

    (recording,) = scaly_viz.recordings()
    assert [s["name"] for s in recording["steps"] if s["dialect"] == "expr"] == [
        "expression",
        "normalized:outer",
        "normalized:inner",
    ]
