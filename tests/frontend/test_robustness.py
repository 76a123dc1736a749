"""Owns the promise that a compile is never broken, changed or blocked, whatever fails on our side."""

from __future__ import annotations

import errno
import logging
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scaly as sc
from scaly.codegen.aot import render_c_source
from scaly.passes import program as passes

import scaly_viz
from logged import warnings_of
from programs import chain
from programs.compat import arg, function
from scaly_viz import attributes as a
from scaly_viz.sources import load


def _make() -> Any:
    @function(arg("x", 3), outputs=arg("y"), name="sine")
    def sine(x: sc.Expr) -> sc.Expr:
        return x.sin() * x

    return sine


@pytest.fixture
def lenient(monkeypatch: pytest.MonkeyPatch) -> None:
    """As users have it: our errors are logged, not raised."""
    monkeypatch.setenv("SCALY_VIZ_STRICT", "0")
    scaly_viz.configure()
    from scaly_viz.frontend.session import SESSION

    SESSION.guard.forget_told()


_INTERNAL_STEPS = [
    "scaly_viz.frontend.marks.Marks.label_of",
    "scaly_viz.frontend.observer.Observer._begin",
    "scaly_viz.settings.fingerprint",
    "scaly_viz.frontend.recorder.Recorder.__init__",
    "scaly_viz.frontend.recorder.Recorder.add",
    "scaly_viz.frontend.recorder.Recorder.resume",
    "scaly_viz.frontend.recorder.Recorder.finish",
    "scaly_viz.frontend.recorder.Recorder.encode",
    "scaly_viz.frontend.recorder.Recorder._open",
    "scaly_viz.frontend.recorder.Recorder._close",
    "scaly_viz.frontend.worker.Worker.watch",
    "scaly_viz.frontend.worker.Worker.finished",
    "scaly_viz.frontend.worker.Worker._turn",
    "scaly_viz.frontend.memory.MemoryBudget.exhausted",
    "scaly_viz.frontend.payloads.StepTaker.take",
    "scaly_viz.frontend.payloads._pass_location",
    "scaly_viz.frontend.graph.GraphTaker.take_program",
    "scaly_viz.frontend.program_text.ProgramPrinter.render",
    "scaly_viz.frontend.expr_text.ExpressionPrinter.render",
    "scaly_viz.frontend.counts.Counter.count",
    "scaly_viz.graph_table.encode",
    "scaly_viz.codec.Encoder.encode",
    "scaly_viz.spans.RecordingSpans.add_step",
    "scaly_viz.spans.RecordingSpans.finish",
    "scaly_viz.store.SpanStore.add",
    "scaly_viz_exporters.json_file.JsonFileExporter.export",
]


@pytest.mark.usefixtures("lenient")
@pytest.mark.parametrize("step", _INTERNAL_STEPS)
def test_an_error_in_an_internal_step_costs_one_warning_and_changes_no_compile(
    step: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    plain = render_c_source(_make())
    sine = scaly_viz.visualize(_make())

    def fail(*args: object, **kwargs: object) -> None:
        raise RuntimeError("made to fail")

    monkeypatch.setattr(step, fail)
    for _ in range(2):
        assert render_c_source(sine) == plain
    scaly_viz.recordings()

    (told,) = warnings_of(caplog)
    assert "RuntimeError: made to fail" in told
    assert "lost" in told


@pytest.mark.usefixtures("lenient")
def test_a_step_that_cannot_be_taken_is_missed_by_the_reader(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from scaly_viz.frontend.recorder import Recorder

    add = Recorder.add

    def fail_once(self: Recorder, name: str, dialect: Any, subject: Any) -> bool:
        if name == "lowered":
            raise RuntimeError("made to fail")
        return add(self, name, dialect, subject)

    monkeypatch.setattr(Recorder, "add", fail_once)
    render_c_source(scaly_viz.visualize(_make()))
    scaly_viz.recordings()

    (recording,) = load(scaly_viz.recording_path())
    assert recording.status == "incomplete"
    assert "1 of" in str(recording.error)


@pytest.mark.usefixtures("lenient")
def test_a_payload_that_cannot_be_made_says_why_in_its_place(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sine = scaly_viz.visualize(_make())

    def fail(*args: object) -> None:
        raise RecursionError("too deep")

    monkeypatch.setattr("scaly_viz.frontend.program_text.ProgramPrinter.render", fail)
    source = render_c_source(sine)

    with pytest.warns(scaly_viz.RecordingWarning) as warned:
        (recording,) = scaly_viz.load_recordings()
    assert "its assembly is missing: RecursionError: too deep" in str(warned[0].message)
    lowered = next(s for s in recording["steps"] if s["name"] == "lowered")
    assert set(lowered) == {"name", "phase", "dialect", "graph"}
    assert recording["steps"][-1]["code"] == source


@pytest.mark.usefixtures("lenient")
def test_a_folder_that_cannot_be_made_costs_one_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("SCALY_VIZ_DIR", str(tmp_path / "file" / "folder"))
    sine = scaly_viz.visualize(_make())

    plain = render_c_source(_make())
    assert render_c_source(sine) == plain

    (recording,) = scaly_viz.recordings()
    assert recording["steps"][-1]["code"] == plain
    (warning,) = warnings_of(caplog)
    assert "exporter json lost" in warning
    assert recording["id"] in warning


@pytest.mark.usefixtures("lenient")
def test_a_full_disk_costs_one_warning(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    sine = scaly_viz.visualize(_make())

    def full(*args: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("scaly_viz_exporters.json_file.append_lines", full)
    render_c_source(sine)

    assert len(scaly_viz.recordings()) == 1
    (warning,) = warnings_of(caplog)
    assert "No space left on device" in warning


@pytest.mark.usefixtures("lenient")
@pytest.mark.parametrize("exporters", ["json, no_such_exporter", "json,otlp_broken"])
def test_an_exporter_that_cannot_be_used_costs_one_warning_and_the_others_go_on(
    exporters: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    from importlib.metadata import EntryPoint

    from scaly_viz import pipeline

    broken = EntryPoint("otlp_broken", "no_such_module:Exporter", pipeline.GROUP)
    known = pipeline._known()
    monkeypatch.setattr(pipeline, "_known", lambda: (*known, broken))
    monkeypatch.setenv("SCALY_VIZ_EXPORTERS", exporters)

    render_c_source(scaly_viz.visualize(_make()))

    assert len(scaly_viz.load_recordings()) == 1
    (warning,) = warnings_of(caplog)
    assert exporters.split(",")[1].strip() in warning


def test_an_interrupted_pass_ends_the_recording_as_interrupted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _break_pass(monkeypatch, KeyboardInterrupt())

    with pytest.raises(KeyboardInterrupt):
        render_c_source(scaly_viz.visualize(_make()))

    (recording,) = scaly_viz.recordings()
    assert recording["error"].startswith("interrupted: ")
    assert recording["steps"][-1]["name"] == "pass:fold_tiles"
    (loaded,) = load(scaly_viz.recording_path())
    assert loaded.head.attributes[a.ERROR_TYPE] == "interrupted"
    assert loaded.status == "failed"


def test_an_interrupted_pass_is_told_though_its_traceback_is_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _break_pass(monkeypatch, KeyboardInterrupt())

    try:
        render_c_source(scaly_viz.visualize(_make()))
    except KeyboardInterrupt as interrupt:
        kept = interrupt

    assert kept.__traceback__ is not None
    (recording,) = scaly_viz.recordings()
    assert recording["error"].startswith("interrupted: ")


def test_an_exception_in_a_pass_is_recorded_with_its_stack_trace(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _break_pass(monkeypatch, ArithmeticError("no such range"))

    with pytest.raises(ArithmeticError):
        render_c_source(scaly_viz.visualize(_make()))

    (recording,) = scaly_viz.recordings()
    assert recording["error"] == "ArithmeticError('no such range')"
    assert recording["steps"][-1]["name"] == "pass:fold_tiles"
    (loaded,) = load(scaly_viz.recording_path())
    root = loaded.head
    assert (root.status, root.status_message) == ("error", "no such range")
    assert root.attributes[a.ERROR_TYPE] == "ArithmeticError"
    (event,) = root.events
    assert event.name == "exception"
    assert event.attributes["exception.type"] == "ArithmeticError"
    assert "in fail" in str(event.attributes["exception.stacktrace"])


def _break_pass(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    def fail(program: Any) -> Any:
        raise error

    pipeline: list[tuple[str, Callable[[Any], Any]]] = [
        (name, fail if name == "fuse_ranges" else function)
        for name, function in passes.PASS_PIPELINE
    ]
    monkeypatch.setattr(passes, "PASS_PIPELINE", tuple(pipeline))


@pytest.mark.slow
def test_a_chain_of_3000_operations_is_recorded_whole() -> None:
    deep = scaly_viz.visualize(chain.build(3000))

    source = render_c_source(deep)

    (recording,) = scaly_viz.recordings()
    assert "problems" not in recording
    assert recording["steps"][-1]["code"] == source
    for step in recording["steps"][:-1]:
        kinds = {"assembly", "graph"} | ({"listing"} if step["dialect"] == "prog" else set())
        assert kinds <= set(step)
        assert step["assembly"].count("sin(") in (0, 1000) or step["dialect"] == "prog"


@pytest.mark.slow
def test_deep_texts_equal_those_of_scalys_own_printers(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    from scaly.codegen import aot
    from scaly.ir.text import format_program, render_program_assembly

    programs: list[Any] = []

    class Collecting:
        def __getattr__(self, name: str) -> Any:
            return lambda *args, **kwargs: None

        def add_program(self, name: str, root: Any) -> None:
            programs.append(root)

    begin: Callable[[Any], Any] = lambda fun: Collecting()  # noqa: E731
    monkeypatch.setattr(aot, "_RENDER_OBSERVERS", [*aot._RENDER_OBSERVERS, begin])
    render_c_source(scaly_viz.visualize(chain.build(1200)))

    (recording,) = scaly_viz.recordings()
    ours = [(s["assembly"], s["listing"]) for s in recording["steps"] if s["dialect"] == "prog"]
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(20_000)
    try:
        theirs = [(render_program_assembly(root), format_program(root)) for root in programs]
    finally:
        sys.setrecursionlimit(limit)
    assert ours == theirs


def test_an_exhausted_memory_budget_writes_steps_at_once_and_loses_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import scaly.viz

    monkeypatch.setenv("SCALY_VIZ_PENDING_BYTES", "1")
    monkeypatch.setattr("scaly_viz.frontend.memory.MemoryBudget.exhausted", lambda self: True)
    from programs import mpc

    program = mpc.PROGRAMS[0]
    built = program.build()
    function_ = getattr(built, "function", built)
    scaly.viz.clear_recordings()
    with scaly.viz.capture(function_), scaly_viz.capture(function_):
        program.render(built)

    (ours,), (theirs,) = scaly_viz.recordings(), scaly.viz.recordings()
    assert ours["steps"] == theirs["steps"]
    scaly.viz.clear_recordings()


def test_the_arithmetic_of_the_compiled_function_is_as_without_a_mark() -> None:
    values = np.array([0.1, 0.2, 0.3])
    plain, marked = _make(), scaly_viz.visualize(_make())

    assert np.array_equal(plain(values), marked(values))


@pytest.mark.usefixtures("lenient")
def test_a_log_handler_that_raises_does_not_reach_the_compile(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Raising(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            raise RuntimeError("a handler of the user")

    logger = logging.getLogger("scaly_viz")
    handler = Raising()
    monkeypatch.setenv("SCALY_VIZ_EXPORTERS", "no_such_exporter")
    plain = render_c_source(_make())
    logger.addHandler(handler)
    try:
        assert render_c_source(scaly_viz.visualize(_make())) == plain
        assert len(scaly_viz.recordings()) == 1
    finally:
        logger.removeHandler(handler)


@pytest.mark.usefixtures("lenient")
def test_a_log_handler_that_asks_for_recordings_does_not_block(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[int] = []

    class Asking(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            asked.append(len(scaly_viz.recordings()))

    def fail(*args: object) -> None:
        raise RuntimeError("made to fail")

    logger = logging.getLogger("scaly_viz")
    handler = Asking()
    monkeypatch.setattr("scaly_viz.frontend.counts.Counter.count", fail)
    logger.addHandler(handler)
    try:
        render_c_source(scaly_viz.visualize(_make()))
        assert len(scaly_viz.recordings()) == 1
    finally:
        logger.removeHandler(handler)
    assert asked


def test_an_exception_that_cannot_be_described_is_recorded_by_its_repr(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class OddError(Exception):
        def __str__(self) -> str:
            raise ValueError("no words")

        def __repr__(self) -> str:
            return "OddError(...)"

    _break_pass(monkeypatch, OddError())

    with pytest.raises(OddError):
        render_c_source(scaly_viz.visualize(_make()))

    (recording,) = scaly_viz.recordings()
    assert recording["error"] == "OddError(...)"


def test_an_endless_error_text_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    _break_pass(monkeypatch, ValueError("é" * 3_000_000))

    with pytest.raises(ValueError, match="é"):
        render_c_source(scaly_viz.visualize(_make()))

    (recording,) = scaly_viz.load_recordings(strict=True)
    assert recording["error"].endswith("... (3,000,014 characters)")
