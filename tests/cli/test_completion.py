"""Owns the tests of what shells complete, by the real shells where there are some."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from .running import output_of

COMMAND = f"""#!{sys.executable}
import sys
from scaly_viz.cli import main
sys.exit(main(prog_name="scaly-viz"))
"""


def completed(folder: Path, *words: str) -> list[str]:
    """Return what a bash completes for ``words``, the last of which is begun."""
    command = folder / "scaly-viz"
    command.write_text(COMMAND, "utf-8")
    command.chmod(0o755)
    script = output_of("completion", "bash") + (
        'COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _scaly_viz_completion scaly-viz\n'
        'printf "%s\\n" "${COMPREPLY[@]}"\n'
    )
    bash = shutil.which("bash")
    assert bash is not None
    done = subprocess.run(
        [bash, "-c", script, "bash", "scaly-viz", *words],
        env=os.environ | {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.slow
def test_bash_completes_commands_recordings_steps_and_functions(
    local: Path, as_recorded: list[dict[str, object]], tmp_path: Path
) -> None:
    assert completed(tmp_path, "d") == ["diff", "doctor"]
    ids = [str(recording["id"])[:8] for recording in reversed(as_recorded)]
    assert completed(tmp_path, "show", "") == ["last", *ids]
    assert completed(tmp_path, "show", ids[0][:7]) == ids[:1]
    assert "fuse_ranges" in completed(tmp_path, "diff", ids[-1], "fuse_r")
    assert completed(tmp_path, "list", "--function", "s") == ["spring"]
    assert completed(tmp_path, "list", "--sta") == ["--status"]
    assert completed(tmp_path, "list", "--status", "f") == ["failed"]
    there = ("--recording-path", str(local))
    assert completed(tmp_path, "show", *there, "l") == ["last"]
    nowhere = ("--recording-path", "/no/such/file")
    assert completed(tmp_path, "show", *nowhere, "") == ["last"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_takes_its_script(shell: str) -> None:
    script = output_of("completion", shell)
    assert "_SCALY_VIZ_COMPLETE=" in script
    found = shutil.which(shell)
    if found is not None:
        subprocess.run([found, "-n"], input=script, text=True, timeout=60, check=True)
