"""Owns recording without a change to the code: ``opentelemetry-instrument``, names by glob, marks of scaly.viz."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import Iterator, Mapping
from importlib.metadata import distribution, entry_points
from pathlib import Path
from typing import Any

import pytest
import scaly as sc
import scaly.viz
from opentelemetry.instrumentation.instrumentor import (  # type: ignore[attr-defined]  # it is untyped
    BaseInstrumentor,
)
from opentelemetry.instrumentation.utils import suppress_instrumentation
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from packaging.requirements import Requirement
from scaly.codegen.aot import render_c_source

import scaly_viz
from programs.compat import arg, function
from scaly_viz import attributes as a
from scaly_viz.frontend.session import SESSION
from scaly_viz.instrumentor import ScalyInstrumentor
from scaly_viz.sources import fail, load
from scaly_viz.sources.files import read_spans

_COMMAND = Path(sys.executable).with_name("opentelemetry-instrument")
_APP = f"""
    import sys
    sys.path.insert(0, {str(Path(__file__).parent)!r})
    import scaly as sc
    from programs.compat import arg, function
    from scaly.codegen.aot import render_c_source

    def make(name):
        @function(arg("x", 3), outputs=arg("y"), name=name)
        def sine(x):
            return x.sin() * x
        return sine
"""


@pytest.fixture
def instrumentor() -> Iterator[BaseInstrumentor]:
    """The instrumentor, switched off again afterwards."""
    instrumentor = ScalyInstrumentor()
    yield instrumentor
    if instrumentor.is_instrumented_by_opentelemetry:
        instrumentor.uninstrument()


def _make(name: str) -> Any:
    @function(arg("x", 3), outputs=arg("y"), name=name)
    def sine(x: sc.Expr) -> sc.Expr:
        return x.sin() * x

    return sine


def _recorded() -> list[tuple[str, str]]:
    return [(r["function"], r["name"]) for r in scaly_viz.recordings()]


def _run(
    folder: Path,
    code: str,
    *command: str,
    environ: Mapping[str, str] = {},
) -> subprocess.CompletedProcess[str]:
    """Run an application, by default under ``opentelemetry-instrument``; fail with what it says."""
    script = folder / "app.py"
    script.write_text(textwrap.dedent(_APP) + textwrap.dedent(code), encoding="utf-8")
    done = subprocess.run(
        [*(command or (str(_COMMAND), sys.executable)), str(script)],
        cwd=folder,
        env={**os.environ, **environ},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done


@pytest.fixture
def configurator(tmp_path: Path) -> Mapping[str, str]:
    """An environment that has a distribution with the SDK's configurator, as opentelemetry-distro is one."""
    folder = tmp_path / "distro"
    about = folder / "a_distro-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: a-distro\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(
        "[opentelemetry_configurator]\n"
        "configurator = opentelemetry.sdk._configuration:_OTelSDKConfigurator\n"
    )
    path = os.pathsep.join(filter(None, (str(folder), os.environ.get("PYTHONPATH"))))
    return {"PYTHONPATH": path}


_RENDER_TWO = """
    render_c_source(make("cost"))
    render_c_source(make("defect"))
"""


def test_opentelemetry_instrument_records_every_function_of_an_unchanged_program(
    tmp_path: Path,
) -> None:
    done = _run(tmp_path, _RENDER_TWO)

    assert (done.stdout, done.stderr) == ("", "")
    kept = scaly_viz.load_recordings(strict=True)
    assert [(r["function"], r["name"]) for r in kept] == [("cost", "cost"), ("defect", "defect")]
    assert all(r["steps"][-1]["name"] == "generated C" for r in kept)


@pytest.mark.parametrize(
    ("patterns", "expected"),
    [
        ("d*", ["defect"]),
        ("nothing, c?st", ["cost"]),
        ("COST", []),
        ("", ["cost", "defect"]),
    ],
)
def test_functions_are_chosen_by_globs(
    patterns: str,
    expected: list[str],
    instrumentor: BaseInstrumentor,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SCALY_VIZ_FUNCTIONS", patterns)
    instrumentor.instrument()

    for name in ("cost", "defect"):
        render_c_source(_make(name))

    assert [name for name, _ in _recorded()] == expected


def test_globs_reach_a_program_through_the_environment(tmp_path: Path) -> None:
    _run(tmp_path, _RENDER_TWO, environ={"SCALY_VIZ_FUNCTIONS": "de*t"})

    assert [r["function"] for r in scaly_viz.load_recordings(strict=True)] == ["defect"]


@pytest.mark.parametrize("functions", ["defect, x*", ["defect"]])
def test_functions_are_named_in_code(functions: Any, instrumentor: BaseInstrumentor) -> None:
    instrumentor.instrument(functions=functions)

    for name in ("cost", "defect"):
        render_c_source(_make(name))

    assert _recorded() == [("defect", "defect")]


def test_a_label_that_was_given_with_a_mark_wins(instrumentor: BaseInstrumentor) -> None:
    ours, theirs, both, plain = (_make(name) for name in ("ours", "theirs", "both", "plain"))
    scaly_viz.visualize(ours, label="of scaly-viz")
    scaly.viz.visualize(theirs, label="of scaly.viz")
    scaly.viz.visualize(both, label="of scaly.viz")
    scaly_viz.visualize(both, label="of scaly-viz")
    instrumentor.instrument()

    for each in (ours, theirs, both, plain):
        render_c_source(each)

    assert _recorded() == [
        ("ours", "of scaly-viz"),
        ("theirs", "of scaly.viz"),
        ("both", "of scaly-viz"),
        ("plain", "plain"),
    ]
    for each in (theirs, both):
        scaly.viz.unvisualize_function(each)
    scaly.viz.clear_recordings()


def test_a_mark_of_scaly_viz_counts_whatever_the_functions_name(
    instrumentor: BaseInstrumentor,
) -> None:
    marked = _make("marked")
    instrumentor.instrument(functions="")
    render_c_source(_make("plain"))
    with scaly.viz.capture(marked, label="theirs"):
        render_c_source(marked)
    render_c_source(marked)

    assert _recorded() == [("marked", "theirs")]
    scaly.viz.clear_recordings()


def test_without_the_instrumentor_a_mark_of_scaly_viz_is_none_of_ours() -> None:
    SESSION.armed()
    marked = _make("marked")
    with scaly.viz.capture(marked):
        render_c_source(marked)

    assert _recorded() == []
    scaly.viz.clear_recordings()


def test_uninstrumenting_stops_it_and_keeps_marks(instrumentor: BaseInstrumentor) -> None:
    instrumentor.instrument()
    render_c_source(_make("before"))
    instrumentor.uninstrument()
    render_c_source(_make("after"))
    marked = scaly_viz.visualize(_make("marked"))
    render_c_source(marked)
    instrumentor.instrument()
    render_c_source(_make("again"))

    assert [name for name, _ in _recorded()] == ["before", "marked", "again"]


def test_instrumenting_twice_records_once(instrumentor: BaseInstrumentor) -> None:
    instrumentor.instrument()
    ScalyInstrumentor().instrument()

    render_c_source(_make("once"))

    assert [name for name, _ in _recorded()] == ["once"]


def test_what_suppresses_instrumentation_suppresses_ours_but_not_marks(
    instrumentor: BaseInstrumentor,
) -> None:
    instrumentor.instrument()
    marked = scaly_viz.visualize(_make("marked"))

    with suppress_instrumentation():
        render_c_source(_make("quiet"))
        render_c_source(marked)

    assert [name for name, _ in _recorded()] == ["marked"]


def test_spans_go_through_the_provider_that_is_given(
    instrumentor: BaseInstrumentor, monkeypatch: pytest.MonkeyPatch
) -> None:
    exporter = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    instrumentor.instrument(tracer_provider=provider)

    render_c_source(_make("sine"))

    assert len(scaly_viz.recordings()) == 1
    assert exporter.get_finished_spans()[-1].name == "render sine"
    assert not scaly_viz.recording_path().exists()


def test_what_configure_says_wins_over_the_instrumentor(instrumentor: BaseInstrumentor) -> None:
    theirs, ours = InMemorySpanExporter(), InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(theirs))
    instrumentor.instrument(tracer_provider=provider)
    scaly_viz.configure(exporters=[ours])

    render_c_source(_make("sine"))
    SESSION.drain()
    SESSION.pipeline().flush(5.0)

    assert ours.get_finished_spans()[-1].name == "render sine"
    assert theirs.get_finished_spans()[-1].name == "render sine"


def test_it_names_what_it_instruments() -> None:
    (dependency,) = ScalyInstrumentor().instrumentation_dependencies()
    assert dependency == "scaly >= 0.1.0a1"
    requires = [Requirement(text) for text in distribution("scaly-viz").requires or ()]
    extra = [r for r in requires if r.marker and r.marker.evaluate({"extra": "instruments"})]
    # opentelemetry-instrument looks at the extra, instrument() at the method.
    assert [f"{r.name} {r.specifier}" for r in extra] == ["scaly >=0.1.0a1"]


def test_it_is_found_by_its_name() -> None:
    (entry,) = entry_points(group="opentelemetry_instrumentor", name="scaly")
    assert entry.load() is ScalyInstrumentor


def test_instrumenting_imports_neither_scaly_nor_the_sdk(tmp_path: Path) -> None:
    code = """
        import sys
        from scaly_viz.instrumentor import ScalyInstrumentor
        ScalyInstrumentor().instrument(skip_dep_check=True)
        print([name for name in ("scaly", "opentelemetry.sdk", "numpy") if name in sys.modules])
        import scaly
        print("scaly_viz.frontend.observer" in sys.modules)
    """
    command = [sys.executable, "-c", textwrap.dedent(code)]

    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)

    assert done.stdout.splitlines() == ["[]", "True"]


def test_a_program_that_uninstruments_before_it_imports_scaly_is_not_watched(
    tmp_path: Path,
) -> None:
    code = """
        import sys
        from scaly_viz.instrumentor import ScalyInstrumentor
        ScalyInstrumentor().instrument()
        ScalyInstrumentor().uninstrument()
        import scaly
        print("scaly_viz.frontend.observer" in sys.modules)
    """
    command = [sys.executable, "-c", textwrap.dedent(code)]

    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)

    assert done.stdout == "False\n"


def test_the_usual_variable_switches_it_off(tmp_path: Path) -> None:
    _run(tmp_path, _RENDER_TWO, environ={"OTEL_PYTHON_DISABLED_INSTRUMENTATIONS": "scaly"})

    assert scaly_viz.load_recordings(strict=True) == []


def test_spans_go_through_the_pipeline_that_the_environment_configures(
    tmp_path: Path, configurator: Mapping[str, str]
) -> None:
    """With a configurator, OTEL_TRACES_EXPORTER makes the global pipeline, here with our exporter."""
    done = _run(
        tmp_path,
        """
        from opentelemetry import trace
        with trace.get_tracer("app").start_as_current_span("request"):
            render_c_source(make("cost"))
        """,
        environ={**configurator, "OTEL_TRACES_EXPORTER": "scaly_json", "OTEL_SERVICE_NAME": "app"},
    )

    assert (done.stdout, done.stderr) == ("", "")
    (recording,) = load(scaly_viz.recording_path())
    assert recording.to_dict()["steps"][-1]["name"] == "generated C"
    root = next(s for s in recording.spans if a.RECORDING_STEPS in s.attributes)
    assert root.parent_span_id != ""
    assert root.resource["service.name"] == "app"
    # The application's own spans come along: it is its pipeline.
    names = [span.name for span in read_spans(scaly_viz.recording_path(), fail)]
    assert "request" in names


def test_exporters_of_ours_that_are_named_get_recordings_beside_the_applications_pipeline(
    tmp_path: Path, configurator: Mapping[str, str]
) -> None:
    done = _run(
        tmp_path,
        _RENDER_TWO,
        environ={
            **configurator,
            "OTEL_TRACES_EXPORTER": "console",
            "SCALY_VIZ_EXPORTERS": "json",
        },
    )

    assert '"name": "render cost"' in done.stdout
    assert len(scaly_viz.load_recordings(strict=True)) == 2


def test_without_a_configurator_our_own_pipeline_takes_the_exporters_that_are_asked_for(
    tmp_path: Path,
) -> None:
    done = _run(tmp_path, _RENDER_TWO, environ={"OTEL_TRACES_EXPORTER": "console,scaly_json"})

    assert '"name": "render cost"' in done.stdout
    assert len(scaly_viz.load_recordings(strict=True)) == 2


def test_a_provider_that_the_program_sets_itself_is_used_from_then_on(tmp_path: Path) -> None:
    done = _run(
        tmp_path,
        """
        from opentelemetry import trace
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor, ConsoleSpanExporter

        render_c_source(make("before"))
        provider = TracerProvider()
        provider.add_span_processor(BatchSpanProcessor(ConsoleSpanExporter()))
        trace.set_tracer_provider(provider)
        render_c_source(make("after"))
        """,
    )

    assert done.stderr == ""
    assert '"name": "render after"' in done.stdout
    assert "before" not in done.stdout
    assert [r["function"] for r in scaly_viz.load_recordings(strict=True)] == ["before"]
