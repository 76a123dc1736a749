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


def install(folder: Path) -> Path:
    """Return the installed command, in ``folder``."""
    command = folder / "scaly-viz"
    command.write_text(COMMAND, "utf-8")
    command.chmod(0o755)
    return command


def completed(folder: Path, *words: str) -> list[str]:
    """Return what a bash completes for ``words``, the last of which is begun."""
    install(folder)
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
    return done.stdout.splitlines()


@pytest.mark.slow
def test_bash_completes_commands_recordings_steps_and_functions(
    local: Path, as_recorded: list[dict[str, object]], tmp_path: Path
) -> None:
    assert completed(tmp_path, "d") == ["diff", "doctor"]
    ids = [str(recording["id"])[:8] for recording in reversed(as_recorded)]
    names = ["damper", "high_rank", "spring", r"Spring\,\ tuned"]
    assert completed(tmp_path, "show", "") == ["last", *ids, *names]
    assert completed(tmp_path, "show", "S") == names[-1:]
    assert completed(tmp_path, "show", ids[0][:7]) == ids[:1]
    assert "fuse_ranges" in completed(tmp_path, "diff", ids[-1], "fuse_r")
    assert completed(tmp_path, "list", "--function", "s") == ["spring"]
    assert completed(tmp_path, "show", "spring", "gen") == [r"generated\ C"]
    assert completed(tmp_path, "show", "spring", "pass:fuse_r") == ["pass:fuse_ranges"]
    assert completed(tmp_path, "show", "spring", "pass", ":", "fuse_r") == ["fuse_ranges"]
    assert completed(tmp_path, "show", "spring", "expression", "--kind", "c") == ["code"]
    assert completed(tmp_path, "export", "spring", "--step", "pass", ":")[0] == "hoist_invariant"
    assert completed(tmp_path, "export", "--format", "p") == ["perfetto"]
    assert completed(tmp_path, "export", "--keep", "paths,h") == [r"paths\,hosts"]
    assert completed(tmp_path, "export", "nosuch", "--step", "f") == [""]
    assert completed(tmp_path, "list", "--sta") == ["--status"]
    assert completed(tmp_path, "list", "--status", "f") == ["failed"]
    there = ("--recording-path", str(local))
    assert completed(tmp_path, "show", *there, "l") == ["last"]
    nowhere = ("--recording-path", "/no/such/file")
    assert completed(tmp_path, "show", *nowhere, "") == ["last"]


@pytest.mark.usefixtures("local")
@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_are_told_the_same(shell: str, tmp_path: Path) -> None:
    asked = {
        "_SCALY_VIZ_COMPLETE": f"{shell}_complete",
        "COMP_WORDS": "scaly-viz export 'Spring, tuned' --step gen",
        "COMP_CWORD": {"zsh": "4", "fish": "gen"}[shell],
    }
    told = subprocess.run(
        [install(tmp_path)], env=os.environ | asked, capture_output=True, timeout=60, check=True
    )
    assert b"generated C" in told.stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_takes_its_script(shell: str) -> None:
    script = output_of("completion", shell)
    assert "_SCALY_VIZ_COMPLETE=" in script
    found = shutil.which(shell)
    if found is not None:
        subprocess.run([found, "-n"], input=script, text=True, timeout=60, check=True)
