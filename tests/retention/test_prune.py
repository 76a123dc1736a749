"""Owns the tests of ``scaly-viz prune`` on real files: what goes, and above all what stays."""

from __future__ import annotations

import gzip
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import zstandard

import scaly_viz
from cli.running import error_of, output_of, run
from scaly_viz.retention.inventory import Inventory
from scaly_viz.retention.rewrite import rewrite
from scaly_viz.sources import fail, load
from scaly_viz.sources.files import segments
from scaly_viz_exporters.file_lock import writers_lock
from scaly_viz_viewer.index import RecordingIndex
from viewer.recorded import Recorder

FOREIGN = (
    b'{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"0af7651916cd43dd8448eb211c80319c",'
    b'"spanId":"b7ad6b7169203331","name":"GET /","startTimeUnixNano":"1","endTimeUnixNano":"2"}]}]}]}'
)


@pytest.fixture
def path(recording_folder: Path) -> Path:
    """The local file."""
    return recording_folder / "recordings.jsonl"


def functions(path: Path) -> list[str]:
    """Return the functions of the recordings at ``path``, all of which are whole."""
    found = load(path, fail)
    assert [recording.problems for recording in found] == [[]] * len(found)
    return [recording.function for recording in found]


def content(path: Path) -> bytes:
    """Return the bytes of all segments, oldest first."""
    return b"".join(file.read_bytes() for file in segments(path) if file.exists())


def lines_without(path: Path, *ids: str) -> bytes:
    """Return the lines that do not belong to these recordings, as they are."""
    lines = content(path).splitlines(keepends=True)
    return b"".join(line for line in lines if not any(id_.encode() in line for id_ in ids))


def test_the_oldest_go_from_a_file_and_its_segments_and_the_rest_is_as_it_was(path: Path) -> None:
    recorder = Recorder(path, segment_bytes=6_000)
    ids = [recorder.record(f"f{i}") for i in range(12)]
    assert len(segments(path)) > 3
    index = RecordingIndex(path)
    [*index.refresh()]
    expected = lines_without(path, *ids[:7])
    size = len(content(path)) - len(expected)

    dry = json.loads(output_of("prune", "--keep", "5", "--dry-run", "--json"))
    assert functions(path) == [f"f{i}" for i in range(12)]
    said = json.loads(output_of("prune", "--keep", "5", "--json"))

    assert said == dry | {"dry_run": False}
    assert [each["id"] for each in said["removed"]] == ids[:7]
    assert (said["removed_bytes"], said["kept"]) == (size, 5)
    assert content(path) == expected
    assert functions(path) == [f"f{i}" for i in range(7, 12)]
    assert not [*path.parent.glob("*.tmp")]
    assert {file.stat().st_mode & 0o777 for file in segments(path)} == {0o600}
    [*index.refresh()]
    assert [id_ in index for id_ in ids] == [False] * 7 + [True] * 5
    opened = index.open(ids[-1])
    assert opened is not None
    assert opened.complete
    recorder.record("later")
    assert functions(path)[-1] == "later"


def test_a_summary_tells_people_what_goes_and_what_stays(path: Path) -> None:
    recorder = Recorder(path)
    recorder.record("cost")
    recorder.record("test_cost")
    said = output_of("prune", "--function", "test_*").splitlines()
    assert said[1].split()[1:3] == ["test_cost", "test_cost"]
    size = r"\([1-9][0-9.]* kB\)"
    assert re.fullmatch(
        rf"1 recording {size} removed, 1 {size} left in {re.escape(str(path))}", said[-1]
    )
    assert output_of("prune", "--function", "test_*").startswith(
        "0 recordings (0 bytes) removed, 1"
    )


def test_lines_of_others_and_damaged_ones_stay_unless_asked(path: Path) -> None:
    recorder = Recorder(path)
    old = recorder.record("old")
    garbage = b'{"resourceSpans":[{"torn\n{\nnot json\n' + FOREIGN + b"\n"
    with path.open("ab") as file:
        file.write(garbage)
    new = recorder.record("new")
    with path.open("ab") as file:
        file.write(b'{"resourceSpans":[{"torn at the end')
    expected = lines_without(path, old)

    result = run("prune", "--keep", "1")
    assert result.exit_code == 0
    assert content(path) == expected
    said = json.loads(output_of("prune", "--damaged", "--json"))
    assert (said["damaged_lines"], said["removed"], said["kept"]) == (4, [], 1)
    assert content(path) == FOREIGN + b"\n" + lines_without(path, FOREIGN.decode())
    assert functions(path) == ["new"]
    assert load(path, fail)[0].id == new


@pytest.mark.parametrize("packing", [".gz", ".zst"])
def test_compressed_segments_stay_compressed(packing: str, path: Path) -> None:
    recorder = Recorder(path, segment_bytes=12_000)
    for i in range(6):
        recorder.record(f"f{i}")
    first = segments(path)[0]
    pack = gzip.compress if packing == ".gz" else zstandard.ZstdCompressor().compress
    packed = first.with_name(first.name + packing)
    packed.write_bytes(pack(first.read_bytes()))
    first.unlink()

    output_of("prune", "--function", "f0")
    assert functions(path) == [f"f{i}" for i in range(1, 6)]
    head = packed.read_bytes()[:4]
    assert head.startswith(b"\x1f\x8b" if packing == ".gz" else b"\x28\xb5\x2f\xfd")
    output_of("prune", "--keep", "0")
    assert [file for file in segments(path) if file.exists()] == []


def test_a_recording_in_the_making_stays(path: Path) -> None:
    recorder = Recorder(path)
    running = recorder.begin("running")
    running.add({"assembly": "a\n"})
    recorder.record("done")
    begun = next(span.start_ns for span in load(path, lambda _: None)[0].spans) / 1e9
    soon = Inventory(path, fail).holdings(begun + 120)
    assert {each.summary.function: each.kept_for for each in soon} == {
        "running": "it may still be written",
        "done": "",
    }
    later = Inventory(path, fail).holdings(begun + 7200)
    assert [each.kept_for for each in later] == ["", ""]
    running.finish()


def test_recordings_that_share_a_line_with_what_stays_stay(path: Path) -> None:
    recorder = Recorder(path)
    for name in ("a", "b", "c"):
        recorder.record(name)
    lines = [json.loads(line) for line in content(path).splitlines()]
    # As a Collector's batches: a's last span with b's first one, and all of c in one.
    batches = [lines[:3], lines[3:5], lines[5:8], lines[8:]]
    path.write_text(
        "".join(
            json.dumps({"resourceSpans": [r for line in batch for r in line["resourceSpans"]]})
            + "\n"
            for batch in batches
        )
    )
    before = content(path)
    said = json.loads(output_of("prune", "--function", "a", "--json"))
    assert (said["removed"], said["kept"], content(path)) == ([], 3, before)
    output_of("prune", "--function", "c")
    assert functions(path) == ["a", "b"]
    output_of("prune", "--function", "[ab]")
    assert not path.exists()


def test_what_is_appended_or_rotated_meanwhile_stays(path: Path) -> None:
    recorder = Recorder(path, segment_bytes=50_000)
    old = recorder.record("old")
    recorder.record("kept")
    inventory = Inventory(path, fail)
    recorder.record("appended")
    path.rename(path.with_name("recordings-0000000007.jsonl"))
    recorder.record("in the next file")
    rewrite(inventory, {old}, damaged=False)
    assert functions(path) == ["kept", "appended", "in the next file"]


def test_nothing_is_changed_where_another_holds_the_lock(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Recorder(path).record("f")
    before = content(path)
    monkeypatch.setattr("scaly_viz.retention.rewrite._LOCK_TIMEOUT_S", 0.05)
    with writers_lock(path, 1.0) as locked:
        assert locked
        assert "its lock is held by another process" in error_of("prune", "--keep", "0")
    assert content(path) == before


def test_a_full_disk_changes_nothing(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recorder = Recorder(path)
    for name in ("a", "b"):
        recorder.record(name)
    before = content(path)

    def full(*_: object) -> Iterator[bytes]:
        yield b"half of it"
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("scaly_viz.retention.rewrite._without", full)
    assert error_of("prune", "--keep", "1") == "No space left on device"
    assert content(path) == before
    assert not [*path.parent.glob("*.tmp")]


def test_a_process_that_is_killed_leaves_the_old_file_and_its_copy_goes_next_time(
    path: Path,
) -> None:
    Recorder(path).record("f")
    before = content(path)
    script = (
        "import os, signal, sys\n"
        "from scaly_viz.retention import rewrite\n"
        "rewrite._put_in_place = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\n"
        "from scaly_viz.cli import main\n"
        "main(['prune', '--damaged'])\n"
    )
    with path.open("ab") as file:
        file.write(b"torn\n")
    done = subprocess.run([sys.executable, "-c", script], timeout=60, check=False)
    (copy,) = path.parent.glob("*.tmp")
    assert (done.returncode, content(path)) == (-9, before + b"torn\n")
    assert [recording.function for recording in load(path.parent, lambda _: None)] == ["f"]
    os.utime(copy, (1, 1))
    output_of("prune", "--damaged")
    assert (content(path), [*path.parent.glob("*.tmp")]) == (before, [])


@pytest.mark.slow
def test_nothing_of_four_writers_is_lost_while_old_recordings_go(path: Path) -> None:
    recorder = Recorder(path, segment_bytes=20_000)
    for _ in range(20):
        recorder.record("old")
    script = (
        "import sys\n"
        "from pathlib import Path\n"
        "from viewer.recorded import Recorder\n"
        "recorder = Recorder(Path(sys.argv[1]), segment_bytes=20_000)\n"
        "for i in range(40):\n"
        "    recorder.record(f'new_{sys.argv[2]}_{i}')\n"
    )
    tests = str(Path(__file__).parents[1])
    paths = os.pathsep.join(filter(None, (tests, os.environ.get("PYTHONPATH"))))
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", script, str(path), str(n)],
            env=os.environ | {"PYTHONPATH": paths},
        )
        for n in range(4)
    ]
    while any(writer.poll() is None for writer in writers):
        recorder.record("old")
        output_of("prune", "--function", "old", "--json")
    assert [writer.returncode for writer in writers] == [0] * 4
    output_of("prune", "--function", "old")
    expected = sorted(f"new_{n}_{i}" for n in range(4) for i in range(40))
    assert sorted(functions(path)) == expected


def test_scaly_viz_own_file_is_pruned_only_where_it_is_named(
    path: Path, recording_folder: Path
) -> None:
    Recorder(path).record("ours")
    theirs = recording_folder / "recordings.json"
    kept = {"id": "1", "name": "a", "function": "a", "started_at": 5e8, "error": None, "steps": []}
    theirs.write_text(json.dumps([kept, kept | {"id": "2", "name": "b", "function": "b"}]))
    before = theirs.read_bytes()
    output_of("prune", "--keep", "0", "--recording-path", recording_folder)
    assert theirs.read_bytes() == before
    output_of("prune", "--function", "b", "--recording-path", theirs)
    assert json.loads(theirs.read_bytes()) == [kept]
    assert scaly_viz.load_recordings(theirs) == [kept]


def test_a_wrong_call_is_told_and_removes_nothing(path: Path) -> None:
    Recorder(path).record("f")
    for words in (
        (),
        ("--older-than", "soon"),
        ("--max-bytes", "5 potatoes"),
        ("--keep", "-1"),
        ("--status", "odd"),
    ):
        assert run("prune", *words).exit_code == 2
    assert error_of("prune", "--keep", "1", "--recording-path", "no/such") == (
        "no/such: no such file or folder"
    )
    assert "looks after its own" in error_of(
        "prune", "--keep", "1", "--recording-path", "jaeger:http://localhost:1"
    )
    assert functions(path) == ["f"]


def test_where_there_is_nothing_nothing_goes(path: Path) -> None:
    assert output_of("prune", "--keep", "0") == (
        f"0 recordings (0 bytes) removed, 0 (0 bytes) left in {path}\n"
    )
    assert not path.parent.exists()


def test_ages_dates_and_sizes_are_understood(path: Path) -> None:
    Recorder(path).record("f")
    for words in (
        ("--older-than", "2001-01-31"),
        ("--older-than", "2001-01-31T10:00:00+02:00"),
        ("--older-than", "100y"),
        ("--max-bytes", "1GiB"),
        ("--max-bytes", "1.5 MB"),
        ("--max-bytes", "1000000"),
    ):
        assert json.loads(output_of("prune", *words, "--json"))["removed"] == []
    assert len(json.loads(output_of("prune", "--max-bytes", "1kB", "--json"))["removed"]) == 1
