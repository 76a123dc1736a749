"""The local file of many at once: threads, forks, processes, one that stops and one that is killed."""

from __future__ import annotations

import errno
import io
import os
import signal
import threading
from pathlib import Path

import pytest

from scaly_viz.sources.files import Follower, read_spans
from scaly_viz.span_record import SpanRecord
from scaly_viz_exporters import file_lock, json_file, segments
from scaly_viz_exporters.file_lock import lock_path, writers_lock
from scaly_viz_exporters.json_file import JsonFileExporter

from .local_file import Process, fail_on_report, fork, names, read
from .made_spans import made


def test_a_writer_killed_in_the_middle_costs_at_most_what_it_was_writing(path: Path) -> None:
    code = """
exporter = JsonFileExporter(sys.argv[1])
for number in itertools.count():
    exporter.export(made(f"{number}", text="x" * 3_000_000))
    print(number, flush=True)
"""
    writer = Process(code, path)
    told = [writer.line() for _ in range(5)]
    told += writer.kill()
    JsonFileExporter(path).export(made("after the kill"))
    reports: list[str] = []
    found = [span.name for span in read_spans(path, reports.append)]
    assert found[: len(told)] == told
    assert found[-1] == "after the kill"
    assert len(found) - len(told) in (1, 2)  # the last may be whole, but not told of any more
    assert len(reports) <= 1


def test_a_stopped_process_that_has_the_lock_does_not_stop_the_others(
    path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(json_file, "LOCK_TIMEOUT_S", 0.05)
    exporter = JsonFileExporter(path, segment_bytes=1)
    exporter.export(made("before"))
    code = """
with writers_lock(Path(sys.argv[1]), 10):
    os.kill(os.getpid(), signal.SIGSTOP)
"""
    stopped = Process(code, path)
    _, status = os.waitpid(stopped.process.pid, os.WUNTRACED)
    assert os.WIFSTOPPED(status)
    try:
        exporter.export(made("meanwhile"))
        monkeypatch.setattr(json_file, "LOCK_TIMEOUT_S", 1e9)  # the next is not to wait as long
        exporter.export(made("again"))
        assert names(path) == ["before", "meanwhile", "again"]
        [warning] = [record for record in caplog.records if record.levelname == "WARNING"]
        assert warning.getMessage() == (
            f"{path}: its lock is held or unsupported; written to without it"
        )
        assert segments.rotated(path) == []  # nobody renames a file without the lock
    finally:
        stopped.process.send_signal(signal.SIGCONT)
        stopped.rest()
    exporter.export(made("after"))
    assert names(path) == ["before", "meanwhile", "again", "after"]
    assert len(segments.rotated(path)) == 1


def test_a_deleted_lock_file_lets_nobody_in_beside_its_holder(path: Path) -> None:
    path.parent.mkdir()
    with writers_lock(path, 0) as first:
        lock_path(path).unlink()
        with writers_lock(path, 0) as second, writers_lock(path, 0) as third:
            assert (first, second, third) == (True, True, False)


def test_a_lock_file_that_is_deleted_just_before_it_is_locked_is_made_again(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was locked keeps nobody out: locked must be the file that the next one will find."""
    path.parent.mkdir()
    really_lock = file_lock._lock

    def lock_what_was_deleted(file: io.FileIO) -> None:
        monkeypatch.setattr(file_lock, "_lock", really_lock)
        lock_path(path).unlink()
        really_lock(file)

    monkeypatch.setattr(file_lock, "_lock", lock_what_was_deleted)
    with writers_lock(path, 60) as first, writers_lock(path, 0) as second:
        assert (first, second) == (True, False)


def test_a_file_system_without_locks_is_written_to_all_the_same(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(file: io.FileIO) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(file_lock, "_lock", refuse)
    JsonFileExporter(path).export(made("render f"))
    assert names(path) == ["render f"]


def test_a_forked_child_exports_though_a_thread_of_its_parent_had_the_lock(path: Path) -> None:
    exporter = JsonFileExporter(path)
    exporter.export(made("parent"))
    has_lock, may_release = threading.Event(), threading.Event()

    def hold() -> None:
        with writers_lock(path, 10):
            has_lock.set()
            may_release.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    has_lock.wait()
    child = fork()
    if child == 0:
        try:
            exporter.export(made("child"))
            os._exit(0)
        finally:
            os._exit(1)
    may_release.set()
    thread.join()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert names(path) == ["parent", "child"]


def test_a_forked_child_does_not_keep_its_parents_lock_beyond_the_parents_death(path: Path) -> None:
    path.parent.mkdir()
    child_ready, child_writes = os.pipe()
    child_waits, parent_tells = os.pipe()
    with writers_lock(path, 0):
        child = fork()
        if child == 0:
            os.write(child_writes, b"!")
            os.read(child_waits, 1)
            os._exit(0)
        os.read(child_ready, 1)
        for lock in list(file_lock._held):
            lock.close()  # as the kernel does for a dead process
        with writers_lock(path, 0) as locked:
            assert locked
    os.write(parent_tells, b"!")
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    for descriptor in (child_ready, child_writes, child_waits, parent_tells):
        os.close(descriptor)


def test_threads_of_one_process_write_whole_lines(path: Path) -> None:
    exporter = JsonFileExporter(path, segment_bytes=50_000)
    spans = made(*map(str, range(400)))
    threads = [
        threading.Thread(target=lambda part: [exporter.export([s]) for s in part], args=[part])
        for part in (spans[start::8] for start in range(8))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(names(path), key=int) == [str(number) for number in range(400)]


RENDERS = """
name, path = sys.argv[1:]
exporter = JsonFileExporter(path, segment_bytes=300_000)
provider = TracerProvider(shutdown_on_exit=False)
provider.add_span_processor(SimpleSpanProcessor(exporter))
tracer = provider.get_tracer("test")
print("ready", flush=True)
sys.stdin.readline()
for number in range(25):
    with tracer.start_as_current_span(f"render {name}.{number}"):
        for step in range(27):
            tracer.start_span(f"step {step}", attributes={"body": "x" * 100 * step}).end()
"""


@pytest.mark.slow
def test_eight_processes_keep_their_200_recordings_and_no_reader_sees_half_of_one(
    path: Path,
) -> None:
    expected = [f"render {name}.{number}" for name in range(8) for number in range(25)]
    writers = [Process(RENDERS, name, path) for name in range(8)]
    assert [writer.line() for writer in writers] == ["ready"] * 8
    follower = Follower(path, fail_on_report)
    followed: list[SpanRecord] = []
    for writer in writers:
        assert writer.process.stdin
        writer.process.stdin.write("go\n")
        writer.process.stdin.flush()
    looks = 0
    while any(writer.process.poll() is None for writer in writers):
        steps_of_complete_recordings(read(path))
        followed += follower.poll()
        steps_of_complete_recordings(followed)
        looks += 1
    assert looks > 3
    assert [writer.rest() for writer in writers] == [[]] * 8
    followed += follower.poll()
    assert len(segments.rotated(path)) > 5
    everything = read(path)
    assert len(everything) == len(followed) == 200 * 28
    assert {span.span_id for span in followed} == {span.span_id for span in everything}
    assert sorted(steps_of_complete_recordings(everything)) == sorted(expected)


def steps_of_complete_recordings(read_so_far: list[SpanRecord]) -> list[str]:
    """Return the names of the recordings that have a root; each must have its steps, in order."""
    steps: dict[str, list[str]] = {}
    roots = []
    for span in read_so_far:
        if span.parent_span_id:
            steps.setdefault(span.trace_id, []).append(span.name)
        else:
            assert steps[span.trace_id] == [f"step {number}" for number in range(27)]
            roots.append(span.name)
    return roots
