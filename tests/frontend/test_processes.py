"""Owns what is kept where processes fork, are killed, crash or end: each runs for real."""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap
import warnings
from pathlib import Path

import pytest

import scaly_viz
from scaly_viz.sources import load
from scaly_viz.sources.files import Follower

_PRELUDE = """
    import os, signal, sys
    sys.path.insert(0, {tests!r})
    import numpy as np
    import scaly as sc
    import scaly_viz
    from programs.compat import arg, function
    from scaly.codegen.aot import render_c_source
    from scaly.passes import program as passes

    def make(name):
        @function(arg("x", 3), outputs=arg("y"), name=name)
        def sine(x):
            return x.sin() * x
        return sine

    def in_pass(name, act):
        def acting(program, inner=dict(passes.PASS_PIPELINE)[name]):
            act()
            return inner(program)
        passes.PASS_PIPELINE = tuple(
            (n, acting if n == name else f) for n, f in passes.PASS_PIPELINE
        )
"""


def _start(code: str) -> subprocess.Popen[str]:
    prelude = _PRELUDE.format(tests=str(Path(__file__).parents[1]))
    script = textwrap.dedent(prelude) + textwrap.dedent(code)
    return subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def _run(code: str) -> str:
    process = _start(code)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert err == ""
    return out


def test_a_process_that_ends_right_after_its_render_loses_nothing() -> None:
    _run("render_c_source(scaly_viz.visualize(make('sine')))")

    (recording,) = scaly_viz.load_recordings(strict=True)
    assert recording["function"] == "sine"


@pytest.mark.parametrize(
    "exit_",
    [
        "sys.exit(0)",
        *(pytest.param(e, marks=pytest.mark.slow) for e in ("raise SystemExit", "exit()")),
    ],
)
def test_an_exit_from_a_thread_or_by_exception_loses_nothing(exit_: str) -> None:
    _run(f"""
        import threading
        thread = threading.Thread(
            target=lambda: render_c_source(scaly_viz.visualize(make('sine')))
        )
        thread.start()
        {exit_}
    """)

    assert len(scaly_viz.load_recordings(strict=True)) == 1


@pytest.mark.parametrize("mark", ["before", "after"])
def test_a_render_at_exit_is_recorded(mark: str) -> None:
    _run(f"""
        import atexit
        sine = make('sine')
        {"scaly_viz.visualize(sine)" if mark == "before" else ""}
        atexit.register(render_c_source, sine)
        scaly_viz.visualize(sine)
    """)

    assert len(scaly_viz.load_recordings(strict=True)) == 1


def test_renders_before_and_after_a_fork_are_recorded_by_who_made_them() -> None:
    out = _run("""
        first, second, third = (scaly_viz.visualize(make(n)) for n in ('one', 'two', 'three'))
        render_c_source(first)
        child = os.fork()
        render_c_source(third if child else second)
        names = [r['function'] for r in scaly_viz.recordings()]
        if child:
            os.waitpid(child, 0)
        print(names, flush=True)
    """)

    assert sorted(out.splitlines()) == ["['one', 'three']", "['one', 'two']"]
    recordings = load(scaly_viz.recording_path())
    assert sorted(r.function for r in recordings) == ["one", "three", "two"]
    assert all(r.complete for r in recordings)
    assert len({r.head.trace_id for r in recordings}) == 3
    processes = {r.function: r.head.resource["process.pid"] for r in recordings}
    assert processes["one"] == processes["three"] != processes["two"]


@pytest.mark.parametrize(
    "method", ["fork", pytest.param("spawn", marks=pytest.mark.slow), "forkserver"]
)
def test_children_of_multiprocessing_lose_nothing(method: str, tmp_path: Path) -> None:
    script = tmp_path / "pool.py"
    prelude = textwrap.dedent(_PRELUDE.format(tests=str(Path(__file__).parents[1])))
    body = f"""
        import multiprocessing

        def render(name):
            render_c_source(scaly_viz.visualize(make(name)))

        if __name__ == '__main__':
            context = multiprocessing.get_context({method!r})
            render('parent')
            with context.Pool(2) as pool:
                pool.map(render, [f'f{{i}}' for i in range(6)], chunksize=1)
                pool.close()
                pool.join()
            process = context.Process(target=render, args=('alone',))
            process.start()
            process.join()
    """
    script.write_text(prelude + textwrap.dedent(body))
    subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", script], check=True, timeout=240
    )

    recordings = scaly_viz.load_recordings(strict=True)
    assert sorted(r["function"] for r in recordings) == [
        "alone",
        *(f"f{i}" for i in range(6)),
        "parent",
    ]
    assert not any("incomplete" in r for r in recordings)


def test_a_crash_in_the_first_call_leaves_the_whole_recording() -> None:
    process = _start("""
        import ctypes
        from scaly.codegen import jit
        jit.CompiledFunction.run = lambda self, values: ctypes.string_at(0)
        sine = scaly_viz.visualize(make('sine'))
        sine(np.ones(3))
    """)
    process.communicate(timeout=120)

    assert process.returncode == -signal.SIGSEGV
    (recording,) = scaly_viz.load_recordings(strict=True)
    assert recording["steps"][-1]["name"] == "generated C"
    assert recording["error"] is None


def test_a_crash_in_the_first_call_of_a_cached_library_leaves_the_whole_recording() -> None:
    code = "scaly_viz.unvisualize_function(sine := make('sine')); sine(np.ones(3))"
    _run(code)
    process = _start("""
        import ctypes
        from scaly.codegen import jit
        jit.CompiledFunction.run = lambda self, values: ctypes.string_at(0)
        sine = scaly_viz.visualize(make('sine'))
        sine(np.ones(3))
    """)
    process.communicate(timeout=120)

    assert process.returncode == -signal.SIGSEGV
    (recording,) = scaly_viz.load_recordings(strict=True)
    assert recording["steps"][-1]["name"] == "generated C"


def test_a_killed_render_leaves_its_finished_steps() -> None:
    process = _start("""
        in_pass('fuse_ranges', signal.pause)
        render_c_source(scaly_viz.visualize(make('sine'), label='hangs'))
    """)
    follower = Follower(scaly_viz.recording_path(), print)
    seen: list[str] = []
    # The steps come by themselves while the render hangs; the test's own timeout is the bound.
    while "pass fold_tiles" not in seen:
        seen += [span.name for span in follower.poll()]
        assert process.poll() is None
    process.kill()
    process.communicate()

    (recording,) = load(scaly_viz.recording_path())
    assert recording.status == "incomplete"
    assert recording.name == "hangs"
    assert [step.name for step in recording.steps][-1] == "pass:fold_tiles"
    assert "its process was ended in the middle" in str(recording.error)
    assert all(recording.text(step, "assembly") for step in recording.steps)


@pytest.mark.slow
def test_a_process_killed_at_any_moment_leaves_only_whole_or_incomplete_recordings() -> None:
    for kill_after in range(6, 11):
        process = _start("""
            for i in range(100):
                render_c_source(scaly_viz.visualize(make(f'f{i}')))
                print(i, flush=True)
        """)
        assert process.stdout
        for line in process.stdout:
            if int(line) == kill_after:
                break
        process.kill()
        process.communicate()

    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        recordings = load(scaly_viz.recording_path())
    # A kill may tear the line that is being written, and no other.
    assert len(told) <= 5
    assert all("not JSON" in str(warning.message) for warning in told)
    # At most four wait to be written while the next is rendered.
    assert sum(r.complete for r in recordings) >= sum(n + 1 - 5 for n in range(6, 11))
    for recording in recordings:
        names = [step.name for step in recording.steps]
        assert recording.complete == (names[-1:] == ["generated C"] and recording.root is not None)


@pytest.mark.slow
def test_eight_processes_rendering_at_once_keep_everything() -> None:
    processes = [
        _start(f"""
            for i in range(25):
                render_c_source(scaly_viz.visualize(make(f'p{number}_{{i}}')))
        """)
        for number in range(8)
    ]
    complete: set[str] = set()
    while any(process.poll() is None for process in processes):
        for recording in load(scaly_viz.recording_path()):
            assert recording.complete == (recording.root is not None)
            complete |= {recording.function} if recording.complete else set()
    for process in processes:
        _, err = process.communicate()
        assert (process.returncode, err) == (0, "")

    recordings = scaly_viz.load_recordings(strict=True)
    expected = {f"p{number}_{i}" for number in range(8) for i in range(25)}
    assert {r["function"] for r in recordings} == expected >= complete
    assert len(recordings) == 200
    assert not any("incomplete" in r or "problems" in r for r in recordings)


def test_a_daemon_threads_render_does_not_keep_the_process() -> None:
    process = _start("""
        import threading
        started = threading.Event()
        def hang():
            started.set()
            threading.Event().wait()
        in_pass('fuse_ranges', hang)
        sine = scaly_viz.visualize(make('sine'))
        threading.Thread(target=render_c_source, args=(sine,), daemon=True).start()
        started.wait()
    """)
    process.communicate(timeout=60)

    (recording,) = load(scaly_viz.recording_path())
    assert str(recording.error).startswith("interrupted: ")
    assert recording.steps[-1].name == "pass:fold_tiles"


def test_what_is_flushed_is_there_though_the_process_ends_without_an_exit() -> None:
    _run("""
        render_c_source(scaly_viz.visualize(make('sine')))
        assert scaly_viz.flush()
        os._exit(0)
    """)

    (recording,) = scaly_viz.load_recordings(strict=True)
    assert recording["function"] == "sine"


def test_a_handler_that_exits_makes_sigterm_an_ordinary_end() -> None:
    process = _start("""
        signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
        render_c_source(scaly_viz.visualize(make('sine')))
        signal.raise_signal(signal.SIGTERM)
    """)

    assert process.communicate(timeout=120) == ("", "")
    assert process.returncode == 128 + signal.SIGTERM
    (recording,) = scaly_viz.load_recordings(strict=True)
    assert recording["function"] == "sine"


def test_a_render_whose_beginning_was_interrupted_says_nothing_at_exit() -> None:
    _run("""
        from scaly_viz.frontend.worker import Worker

        def interrupted(*_):
            raise KeyboardInterrupt

        sine = scaly_viz.visualize(make('sine'))
        Worker.watch = interrupted
        try:
            render_c_source(sine)
        except KeyboardInterrupt as error:
            # Kept with its traceback, and so with the observer, until the interpreter has no modules.
            sys.kept = error
    """)
