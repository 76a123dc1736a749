"""Owns comparing scripts under ``scaly-viz run`` with the same under ``python``: nobody shall see a difference."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import textwrap
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import pytest

from scaly_viz.cli.run import python_options
from scaly_viz.errors import ScalyVizError

PYTHON = (sys.executable,)
# As the installed script does: with -m the current folder would be on the command's own path.
COMMAND = """
import sys
from scaly_viz.cli import main
if __name__ == "__main__":
    sys.exit(main(prog_name="scaly-viz"))
"""
# Two processes have different ones of these.
_NUMBERS = re.compile(rb"0x[0-9a-f]+|started [0-9]+")


class Seen(NamedTuple):
    """What the parent of a script sees of it."""

    wait_status: int
    output: bytes
    errors: bytes


def seen(
    command: Sequence[str], words: Sequence[str], folder: Path, environ: Mapping[str, str] = {}
) -> Seen:
    done = subprocess.run(
        [*command, *words],
        cwd=folder,
        env={**os.environ, **environ},
        input=b"first line\nsecond line\n",
        capture_output=True,
        timeout=120,
        check=False,
    )
    return Seen(done.returncode, _NUMBERS.sub(b"#", done.stdout), _NUMBERS.sub(b"#", done.stderr))


@pytest.fixture(scope="session")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, ...]:
    """The command, quiet."""
    path = tmp_path_factory.mktemp("bin") / "scaly-viz"
    path.write_text(COMMAND, "utf-8")
    return (sys.executable, str(path), "run", "--quiet")


def both(
    run: Sequence[str], words: Sequence[str], folder: Path, environ: Mapping[str, str] = {}
) -> Seen:
    """Run the script in both ways, of which nothing may be different; return what is seen."""
    plain = seen(PYTHON, words, folder, environ)
    assert seen(run, words, folder, environ) == plain
    return plain


SCRIPTS = {
    "arguments, names and paths": """
        import os, sys
        print(sys.argv, sys.path, sys.orig_argv, __name__, __file__, __spec__, sys.flags)
        print(sys.modules["__main__"].__dict__.keys(), os.getcwd(), sys.warnoptions, sys._xoptions)
        print({k: v for k, v in os.environ.items() if k not in ("_", "SHLVL")})
    """,
    "what is imported, but for atexit and our hook": """
        import sys
        print(sorted(set(sys.modules) - {"atexit", "_scaly_viz_hook"}))
        print([name for name in sys.modules if name.startswith(("scaly", "click", "opentelemetry"))])
    """,
    "input": "import sys; print(sys.stdin.read()); print(input())",
    "a text as exit code": "import sys; sys.exit('a text')",
    "no exit code": "raise SystemExit(None)",
    "an exit code beyond a byte": "import sys; sys.exit(300)",
    "an object as exit code": "import sys; sys.exit([1, 'two'])",
    "exit in a thread": """
        import sys, threading
        thread = threading.Thread(target=sys.exit, args=(3,))
        thread.start(); thread.join(); print("on")
    """,
    "an exception": """
        def f(n):
            return 1 / n
        try:
            f(0)
        except ZeroDivisionError as error:
            raise ValueError("outer") from error
    """,
    "an exception in an import": """
        import broken
    """,
    "an error of syntax": "print('never'\nthis is none",
    "a hook for exceptions": """
        import sys
        sys.excepthook = lambda kind, error, trace: print("mine", kind, sys.__excepthook__)
        1 / 0
    """,
    "os._exit": "import os; os.write(1, b'raw'); os._exit(7)",
    "killed by itself": "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
    "ended by SIGTERM": "import os, signal; os.kill(os.getpid(), signal.SIGTERM)",
    "interrupted": "import os, signal; os.kill(os.getpid(), signal.SIGINT); import time; time.sleep(9)",
    "a crash told by faulthandler": """
        import faulthandler, os, signal
        faulthandler.enable()
        os.kill(os.getpid(), signal.SIGABRT)
    """,
    "signals as they were": """
        import signal
        print({s: signal.getsignal(s) for s in signal.valid_signals()}, signal.pthread_sigmask(0, []))
    """,
    "the order of exit handlers": """
        import atexit, sys, threading
        atexit.register(print, "last")
        atexit.register(print, "first")
        class Last:
            def __del__(self): print("deleted", sys.is_finalizing())
        last = Last()
        threading.Thread(target=print, args=("thread",)).start()
    """,
    "an error in an exit handler": """
        import atexit
        atexit.register(lambda: 1 / 0)
    """,
    "descriptors and limits": """
        import os, resource
        print(sorted(os.listdir("/proc/self/fd")), resource.getrlimit(resource.RLIMIT_CORE))
        print(os.umask(0o22), open(os.devnull).fileno())
    """,
    "threads, subprocesses and their environment": """
        import subprocess, sys, threading
        print(threading.enumerate(), threading.active_count())
        code = "import sys; print(sys.argv, sys.path, 'scaly_viz' in sys.modules)"
        print(subprocess.run([sys.executable, "-c", code, "x"], capture_output=True))
        print(subprocess.run(["env"], capture_output=True).stdout.splitlines()[:-1])
    """,
    "processes of every kind": """
        import multiprocessing, sys
        def double(n): return 2 * n, __name__, sys.argv
        if __name__ == "__main__":
            for method in ("fork", "spawn", "forkserver"):
                with multiprocessing.get_context(method).Pool(1) as pool:
                    print(method, pool.map(double, [1, 2]))
    """,
    "a fork that goes on": """
        import os, sys
        if os.fork() == 0:
            print("child"); sys.exit(5)
        print(os.waitstatus_to_exitcode(os.wait()[1]))
    """,
    "pickles of __main__": """
        import pickle
        class Point: pass
        print(pickle.loads(pickle.dumps(Point())).__class__ is Point, Point.__module__)
    """,
    "modules that shadow the standard library": """
        import logging, json, typing
        print(logging.__file__, json.__file__)
    """,
    "a closed standard error": "import os; os.close(2); print(open('data.txt', 'w').fileno())",
    "output that nobody reads": "import os; os.close(1); print('lost')",
    "another standard error": """
        import os, sys
        os.dup2(os.open("log.txt", os.O_WRONLY | os.O_CREAT), 2)
        print("to the log", file=sys.stderr)
    """,
    "warnings": "import warnings; warnings.warn('careful')",
    "interactive help": "import sys; print(sys.ps1 if hasattr(sys, 'ps1') else 'none', exit, copyright)",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_is_as_under_python(name: str, run: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(textwrap.dedent(SCRIPTS[name]), "utf-8")
    (tmp_path / "broken.py").write_text("import no_such_module\n", "utf-8")
    if "shadow" in name:
        for module in ("logging", "json"):
            (tmp_path / f"{module}.py").write_text("", "utf-8")
    environ = {"PYTHONHASHSEED": "0"}
    both(run, ["script.py", "--functions", "-m", "--", "two words"], tmp_path, environ)


@pytest.mark.slow
def test_modules_code_and_standard_input_are_run_as_python_runs_them(
    run: tuple[str, ...], tmp_path: Path
) -> None:
    package = tmp_path / "package"
    package.mkdir()
    (package / "__main__.py").write_text("import sys; print(__name__, __package__, sys.argv)\n")
    assert both(run, ["-m", "package", "--quiet", "-x"], tmp_path).output.startswith(
        b"__main__ package"
    )
    assert both(run, ["package", "--help"], tmp_path).wait_status == 0
    assert both(run, ["-c", "import sys; print(sys.argv)", "--label", "x"], tmp_path).output == (
        b"['-c', '--label', 'x']\n"
    )
    assert b"SyntaxError" in both(run, ["-"], tmp_path).errors
    assert both(run, ["-m", "no_such_module"], tmp_path).wait_status == 1
    assert both(run, ["no_such_script.py"], tmp_path).wait_status == 2


@pytest.mark.slow
def test_the_users_own_site_modules_and_paths_are_kept(
    run: tuple[str, ...], tmp_path: Path
) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "sitecustomize.py").write_text("import sys; sys.mine = __file__\n")
    script = "import os, sys; print(sys.mine, sys.path, os.environ['PYTHONPATH'])"
    path = os.pathsep.join(filter(None, (str(tmp_path / "mine"), os.environ.get("PYTHONPATH"))))
    seen_ = both(run, ["-c", script], tmp_path, {"PYTHONPATH": path})
    assert seen_.output.startswith(str(tmp_path / "mine" / "sitecustomize.py").encode())


def test_who_looks_through_all_our_modules_changes_nothing() -> None:
    before = dict(os.environ)
    import_module("scaly_viz.startup.sitecustomize")
    assert dict(os.environ) == before


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_meets_the_script_itself(
    number: signal.Signals, run: tuple[str, ...], tmp_path: Path
) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import os, signal, sys, time\n"
        "signal.signal(signal.SIGTERM, lambda *_: (print('mine', os.getpid()), sys.exit(4)))\n"
        "print('ready', flush=True)\n"
        "time.sleep(60)\n"
    )
    process = subprocess.Popen(
        [*run, str(script)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    process.send_signal(number)
    output, errors = process.communicate(timeout=60)
    if number == signal.SIGTERM:
        assert (output, errors, process.returncode) == (f"mine {process.pid}\n", "", 4)
    else:
        assert errors.endswith("KeyboardInterrupt\n")
        assert process.returncode == -signal.SIGINT


def test_options_of_python_itself_are_passed_on(tmp_path: Path) -> None:
    script = "import sys; print(sys.flags.dev_mode, sys.warnoptions, sys.flags.optimize)"
    options = ["-X", "dev", "-W", "ignore::UserWarning", "-O"]
    plain = seen(PYTHON, [*options, "-c", script], tmp_path)
    ours = seen(PYTHON, [*options, "-m", "scaly_viz", "run", "-q", "-c", script], tmp_path)
    assert (ours.wait_status, ours.output) == (0, plain.output)


def test_options_that_keep_us_out_are_refused() -> None:
    with pytest.raises(ScalyVizError, match="python -IX keeps scaly-viz out"):
        python_options(["python", "-IX", "-m", "scaly_viz", "run", "-m", "x"])
    assert python_options(["python", "/bin/scaly-viz", "run", "-m", "x"]) == []
    assert python_options(["python", "-sP", "/bin/scaly-viz", "run", "x.py"]) == []


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_script_finds_the_streams_closed_that_were_closed(
    run: tuple[str, ...], tmp_path: Path, closed: str
) -> None:
    script = tmp_path / "streams.py"
    script.write_text(
        "import os, sys\n"
        "streams = [s is None for s in (sys.stdin, sys.stdout, sys.stderr)]\n"
        "opened = os.open(__file__, os.O_RDONLY)\n"
        "open(sys.argv[1], 'w').write(f'{streams} {opened}')\n"
        "sys.exit(3)\n",
        "utf-8",
    )
    found = []
    for command in (PYTHON, run):
        words = " ".join((*command, str(script), str(tmp_path / "found")))
        done = subprocess.run(
            f"{words} {closed}", shell=True, capture_output=True, timeout=120, check=False
        )
        assert (done.returncode, done.stdout, done.stderr) == (3, b"", b"")
        found.append((tmp_path / "found").read_text("utf-8"))
    assert found[0] == found[1]
