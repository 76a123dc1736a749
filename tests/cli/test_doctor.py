"""Owns the tests of ``scaly-viz doctor``: each makes one thing wrong, and wants it told with what to do."""

from __future__ import annotations

import json
import os
import socket
from pathlib import Path
from typing import Any

import pytest

import scaly_viz
from exporters.receivers import http_receiver
from scaly_viz_exporters.outbox import Outbox

from .files import lines_of, write_lines
from .running import run, run_on_terminal, run_process

type Finding = dict[str, str]


def findings(*options: str, expected_code: int = 0) -> list[Finding]:
    result = run("doctor", "--no-trial", "--json", *options)
    assert (result.exit_code, result.stderr) == (expected_code, "")
    told: dict[str, Any] = json.loads(result.stdout)
    problems = [each for each in told["findings"] if each["verdict"] == "problem"]
    assert told["problems"] == len(problems)
    assert all(each["advice"] for each in problems)
    found: list[Finding] = told["findings"]
    return found


def one(found: list[Finding], part: str) -> Finding:
    (finding,) = [each for each in found if part in each["text"]]
    return finding


@pytest.mark.slow
def test_where_all_is_well_every_line_is_fine_and_the_trial_leaves_nothing(
    recording_folder: Path,
) -> None:
    done = run_process("doctor", SCALY_VIZ_STRICT="0")
    lines = done.stdout.decode().splitlines()
    assert (done.returncode, done.stderr) == (0, b"")
    assert {line.split()[0] for line in lines} <= {"ok", "note", "->"}
    (trial,) = [line for line in lines if "the hook can be armed" in line]
    assert "left a recording of 1" in trial
    assert any(f"will go to {recording_folder}" in line for line in lines)
    assert not recording_folder.exists()


def test_bad_values_and_unknown_variables_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCALY_VIZ_MAX_BYTES", "2GB")
    monkeypatch.setenv("SCALY_VIZ_BACKEND_TIMEOUT", "long")
    monkeypatch.setenv("SCALY_VIZ_EXPORTER", "otlp")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "http")
    found = findings(expected_code=1)
    for value in (
        "SCALY_VIZ_MAX_BYTES='2GB'",
        "SCALY_VIZ_BACKEND_TIMEOUT='long'",
        "PROTOCOL='http'",
    ):
        assert one(found, value)["verdict"] == "problem"
    typo = one(found, "SCALY_VIZ_EXPORTER is set")
    assert (typo["verdict"], typo["advice"]) == ("warning", "is SCALY_VIZ_EXPORTERS meant?")


def test_exporters_are_told_with_what_each_will_do(
    monkeypatch: pytest.MonkeyPatch, recording_folder: Path
) -> None:
    monkeypatch.setenv("SCALY_VIZ_EXPORTERS", "json,console,none,no_such")
    found = findings(expected_code=1)
    assert one(found, "json: ")["text"] == f"json: appends to {recording_folder}/recordings.jsonl"
    assert "ConsoleSpanExporter" in one(found, "console: ")["text"]
    assert one(found, "none: ")["verdict"] == "note"
    unknown = one(found, "no_such: ")
    assert (unknown["verdict"], unknown["text"]) == (
        "problem",
        "no_such: is not installed, and left out",
    )
    assert unknown["advice"].startswith("known are: console, json, none, ")


def test_a_disabled_sdk_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_SDK_DISABLED", "true")
    assert one(findings(expected_code=1), "no render is recorded")["advice"] == (
        "unset OTEL_SDK_DISABLED"
    )


def test_a_backend_is_asked_and_what_waits_for_it_is_told(
    monkeypatch: pytest.MonkeyPatch, recording_folder: Path
) -> None:
    monkeypatch.setenv("SCALY_VIZ_EXPORTERS", "otlp")
    outbox = Outbox(recording_folder / "outbox", 10**9)
    outbox.append(b"{}\n" * 10_000)
    with http_receiver() as receiver:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.url)
        found = findings()
        assert one(found, "takes OTLP")["text"] == (
            f"{receiver.url}/v1/traces takes OTLP by http/protobuf"
        )
        waiting = one(found, "wait in")
        assert (waiting["verdict"], waiting["text"]) == (
            "note",
            f"0.03 MB wait in {outbox.folder} for a backend",
        )
    refused = one(findings(expected_code=1), "Connection refused")
    assert refused["area"] == "backend"


def test_a_backend_that_is_silent_costs_no_more_than_its_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{port}")
        found = findings("--timeout", "0.3", expected_code=1)
    assert "no answer within 0.3 s" in one(found, f"http://127.0.0.1:{port}")["text"]


def test_a_folder_that_others_may_read_or_nobody_can_make_is_told(
    monkeypatch: pytest.MonkeyPatch, recording_folder: Path, tmp_path: Path
) -> None:
    recording_folder.mkdir()
    recording_folder.chmod(0o755)
    open_ = one(findings(), "others may look into")
    assert (open_["verdict"], open_["advice"]) == ("warning", f"chmod 700 {recording_folder}")

    (recording_folder / "recordings.jsonl").symlink_to(tmp_path / "elsewhere")
    assert "no regular file" in one(findings(expected_code=1), "nothing is written to it")["text"]

    monkeypatch.setenv("SCALY_VIZ_DIR", str(tmp_path / "file" / "viz"))
    (tmp_path / "file").write_text("")
    assert one(findings(expected_code=1), "cannot be made")["area"] == "storage"


def test_a_full_disk_is_told(monkeypatch: pytest.MonkeyPatch, recording_folder: Path) -> None:
    class Usage:
        total = 100 * 10**9
        free = 50 * 10**6

    monkeypatch.setattr("shutil.disk_usage", lambda _: Usage)
    full = one(findings(expected_code=1), "only 50 MB are free")
    assert full["advice"] == "set SCALY_VIZ_DIR to a folder on another disk"
    write_lines(recording_folder / "recordings.jsonl", [])
    full = one(findings(expected_code=1), "only 50 MB are free")
    assert full["advice"].startswith("scaly-viz prune --older-than 30d, or set")
    Usage.total = Usage.free = 0  # as of /proc
    assert not [each for each in findings() if "free" in each["text"]]


def test_lines_that_cannot_be_read_are_counted(local: Path) -> None:
    assert not [each for each in findings() if "cannot be read" in each["text"]]
    count = len(lines_of(local))
    with local.open("ab") as file:
        file.write(b"\xff\x00garbage\n[1]\n")
    bad = one(findings(), f"2 of {count + 2} lines cannot be read")
    assert f"recordings.jsonl:{count + 1}: not JSON" in bad["text"]
    assert (bad["verdict"], "prune --damaged" in bad["advice"]) == ("warning", True)
    local.write_bytes(b"\xff\x00garbage\n")
    assert one(findings(), "1 of 1 lines cannot be read")


def test_variables_of_opentelemetry_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_RESOURCE_ATTRIBUTES", "team=mpc,nonsense")
    monkeypatch.setenv("OTEL_EXPERIMENTAL_RESOURCE_DETECTORS", "process,nobody")
    monkeypatch.setenv("OTEL_SERVICE_NAME", "mpc")
    monkeypatch.setenv("OTEL_TRACES_SAMPLER", "always_on")
    found = findings(expected_code=1)
    assert one(found, "'nonsense' is no key=value")["verdict"] == "problem"
    assert one(found, "'nobody' is unknown")["verdict"] == "problem"
    assert "OTEL_SERVICE_NAME" in one(found, "set, and understood")["text"]
    assert one(found, "OTEL_TRACES_SAMPLER")["verdict"] == "note"
    assert not [each for each in found if "no variable is set" in each["text"]]


def test_a_relative_folder_is_another_in_each_working_directory(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SCALY_VIZ_DIR", "viz")
    note = one(findings(), "each working directory has its own")
    assert (note["verdict"], str(tmp_path / "viz") in note["text"]) == ("note", True)


def test_without_scaly_recordings_can_be_read_and_that_is_no_problem(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("scaly_viz.cli.checks.compiler.find_spec", lambda _: None)
    assert one(findings(), "scaly is not installed")["verdict"] == "note"


def test_a_missing_page_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scaly_viz.cli.checks.installation._ASSETS", ("index.html", "lost.js"))
    found = findings(expected_code=1)
    assert one(found, "lacks")["area"] == "viewer"
    assert "lost.js" in one(found, "lacks")["text"]


def test_on_a_terminal_verdicts_have_colors_unless_nobody_wants_them() -> None:
    environ = {"SCALY_VIZ_STRICT": "0", "OTEL_SDK_DISABLED": "true"}
    code, screen = run_on_terminal("doctor", "--no-trial", environ=environ)
    assert code == 1
    assert "\x1b[1;31mproblem" in screen
    _, screen = run_on_terminal("doctor", "--no-trial", environ=environ | {"NO_COLOR": "1"})
    assert "\x1b[1;31m" not in screen
    assert scaly_viz.__version__ in screen
    assert os.environ.get("OTEL_SDK_DISABLED") is None
