"""Owns the tests of what ``scaly-viz run`` records, and says: each runs a script of its own."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path

import pytest

import scaly_viz
from cli.running import run_on_terminal

COMMAND = (sys.executable, "-m", "scaly_viz", "run")
PRELUDE = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parents[1])!r})
from programs.compat import arg, function
from scaly.codegen.aot import render_c_source

def make(name):
    @function(arg("x", 3), outputs=arg("y"), name=name)
    def sine(x):
        return x.sin() * x
    return sine
"""
SLOW_PASS = """
import time
from scaly.passes import program as passes

def slowly(program, inner=dict(passes.PASS_PIPELINE)["fuse_ranges"]):
    time.sleep({seconds})
    return inner(program)

passes.PASS_PIPELINE = tuple(
    (n, slowly if n == "fuse_ranges" else f) for n, f in passes.PASS_PIPELINE
)
"""
COLOR = re.compile(r"\x1b\[[0-9;]*m")


def write(folder: Path, code: str) -> Path:
    script = folder / "model.py"
    script.write_text(PRELUDE + textwrap.dedent(code), "utf-8")
    return script


def run(
    *words: str | Path, options: Sequence[str] = (), **environ: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *options, *map(str, words)],
        env=os.environ | environ,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def recorded() -> list[tuple[str, str]]:
    """Return function and name of what is in the local file."""
    kept = scaly_viz.load_recordings(strict=True)
    return sorted((recording["function"], recording["name"]) for recording in kept)


def test_a_script_is_recorded_and_a_summary_says_what_and_where(tmp_path: Path) -> None:
    script = write(
        tmp_path,
        """
        import atexit
        atexit.register(print, "the script's last words")
        render_c_source(make("cost"))
        render_c_source(make("defect"))
        print("to stderr", file=sys.stderr)
        sys.exit("failed on purpose")
        """,
    )
    done = run(script)
    assert recorded() == [("cost", "cost"), ("defect", "defect")]
    assert (done.returncode, done.stdout) == (1, "the script's last words\n")
    lines = done.stderr.splitlines()
    assert lines[:3] == ["to stderr", "failed on purpose", "scaly-viz: 2 recordings"]
    cost, defect = scaly_viz.load_recordings()
    assert lines[4].startswith(f"{cost['id'][:8]}  cost ")
    assert lines[5].startswith(f"{defect['id'][:8]}  defect ")
    assert lines[6:] == [
        f"In {scaly_viz.recording_path()}; to look at them:",
        f"  scaly-viz show {defect['id'][:8]}",
        "  scaly-viz serve --browser",
    ]


def test_a_summary_says_that_the_file_could_not_be_written(tmp_path: Path) -> None:
    script = write(tmp_path, "render_c_source(make('cost'))")
    folder = script / "viz"  # below what is no folder

    done = run(script, SCALY_VIZ_DIR=str(folder))

    place = folder / "recordings.jsonl"
    assert done.returncode == 0
    assert done.stderr.splitlines()[-1] == (
        f"They are not in {place}, which could not be written; scaly-viz doctor says what to do"
    )


def test_functions_label_and_json(tmp_path: Path) -> None:
    script = write(
        tmp_path,
        """
        import scaly_viz
        render_c_source(make("mpc_cost"))
        render_c_source(make("defect"))
        render_c_source(scaly_viz.visualize(make("marked"), label="Mine"))
        render_c_source(scaly_viz.visualize(make("marked_too")))
        scaly_viz.configure(directory=sys.argv[1])
        render_c_source(make("mpc_step"))
        """,
    )
    elsewhere = tmp_path / "else where"
    options = ["--functions", "mpc_*,x", "--functions", "y", "--label", "New", "--json"]
    done = run(script, elsewhere, options=options)
    assert (done.returncode, done.stdout) == (0, "")
    assert recorded() == [("marked", "Mine"), ("marked_too", "New"), ("mpc_cost", "New")]
    summary = json.loads(done.stderr)
    assert summary["count"] == 4
    assert [each["name"] for each in summary["recordings"]] == ["New", "Mine", "New", "New"]
    assert [each["steps"] > 10 for each in summary["recordings"]] == [True] * 4
    assert (summary["failed"], summary["passed_over"]) == (0, ["defect"])
    assert (summary["exporters"], summary["path"]) == (
        ["json"],
        str(elsewhere / "recordings.jsonl"),
    )


@pytest.mark.slow
def test_the_failure_of_a_render_is_recorded_and_the_scripts_own(tmp_path: Path) -> None:
    script = write(
        tmp_path,
        """
        from scaly.passes import program as passes
        def fail(program):
            raise RuntimeError("no way")
        passes.PASS_PIPELINE = tuple(
            (n, fail if n == "fuse_ranges" else f) for n, f in passes.PASS_PIPELINE
        )
        render_c_source(make("cost"))
        """,
    )
    plain = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, timeout=120, check=False
    )
    done = run(script)
    assert (plain.returncode, done.returncode) == (1, 1)
    assert done.stderr.startswith(plain.stderr)
    assert done.stderr.removeprefix(plain.stderr).startswith(
        "scaly-viz: 1 recording, 1 of them failed\n"
    )
    (kept,) = scaly_viz.load_recordings()
    assert kept["error"] == "RuntimeError('no way')"


@pytest.mark.slow
def test_children_of_every_kind_are_recorded_and_in_the_summary(tmp_path: Path) -> None:
    script = write(
        tmp_path,
        """
        import multiprocessing, os
        def work(name):
            render_c_source(make(name))
        if __name__ == "__main__":
            for method in ("fork", "spawn", "forkserver"):
                child = multiprocessing.get_context(method).Process(target=work, args=(method,))
                child.start(); child.join()
                print(method, child.exitcode, flush=True)
            if os.fork() == 0:
                work("os_fork"); sys.exit(3)
            print(os.waitstatus_to_exitcode(os.wait()[1]))
        """,
    )
    done = run(script, options=["--label", "no \udcff UTF-8"])
    assert done.stdout == "fork 0\nspawn 0\nforkserver 0\n3\n"
    names = ["fork", "forkserver", "os_fork", "spawn"]
    assert [function for function, _ in recorded()] == names
    assert done.stderr.startswith("scaly-viz: 4 recordings\n")
    rows = [line.split()[1:5] for line in done.stderr.splitlines()[2:6]]
    assert sorted(row.pop() for row in rows) == names
    assert rows == [["no", r"\udcff", "UTF-8"]] * 4


@pytest.mark.slow
@pytest.mark.parametrize("asked", [True, False])
def test_programs_that_the_script_starts_are_recorded_on_request(
    asked: bool, tmp_path: Path
) -> None:
    inner = write(tmp_path, "render_c_source(make('inner'))")
    outer = tmp_path / "outer.py"
    outer.write_text(
        f"import subprocess, sys\nsubprocess.run([sys.executable, {str(inner)!r}], check=True)\n"
    )
    done = run(outer, options=["--subprocesses"] if asked else [])
    if asked:
        assert recorded() == [("inner", "inner")]
        assert done.stderr.startswith("scaly-viz: 1 recording\n")
    else:
        assert recorded() == []
        assert done.stderr == ("scaly-viz: nothing was recorded: the script did not import scaly\n")


@pytest.mark.parametrize("words", [("nosuch.py",), ("-m", "nosuch.module")])
def test_of_a_script_that_is_not_there_only_python_speaks(words: tuple[str, ...]) -> None:
    [line] = run(*words).stderr.splitlines()
    assert "nosuch" in line
    assert line.startswith(sys.executable)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("", "scaly was imported, and rendered nothing"),
        ("render_c_source(make('cost'))", "--functions leaves out what was rendered: cost"),
    ],
)
def test_a_summary_says_why_nothing_was_recorded(code: str, why: str, tmp_path: Path) -> None:
    done = run(write(tmp_path, code), options=["--functions", "x"])
    assert done.stderr == f"scaly-viz: nothing was recorded: {why}\n"


def test_where_scaly_is_not_installed_it_is_said_and_the_script_runs(tmp_path: Path) -> None:
    code = (
        "import sys, importlib.util as util\n"
        "find = util.find_spec\n"
        "util.find_spec = lambda name, *rest: None if name == 'scaly' else find(name, *rest)\n"
        "from scaly_viz.cli import main\n"
        "main(['run', '-q', '-c', 'print(5)'])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout == "5\n"
    (line,) = done.stderr.splitlines()
    assert line.startswith("scaly-viz: warning: scaly is not installed for ")
    assert "Install scaly-viz where scaly is" in line


def test_a_wrong_call_is_told_before_anything_runs() -> None:
    for words in ([], ["-m"], ["--no-such-option", "x.py"]):
        assert run(*words).returncode == 2


@pytest.mark.slow
def test_an_interrupted_script_ends_by_the_signal_with_its_summary(tmp_path: Path) -> None:
    script = write(
        tmp_path,
        """
        import os, signal
        render_c_source(make("cost"))
        os.kill(os.getpid(), signal.SIGINT)
        """,
    )
    done = run(script)
    assert done.returncode == -2
    assert "KeyboardInterrupt\nscaly-viz: 1 recording\n" in done.stderr


@pytest.mark.slow
def test_a_file_that_took_the_place_of_standard_error_is_not_written_to(tmp_path: Path) -> None:
    script = write(
        tmp_path,
        """
        import os
        render_c_source(make("cost"))
        os.close(2)
        open("data.txt", "w")
        """,
    )
    done = subprocess.run(
        [*COMMAND, script], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=True
    )
    assert (done.stderr, (tmp_path / "data.txt").read_text()) == ("", "")
    assert recorded() == [("cost", "cost")]


@pytest.mark.slow
def test_a_long_compile_is_shown_below_what_the_script_prints(tmp_path: Path) -> None:
    code = (
        'print("compiling ... ", end="", flush=True)\nrender_c_source(make("cost"))\nprint("done")'
    )
    script = write(tmp_path, SLOW_PASS.format(seconds=3) + code)
    code_, screen = run_on_terminal("run", script, columns=100)
    assert code_ == 0
    drawn = re.findall(r"\x1b\[B\r\x1b\[2K(scaly-viz: [^\x1b]*)\x1b8", screen)
    assert re.fullmatch(
        r"scaly-viz: cost: \d+ steps, last pass:fold_tiles(, \d+ nodes)?, [12] s", drawn[0]
    )
    assert re.search(r", \d+ nodes, [23] s$", drawn[-1])
    erased = screen.rindex("\x1b[2K\x1b8")
    assert drawn[-1] not in screen[erased:]
    assert (
        COLOR.sub("", screen[erased:])
        .replace("\x1b[2K\x1b8", "")
        .startswith("done\nscaly-viz: 1 recording\n")
    )
    _, quiet = run_on_terminal("run", "-q", script, columns=100)
    assert quiet == "compiling ... done\n"


@pytest.mark.slow
def test_an_interrupt_in_a_long_compile_clears_the_way_for_its_traceback(tmp_path: Path) -> None:
    code = """
import os, signal, threading
threading.Timer(2.5, os.kill, (os.getpid(), signal.SIGINT)).start()
render_c_source(make("cost"))
"""
    script = write(tmp_path, SLOW_PASS.format(seconds=30) + code)
    code_, screen = run_on_terminal("run", script, columns=100)
    assert code_ == -2
    traceback = screen.index("Traceback (most recent call last)")
    assert screen[:traceback].endswith("\x1b[2K\x1b8")
    assert "\x1b" not in screen[traceback : screen.index("KeyboardInterrupt", traceback)]
    assert "1 recording, 1 of them failed" in screen


@pytest.mark.slow
def test_the_viewer_is_opened_at_the_new_recording_and_the_exit_code_is_the_scripts(
    tmp_path: Path,
) -> None:
    browser = tmp_path / "browser"
    opened = tmp_path / "opened"
    # It writes down what it is to open, and interrupts the viewer, whose child it is.
    browser.write_text(f'#!/bin/sh\necho "$1" > {opened}\nkill -INT $PPID\n')
    browser.chmod(0o755)
    script = write(tmp_path, "render_c_source(make('cost'))\nsys.exit(9)")
    done = run(script, options=["--browser"], BROWSER=f"{browser} %s")
    assert done.returncode == 9
    (kept,) = scaly_viz.load_recordings()
    assert re.fullmatch(rf"http://127.0.0.1:\d+/r/{kept['id']}\n", opened.read_text())
    assert "scaly-viz serves at http://127.0.0.1:" in done.stderr
