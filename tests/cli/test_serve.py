"""Owns the tests of ``scaly-viz serve``, up to where the viewer takes over."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import scaly_viz_viewer

from .running import COMMAND, error_of, output_of, run

type Calls = list[dict[str, Any]]


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Calls:
    """What the viewer is asked for; it is not started, as it would serve until interrupted."""
    calls: Calls = []
    serve: Callable[..., None] = lambda **options: calls.append(options)  # noqa: E731
    monkeypatch.setattr(scaly_viz_viewer, "serve", serve)
    return calls


DEFAULTS = {
    "host": "127.0.0.1",
    "port": 8000,
    "path": None,
    "open_browser": False,
    "recording": None,
}


@pytest.mark.parametrize("arguments", [(), ("serve",)])
def test_without_a_command_the_local_recordings_are_served(
    arguments: tuple[str, ...], calls: Calls
) -> None:
    assert output_of(*arguments) == ""
    assert calls == [DEFAULTS]


def test_sources_and_options_are_passed_on(tmp_path: Path, calls: Calls) -> None:
    source = tmp_path / "run.jsonl"
    source.touch()
    options = ("--host", "::1", "--port", "0", "--browser")
    output_of(source, *options)
    output_of(*options, source)
    output_of("serve", *options, "--recording-path", source)
    output_of(source, tmp_path)
    expected = DEFAULTS | {
        "host": "::1",
        "port": 0,
        "path": [str(source)],
        "open_browser": True,
    }
    assert calls == [
        expected,
        expected,
        expected,
        DEFAULTS | {"path": [str(source), str(tmp_path)]},
    ]


def test_a_source_called_like_a_command_can_be_served(
    tmp_path: Path, calls: Calls, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("list").touch()
    for arguments in (("serve", "list"), ("./list",), ("--", "list")):
        output_of(*arguments)
    assert [call["path"] for call in calls] == [["list"]] * 3


def test_a_source_must_be_there(calls: Calls) -> None:
    assert error_of("run.jsonl") == "run.jsonl: no such file or folder"
    assert error_of("lst") == "lst: no such file or folder (did you mean the command 'list'?)"
    assert calls == []


def test_the_recording_path_may_be_yet_to_come(tmp_path: Path, calls: Calls) -> None:
    path = tmp_path / "soon.jsonl"
    result = run("--recording-path", path)
    assert (result.exit_code, result.stderr) == (
        0,
        f"scaly-viz: warning: {path}: no such file yet\n",
    )
    assert calls == [DEFAULTS | {"path": [str(path)]}]
    assert error_of("--recording-path", tmp_path / "no" / "folder") == (
        f"{tmp_path / 'no' / 'folder'}: no such file or folder"
    )


def test_a_backend_is_left_to_the_viewer(calls: Calls) -> None:
    output_of("jaeger:http://localhost:16686")
    assert calls == [DEFAULTS | {"path": ["jaeger:http://localhost:16686"]}]


def test_a_port_in_use_is_said_in_one_line() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        assert f"port {port}" in error_of("serve", "--port", str(port))


@pytest.mark.usefixtures("local")
def test_the_viewer_serves_until_it_is_interrupted() -> None:
    environ = os.environ | {"PYTHONUNBUFFERED": "1"}
    command = [*COMMAND, "--port", "0"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environ
    ) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            url = next(word for word in line.split() if word.startswith("http://"))
            with urllib.request.urlopen(f"{url}api/v1/recordings", timeout=30) as answer:
                assert answer.status == 200
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=60)
        finally:
            process.kill()
    assert (process.returncode, errors) == (0, "")
