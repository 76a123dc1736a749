"""The local file: whole lines by many processes at once, whatever happens to one of them."""

from __future__ import annotations

import errno
import io
import json
import logging
import math
import os
import signal
import stat
import subprocess
import sys
import threading
import warnings
from collections.abc import Buffer, Iterator, Mapping
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from opentelemetry.exporter.otlp.json.common.trace_encoder import encode_spans
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExportResult
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from scaly_viz.sources.files import Follower, read_spans
from scaly_viz.sources.otlp_json import decode_line
from scaly_viz.span_record import SpanRecord
from scaly_viz_exporters import file_lock, json_file, segments
from scaly_viz_exporters.file_lock import lock_path, writers_lock
from scaly_viz_exporters.json_file import JsonFileExporter, delete
from scaly_viz_exporters.line_file import append_lines
from scaly_viz_exporters.span_lines import line_of

# The attribute values of the SDK: any depth, any mixture.
type Value = str | bool | int | float | bytes | list[Value] | dict[str, Value] | None

# Comes before the code of each process.
PRELUDE = """
import itertools, os, signal, sys
from pathlib import Path
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from scaly_viz_exporters.file_lock import writers_lock
from scaly_viz_exporters.json_file import JsonFileExporter

def spans(name, **attributes):
    memory = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(memory))
    provider.get_tracer("test").start_span(name, attributes=attributes).end()
    return memory.get_finished_spans()
"""


def spans(*names: str, attributes: Mapping[str, Value] | None = None) -> list[ReadableSpan]:
    """Return finished spans of the real SDK."""
    memory = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(memory))
    tracer = provider.get_tracer("test")
    for name in names:
        tracer.start_span(name, attributes=attributes).end()
    return list(memory.get_finished_spans())


def fail_on_report(text: str) -> None:
    raise AssertionError(text)


def read(path: Path) -> list[SpanRecord]:
    """Read a file in which nothing may be damaged."""
    return list(read_spans(path, fail_on_report))


def names(path: Path) -> list[str]:
    return [span.name for span in read(path)]


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "viz" / "recordings.jsonl"


@pytest.fixture
def umask() -> Iterator[None]:
    """Restore the umask that a test sets."""
    before = os.umask(0)
    os.umask(before)
    yield
    os.umask(before)


class Process:
    """Python code in a process of its own, which tells its progress by lines."""

    def __init__(self, code: str, *arguments: object) -> None:
        command = [sys.executable, "-c", PRELUDE + code, *map(str, arguments)]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        self.process = subprocess.Popen(
            command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def line(self) -> str:
        assert self.process.stdout
        return self.process.stdout.readline().strip()

    def rest(self) -> list[str]:
        """Wait for the good end, and return the words that were not read."""
        output, _ = self.process.communicate()
        assert self.process.returncode == 0
        return output.split()

    def kill(self) -> list[str]:
        """End the process at once, and return the words that were not read."""
        self.process.kill()
        output, _ = self.process.communicate()
        return output.split()


def test_a_span_becomes_the_official_encoders_line(path: Path) -> None:
    [span] = spans("render f", attributes={"scaly.recording.id": "42"})
    assert JsonFileExporter(path).export([span]) is SpanExportResult.SUCCESS
    assert path.read_text().endswith("\n")
    [line] = path.read_text().splitlines()
    assert line == json.dumps(encode_spans([span]).to_dict(), separators=(",", ":"))


def test_spans_exported_together_are_lines_of_their_own_in_their_order(path: Path) -> None:
    JsonFileExporter(path).export(spans("lower", "emit C", "render f"))
    JsonFileExporter(path).export(spans("later"))
    assert names(path) == ["lower", "emit C", "render f", "later"]
    assert [span.origin for span in read(path)] == [f"recordings.jsonl:{n}" for n in (1, 2, 3, 4)]


def test_an_export_of_nothing_touches_no_disk(path: Path) -> None:
    assert JsonFileExporter(path).export([]) is SpanExportResult.SUCCESS
    assert not path.parent.exists()


def test_the_constructor_touches_no_disk_and_the_export_finds_the_configured_folder(
    path: Path,
) -> None:
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("SCALY_VIZ_DIR", str(path.parent))
        exporter = JsonFileExporter()
        assert not path.parent.exists()
        exporter.export(spans("render f"))
    assert names(path) == ["render f"]


def test_without_a_home_folder_the_error_says_what_to_set() -> None:
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("SCALY_VIZ_DIR", "~no-such-user/viz")
        exporter = JsonFileExporter()
        with pytest.raises(OSError, match=r"home directory.*set SCALY_VIZ_DIR"):
            exporter.export(spans("render f"))


def test_the_size_limit_comes_from_the_environment(path: Path) -> None:
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("SCALY_VIZ_MAX_BYTES", "40000")
        exporter = JsonFileExporter(path)
    for _ in range(100):
        exporter.export(spans("x" * 1000))
    assert 20_000 < sum(file.stat().st_size for file in path.parent.iterdir()) <= 40_000


@pytest.mark.parametrize("mask", [0o000, 0o022, 0o777])
def test_only_the_owner_may_read_whatever_the_umask(path: Path, umask: None, mask: int) -> None:
    exporter = JsonFileExporter(path, segment_bytes=1)
    os.umask(mask)
    exporter.export(spans("render f"))
    exporter.export(spans("render g"))
    os.umask(0o022)
    assert mode(path.parent) == 0o700
    files = {file.name: mode(file) for file in path.parent.iterdir()}
    assert files == {
        "recordings.jsonl": 0o600,
        "recordings.jsonl.lock": 0o600,
        "recordings-0000000001.jsonl": 0o600,
    }


def test_a_folder_that_exists_keeps_its_mode(path: Path) -> None:
    path.parent.mkdir(mode=0o755)
    JsonFileExporter(path).export(spans("render f"))
    assert (mode(path.parent), mode(path)) == (0o755, 0o600)


def test_a_file_or_folder_deleted_meanwhile_is_made_again(path: Path) -> None:
    exporter = JsonFileExporter(path)
    exporter.export(spans("one"))
    path.unlink()
    exporter.export(spans("two"))
    assert names(path) == ["two"]
    for file in path.parent.iterdir():
        file.unlink()
    path.parent.rmdir()
    exporter.export(spans("three"))
    assert names(path) == ["three"]


@pytest.mark.parametrize("torn", [b"{", b'{"resourceSpans": [{"resource": {"attr', b"\xf0\x9f"])
def test_a_torn_last_line_does_not_hurt_the_next_recording(path: Path, torn: bytes) -> None:
    exporter = JsonFileExporter(path)
    exporter.export(spans("before"))
    with path.open("ab") as file:
        file.write(torn)
    exporter.export(spans("after"))
    reports: list[str] = []
    assert [span.name for span in read_spans(path, reports.append)] == ["before", "after"]
    [report] = reports
    assert report.startswith("recordings.jsonl:2: not JSON: ")
    assert report.endswith("; the line was left out")


def test_one_span_that_cannot_be_encoded_does_not_cost_the_others(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    deep: Value = "bottom"
    for _ in range(400):
        deep = [deep]
    [good] = spans("good")
    [bad] = spans("bad", attributes={"deep": deep})
    assert JsonFileExporter(path).export([bad, good]) is SpanExportResult.FAILURE
    assert names(path) == ["good"]
    assert "span 'bad' cannot be written as OTLP JSON and is left out" in caplog.text


def test_after_the_shutdown_spans_are_refused_and_said_to_be_lost(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    exporter = JsonFileExporter(path)
    exporter.export(spans("in time"))
    assert exporter.force_flush()
    exporter.shutdown()
    assert exporter.export(spans("late")) is SpanExportResult.FAILURE
    assert names(path) == ["in time"]
    assert "1 spans came after the exporter's shutdown and are lost" in caplog.text


# What a value may contain


scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(st.characters(codec=None))
    | st.binary()
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner) | st.dictionaries(st.text(min_size=1), inner),
    max_leaves=8,
)


def as_read(value: Value) -> Value:
    """Return what OTLP keeps of ``value``: integers beyond 64 bits become text."""
    if isinstance(value, (list, tuple)):
        return [as_read(item) for item in value]
    if isinstance(value, Mapping):
        return {key: as_read(item) for key, item in value.items()}
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        return str(value)
    return value


@settings(deadline=None)
@given(st.dictionaries(st.text(min_size=1), values), st.text(st.characters(codec=None)))
def test_what_is_written_is_read_back(attributes: dict[str, Value], name: str) -> None:
    [span] = spans(name, attributes=attributes)
    line = line_of(span)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert line.isascii()
    [record] = decode_line(line, "here:1")
    kept = span.attributes or {}
    assert record.attributes == {key: as_read(value) for key, value in kept.items()}  # type: ignore[arg-type]  # the SDK's own type is as wide
    assert record.name == name
    assert (record.start_ns, record.end_ns) == (span.start_time, span.end_time)
    assert record.trace_id == f"{span.context.trace_id:032x}"
    assert record.span_id == f"{span.context.span_id:016x}"


def test_line_ends_nuls_and_emoji_stay_on_one_line(path: Path) -> None:
    text = "a\nb\r\n\0\u2028\x85😀\ud800"
    JsonFileExporter(path).export(spans(text, attributes={text: text}))
    assert path.read_bytes().count(b"\n") == 1
    [span] = read(path)
    assert (span.name, span.attributes) == (text, {text: text})


def test_numbers_that_json_has_not_are_written_as_otlp_json_has_them(path: Path) -> None:
    attributes: dict[str, Value] = {"nan": math.nan, "inf": [math.inf, -math.inf], "big": 2**63}
    JsonFileExporter(path).export(spans("render f", attributes=attributes))

    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    document = json.loads(path.read_text(), parse_constant=refuse)
    [span] = document["resourceSpans"][0]["scopeSpans"][0]["spans"]
    assert {pair["key"]: pair["value"] for pair in span["attributes"]} == {
        "nan": {"doubleValue": "NaN"},
        "inf": {"arrayValue": {"values": [{"doubleValue": v} for v in ("Infinity", "-Infinity")]}},
        "big": {"stringValue": "9223372036854775808"},
    }


def test_text_that_looks_like_a_big_integer_field_is_left_alone(path: Path) -> None:
    text = '"intValue": "99999999999999999999"'
    JsonFileExporter(path).export(spans("render f", attributes={"text": text, "max": 2**63 - 1}))
    [span] = read(path)
    assert span.attributes == {"text": text, "max": 2**63 - 1}


# Rotation and retention


def test_a_full_file_is_renamed_to_the_next_segment(path: Path) -> None:
    exporter = JsonFileExporter(path, max_bytes=10**9, segment_bytes=2000)
    for number in range(9):
        exporter.export(spans(f"render {number}"))
    rotated = [file.name for file in segments.rotated(path)]
    assert rotated == [f"recordings-{number:010}.jsonl" for number in range(1, len(rotated) + 1)]
    assert len(rotated) > 2
    assert all(file.stat().st_size <= 2000 for file in path.parent.iterdir())
    assert names(path) == [f"render {number}" for number in range(9)]


def test_numbers_go_on_after_the_highest_segment_even_a_compressed_one(path: Path) -> None:
    path.parent.mkdir()
    (path.parent / "recordings-0000000041.jsonl.gz").touch()
    (path.parent / "other-0000000077.jsonl").touch()
    (path.parent / "recordings-2026113001.jsonl").touch()  # a date, by the user
    exporter = JsonFileExporter(path, segment_bytes=1)
    exporter.export(spans("one"))
    exporter.export(spans("two"))
    assert [file.name for file in segments.rotated(path)] == [
        "recordings-0000000041.jsonl.gz",
        "recordings-0000000042.jsonl",
    ]


def test_the_oldest_segments_go_when_all_take_too_much_and_the_log_says_so_once(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "scaly_viz")
    exporter = JsonFileExporter(path, max_bytes=10_000, segment_bytes=2500)
    sizes = []
    for number in range(60):
        exporter.export(spans(f"render {number}"))
        sizes.append(sum(file.stat().st_size for file in path.parent.iterdir()))
    assert 7500 < max(sizes) <= 10_000
    kept = names(path)
    assert kept == [f"render {number}" for number in range(60 - len(kept), 60)]
    dropped = [record for record in caplog.records if "deleted" in record.getMessage()]
    assert [record.levelname for record in dropped[:3]] == ["WARNING", "DEBUG", "DEBUG"]
    assert "recordings-0000000001.jsonl: deleted, as the oldest" in dropped[0].getMessage()
    assert "SCALY_VIZ_MAX_BYTES" in dropped[0].getMessage()


def test_a_file_that_cannot_be_renamed_grows_on_and_the_log_says_so_once(
    path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(path: Path) -> Path:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(segments, "rotate", refuse)
    exporter = JsonFileExporter(path, segment_bytes=1)
    for name in ("one", "two", "three"):
        exporter.export(spans(name))
    assert names(path) == ["one", "two", "three"]
    assert [record.getMessage() for record in caplog.records] == [
        f"{path}: cannot be renamed and grows on: [Errno 1] Operation not permitted"
    ]


def test_an_export_bigger_than_every_limit_is_kept_whole(path: Path) -> None:
    exporter = JsonFileExporter(path, max_bytes=1000, segment_bytes=100)
    exporter.export(spans("small"))
    exporter.export(spans("x" * 5000))
    assert names(path) == ["x" * 5000]


def test_an_export_does_not_depend_on_the_size_of_the_file(path: Path) -> None:
    path.parent.mkdir()
    with path.open("wb") as file:
        file.truncate(2**36)  # nobody could read 64 GiB before this test's timeout
    JsonFileExporter(path, max_bytes=2**40, segment_bytes=2**40).export(spans("render f"))
    with path.open("rb") as file:
        file.seek(2**36)
        assert file.read(1) == b"\n"
        assert [span.name for span in decode_line(file.read(), "here")] == ["render f"]


def test_delete_removes_the_file_and_its_segments_and_nothing_else(path: Path) -> None:
    exporter = JsonFileExporter(path, segment_bytes=1)
    for name in ("one", "two", "three"):
        exporter.export(spans(name))
    scaly_viz_file = path.with_name("recordings.json")
    scaly_viz_file.write_text("[]")
    delete(path)
    assert sorted(path.parent.iterdir()) == [scaly_viz_file, lock_path(path)]
    delete(path)
    exporter.export(spans("four"))
    assert names(path) == ["four"]


def test_delete_makes_no_folder(path: Path) -> None:
    delete(path)
    assert not path.parent.exists()


# What stands in the way


def test_a_file_where_the_folder_should_be_is_named_with_the_cause(path: Path) -> None:
    path.parent.write_text("in the way")
    with pytest.raises(OSError, match=f"Not a directory; these spans.*{path}"):
        JsonFileExporter(path).export(spans("render f"))


@pytest.mark.parametrize(
    ("kind", "words"),
    [("link", "is a symbolic link"), ("folder", "is a folder"), ("pipe", "is a pipe")],
)
def test_what_is_no_regular_file_is_not_written_to(path: Path, kind: str, words: str) -> None:
    path.parent.mkdir()
    if kind == "link":
        path.symlink_to(path.parent / "elsewhere")
    elif kind == "folder":
        path.mkdir()
    else:
        os.mkfifo(path)
    with pytest.raises(OSError, match=f"{words}, not a regular file; .*{path}"):
        JsonFileExporter(path).export(spans("render f"))
    assert not (path.parent / "elsewhere").exists()


def test_a_folder_that_may_not_be_written_is_named_with_the_cause(path: Path) -> None:
    code = """
exporter, made = JsonFileExporter(sys.argv[1]), spans("render f")
if os.getuid() == 0:  # whom no mode stops
    os.setuid(65534)
try:
    exporter.export(made)
except PermissionError as error:
    print(error.strerror.replace(" ", "_"), error.filename)
"""
    path.parent.mkdir(mode=0o500)
    words = Process(code, path).rest()
    assert words == ["Permission_denied;_these_spans_are_not_in_the_file", str(path)]


def test_a_full_disk_costs_only_the_spans_that_do_not_fit(path: Path) -> None:
    """The limit on a file's size stands for the disk's: a write is cut short, the next fails."""
    code = """
import resource
path = Path(sys.argv[1])
exporter = JsonFileExporter(path)
exporter.export(spans("before"))
size = path.stat().st_size
resource.setrlimit(resource.RLIMIT_FSIZE, (size + 1000, resource.RLIM_INFINITY))
try:
    exporter.export(spans("x" * 2000))
except OSError as error:
    print(error.errno, error.filename, "these spans are not in the file" in error.strerror)
print(path.stat().st_size == size)
exporter.export(spans("fits"))
"""
    assert Process(code, path).rest() == [str(errno.EFBIG), str(path), "True", "True"]
    assert names(path) == ["before", "fits"]


def test_what_others_wrote_after_a_cut_write_is_not_undone_with_it(path: Path) -> None:
    """As by a process that is stopped in a write, and finds the disk full when it goes on."""
    JsonFileExporter(path).export(spans("before"))

    class FullDisk(io.FileIO):
        def write(self, data: Buffer) -> int:
            if self.tell() > size:
                JsonFileExporter(path).export(spans("by another"))
                raise OSError(errno.ENOSPC, "No space left on device")
            return super().write(memoryview(data)[:100])

    size = path.stat().st_size
    with FullDisk(path, "a+") as file, pytest.raises(OSError, match="No space left"):
        append_lines(file, line_of(spans("cut")[0]))
    reports: list[str] = []
    assert [span.name for span in read_spans(path, reports.append)] == ["before", "by another"]
    assert [report.partition(": ")[0] for report in reports] == ["recordings.jsonl:2"]


# Many at once


def test_a_writer_killed_in_the_middle_costs_at_most_what_it_was_writing(path: Path) -> None:
    code = """
exporter = JsonFileExporter(sys.argv[1])
for number in itertools.count():
    exporter.export(spans(f"{number}", text="x" * 3_000_000))
    print(number, flush=True)
"""
    writer = Process(code, path)
    told = [writer.line() for _ in range(5)]
    told += writer.kill()
    JsonFileExporter(path).export(spans("after the kill"))
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
    exporter.export(spans("before"))
    code = """
with writers_lock(Path(sys.argv[1]), 10):
    os.kill(os.getpid(), signal.SIGSTOP)
"""
    stopped = Process(code, path)
    _, status = os.waitpid(stopped.process.pid, os.WUNTRACED)
    assert os.WIFSTOPPED(status)
    try:
        exporter.export(spans("meanwhile"))
        monkeypatch.setattr(json_file, "LOCK_TIMEOUT_S", 1e9)  # the next is not to wait as long
        exporter.export(spans("again"))
        assert names(path) == ["before", "meanwhile", "again"]
        [warning] = [record for record in caplog.records if record.levelname == "WARNING"]
        assert warning.getMessage() == (
            f"{path}: its lock is held or unsupported; written to without it"
        )
        assert segments.rotated(path) == []  # nobody renames a file without the lock
    finally:
        stopped.process.send_signal(signal.SIGCONT)
        stopped.rest()
    exporter.export(spans("after"))
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
    JsonFileExporter(path).export(spans("render f"))
    assert names(path) == ["render f"]


def fork() -> int:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forks beside threads
        return os.fork()


def test_a_forked_child_exports_though_a_thread_of_its_parent_had_the_lock(path: Path) -> None:
    exporter = JsonFileExporter(path)
    exporter.export(spans("parent"))
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
            exporter.export(spans("child"))
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
    made = spans(*map(str, range(400)))
    threads = [
        threading.Thread(target=lambda part: [exporter.export([s]) for s in part], args=[part])
        for part in (made[start::8] for start in range(8))
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
