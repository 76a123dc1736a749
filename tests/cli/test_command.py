"""Owns the tests of the command as a whole: what it imports, how it is called, how it ends."""

from __future__ import annotations

import ctypes
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import scaly_viz
from scaly_viz.cli import reading

from .running import COMMAND, error_of, output_of, run, run_process

HEAVY = ("rich", "pygments", "opentelemetry", "scaly", "flask", "msgspec", "zstandard", "numpy")

# Of Linux: linux/prctl.h and linux/capability.h.
_PR_CAPBSET_DROP = 24
_CAP_DAC_OVERRIDE = 1
_CAP_DAC_READ_SEARCH = 2


def test_the_version_is_printed_without_importing_what_it_does_not_need() -> None:
    script = (
        "import sys\n"
        "from scaly_viz.cli import main\n"
        "try: main(['--version'])\n"
        "finally: print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout == f"scaly-viz {scaly_viz.__version__}\n"
    assert set(HEAVY).isdisjoint(done.stderr.split())


def test_the_module_runs_as_the_command_does() -> None:
    assert run_process("--version").stdout.decode() == f"scaly-viz {scaly_viz.__version__}\n"


@pytest.mark.usefixtures("local")
def test_reading_works_without_the_compiler() -> None:
    script = (
        "import sys\n"
        "sys.modules['scaly'] = None\n"
        "from scaly_viz.cli import main\n"
        "main(['show', '1', 'lowered'])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.startswith(b"program\n")


def test_a_mark_without_the_compiler_says_how_to_get_it() -> None:
    script = (
        "import sys\n"
        "class Without:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'scaly':\n"
        "            raise ModuleNotFoundError('No module named scaly', name=name)\n"
        "sys.meta_path.insert(0, Without())\n"
        "import scaly_viz\n"
        "scaly_viz.visualize(print)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, timeout=60, check=False
    )
    last = done.stderr.decode().splitlines()[-1]
    assert last.startswith("ModuleNotFoundError: there is nothing to record without scaly")
    assert last.endswith("pip install 'scaly-viz[scaly]'")


@pytest.mark.parametrize("command", [(), ("serve",), ("list",), ("show",), ("diff",), ("compare",)])
def test_every_command_explains_itself(command: tuple[str, ...]) -> None:
    help_text = output_of(*command, "--help")
    assert "Examples:\n" in help_text
    assert help_text == output_of(*command, "-h")


def test_the_help_states_the_exit_codes() -> None:
    assert "Exit codes:\n    0    done\n    1 " in output_of("--help")


def test_a_wrong_call_has_exit_code_2() -> None:
    assert run("list", "--limit", "0").exit_code == 2
    assert run("show", "1", "2", "3").exit_code == 2


@pytest.mark.usefixtures("local")
def test_a_reader_that_goes_away_is_no_error() -> None:
    process = subprocess.Popen(
        [*COMMAND, "show", "1", "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    process.stdout.close()
    _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (141, b"")


@pytest.mark.usefixtures("local")
def test_a_pipe_through_head_is_quiet() -> None:
    command = " ".join(COMMAND)
    done = subprocess.run(
        f"{command} show 1 --kind code | head -1",
        shell=True,
        capture_output=True,
        timeout=60,
        check=True,
    )
    assert (len(done.stdout.splitlines()), done.stderr) == (1, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is full")
@pytest.mark.usefixtures("local")
def test_a_full_disk_is_said_in_one_line() -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [*COMMAND, "list"], stdout=full, stderr=subprocess.PIPE, timeout=60, check=False
        )
    assert done.returncode == 1
    assert done.stderr.decode() == "scaly-viz: error: No space left on device\n"


def test_an_interrupt_is_quiet() -> None:
    script = (
        "import threading\n"
        "from scaly_viz.cli import main, reading\n"
        "def wait(*_, **__): print('reading', flush=True); threading.Event().wait()\n"
        "reading.read = wait\n"
        "main(['list'])"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"reading\n"
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=60)
    assert (process.returncode, output, errors) == (130, b"", b"")


def test_an_error_that_nobody_expected_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ValueError("two\nlines")

    monkeypatch.setattr(reading, "read", fail)
    with pytest.raises(ValueError, match="two"):
        run("list")
    monkeypatch.setenv("SCALY_VIZ_STRICT", "0")
    error = error_of("list")
    assert error.startswith("unexpected ValueError at test_command.py:")
    assert r": two\nlines (a bug of scaly-viz" in error


def test_a_file_that_may_not_be_read_is_said_in_one_line(local: Path) -> None:
    local.chmod(0)
    done = subprocess.run(
        [*COMMAND, "list", "--recording-path", local],
        capture_output=True,
        preexec_fn=_read_as_others_do,
        timeout=60,
        check=False,
    )
    error = f"scaly-viz: error: {local}: permission denied\n"
    assert (done.returncode, done.stdout, done.stderr.decode()) == (1, b"", error)


def _read_as_others_do() -> None:
    """Have root, whom no permission stops, run the next program without that power."""
    libc = ctypes.CDLL(None, use_errno=True)
    for capability in (_CAP_DAC_OVERRIDE, _CAP_DAC_READ_SEARCH):
        if libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0) and os.geteuid() == 0:
            raise OSError(ctypes.get_errno(), "root cannot give up its powers")


@pytest.mark.usefixtures("local")
def test_an_output_that_knows_only_ascii_gets_escapes(local: Path) -> None:
    local.write_text(local.read_text("utf-8").replace("Spring, tuned", "Größe"), "utf-8")
    done = run_process("list", PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, b"")
    assert rb"Gr\xf6\xdfe" in done.stdout
    done = run_process("list", "--json", PYTHONIOENCODING="latin-1")
    assert json.loads(done.stdout.decode("ascii"))[0]["name"] == "Größe"


@pytest.mark.usefixtures("local")
def test_forced_colors_color_tables_but_no_text() -> None:
    assert b"\x1b[" in run_process("list", FORCE_COLOR="1").stdout
    plain = run_process("show", "1", "lowered")
    assert run_process("show", "1", "lowered", FORCE_COLOR="1").stdout == plain.stdout
    assert json.loads(run_process("list", "--json", FORCE_COLOR="1").stdout)
