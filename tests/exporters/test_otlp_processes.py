"""The OTLP exporter in processes that are killed, fork, end at once, and share an outbox."""

from __future__ import annotations

import itertools
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from scaly_viz_exporters.outbox import Outbox
from scaly_viz_exporters.span_lines import line_of

from .made_spans import made
from .receivers import OK, Answer, HttpReceiver, Received, http_receiver, waiting

PRELUDE = """
import multiprocessing, os, signal, sys, threading, time
from exporters.made_spans import made
from scaly_viz_exporters.otlp import OtlpExporter
"""


class Process:
    """Python code in a process of its own; its arguments are the outbox and what else it is given."""

    def __init__(self, code: str, *arguments: object, flags: tuple[str, ...] = ()) -> None:
        command = [sys.executable, *flags, "-c", PRELUDE + code, *map(str, arguments)]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        self.process = subprocess.Popen(
            command,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def line(self) -> str:
        assert self.process.stdout
        return self.process.stdout.readline().strip()

    def rest(self) -> list[str]:
        """Wait for the good end without a word on standard error; return the words not read."""
        output, errors = self.process.communicate()
        assert (self.process.returncode, errors) == (0, "")
        return output.split()

    def kill(self) -> list[str]:
        """End the process at once, and return the words that were not read."""
        self.process.kill()
        output, _ = self.process.communicate()
        return output.split()


@pytest.fixture
def receiver(monkeypatch: pytest.MonkeyPatch) -> Iterator[HttpReceiver]:
    with http_receiver() as receiver:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.url)
        yield receiver


@pytest.fixture
def outbox(tmp_path: Path) -> Path:
    return tmp_path / "viz" / "outbox"


DELIVER = """
exporter = OtlpExporter(sys.argv[1])
exporter.export(made("last of " + sys.argv[2]))
while not exporter.force_flush(20_000):
    pass
"""


def test_what_was_exported_before_a_kill_is_delivered_by_the_next_process(
    receiver: HttpReceiver, outbox: Path
) -> None:
    code = """
exporter = OtlpExporter(sys.argv[1])
exporter.export(made("one", "two"))
os.kill(os.getpid(), signal.SIGKILL)
"""
    Process(code, outbox).process.communicate()
    assert receiver.received == []
    Process(DELIVER, outbox, "b").rest()
    assert receiver.names == ["one", "two", "last of b"]


EXPORT = """
exporter = OtlpExporter(sys.argv[1])
for number in range(10_000):
    name = f"{sys.argv[2]}.{number}"
    exporter.export(made(name, body="x" * 20_000))
    print(name, flush=True)
    exporter._sender.flush(0)
"""


@pytest.mark.slow
def test_kills_at_any_moment_lose_nothing_and_double_no_more_than_what_was_being_sent(
    receiver: HttpReceiver, outbox: Path
) -> None:
    taken: list[list[str]] = []

    def decide(received: Received) -> Answer:
        taken.append(received.names)
        return Answer(OK.status, OK.headers, delay_s=0.01)

    receiver.decide = decide
    told: list[str] = []
    moments = random.Random(4)
    kills = 5
    for kill in range(kills):
        process = Process(EXPORT, outbox, kill)
        told += [process.line() for _ in range(moments.randrange(1, 40))]
        told += process.kill()
    Process(DELIVER, outbox, "all").rest()
    arrived: set[str] = set()
    repeats = 0
    for names in taken:
        repeats += not arrived.isdisjoint(names)
        arrived.update(names)
    assert [name for name in told if name not in arrived] == []
    assert repeats <= kills  # a message that was taken as its sender was killed
    for kill in range(kills):
        numbers = [n for n in dict.fromkeys(itertools.chain(*taken)) if n.startswith(f"{kill}.")]
        assert numbers == sorted(numbers, key=lambda name: int(name.partition(".")[2]))


@pytest.mark.slow
def test_two_processes_that_deliver_at_once_double_nothing_and_keep_the_order(
    receiver: HttpReceiver, outbox: Path
) -> None:
    box = Outbox(outbox, 10**9)
    names = [f"{number:03}" for number in range(60)]
    for name in names:
        box.append(line_of(made(name, body="x" * 300_000)[0]))
    receiver.answers(Answer(OK.status, OK.headers, delay_s=0.02))
    both = [Process(DELIVER, outbox, which) for which in "ab"]
    for process in both:
        assert process.rest() == []
    arrived = receiver.names
    assert [name for name in arrived if name in names] == names
    assert sorted(arrived) == sorted([*names, "last of a", "last of b"])


@pytest.mark.slow
def test_many_processes_at_once_deliver_each_span_once(
    receiver: HttpReceiver, outbox: Path
) -> None:
    code = """
exporter = OtlpExporter(sys.argv[1])
for number in range(20):
    exporter.export(made(f"{sys.argv[2]}.{number}", body="x" * 5_000))
    time.sleep(0.01)
while not exporter.force_flush(20_000):
    pass
"""
    processes = [Process(code, outbox, name) for name in "abcd"]
    for process in processes:
        assert process.rest() == []
    expected = [f"{name}.{number}" for name in "abcd" for number in range(20)]
    assert sorted(receiver.names) == sorted(expected)
    for name in "abcd":
        own = [n for n in receiver.names if n.startswith(name)]
        assert own == [n for n in expected if n.startswith(name)]


def test_a_fork_beside_an_idle_exporter_is_no_fork_with_threads(
    receiver: HttpReceiver, outbox: Path
) -> None:
    code = """
exporter = OtlpExporter(sys.argv[1])
exporter.export(made("parent"))
assert exporter.force_flush(20_000)
exporter.export(made("waits in the parent"))
child = os.fork()
if child == 0:
    exporter.export(made("child"))
    exporter.force_flush(20_000)
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
exporter.shutdown()
"""
    Process(code, outbox, flags=("-W", "error")).rest()
    assert sorted(receiver.names) == ["child", "parent", "waits in the parent"]


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_a_child_of_multiprocessing_leaves_its_spans_to_its_parent(
    receiver: HttpReceiver, outbox: Path, method: str, tmp_path: Path
) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        PRELUDE
        + """
def work(folder):
    OtlpExporter(folder).export(made("child"))

if __name__ == "__main__":
    exporter = OtlpExporter(sys.argv[1])
    child = multiprocessing.get_context(sys.argv[2]).Process(target=work, args=[sys.argv[1]])
    child.start()
    child.join()
    assert child.exitcode == 0
    exporter.export(made("parent"))
    assert exporter.force_flush(20_000)
"""
    )
    subprocess.run(
        [sys.executable, script, outbox, method],
        check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert receiver.names == ["child", "parent"]


def test_a_process_ends_though_the_backend_never_answers(
    receiver: HttpReceiver, outbox: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "100000")
    receiver.answers(Answer(delay_s=1000, resets=True))
    code = """
exporter = OtlpExporter(sys.argv[1])
exporter.export(made("render f"))
assert not exporter.force_flush(500)
"""
    Process(code, outbox).rest()
    assert waiting(outbox) == ["render f"]


def test_in_an_applications_own_pipeline_the_exporter_delivers_at_exit(
    receiver: HttpReceiver,
) -> None:
    code = """
from importlib.metadata import entry_points
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
[entry] = entry_points(group="opentelemetry_traces_exporter", name="scaly_otlp")
provider = TracerProvider()
provider.add_span_processor(BatchSpanProcessor(entry.load()()))
provider.get_tracer("app").start_span("request").end()
"""
    Process(code).rest()
    assert receiver.names == ["request"]


def test_a_full_disk_costs_nothing_while_the_backend_answers(
    receiver: HttpReceiver, outbox: Path
) -> None:
    """The limit on a file's size stands for the disk's."""
    code = """
import logging, resource
logging.disable()
resource.setrlimit(resource.RLIMIT_FSIZE, (3000, resource.RLIM_INFINITY))
exporter = OtlpExporter(sys.argv[1])
for number in range(10):
    exporter.export(made(str(number), body="x" * 500))
while not exporter.force_flush(20_000):
    pass
"""
    Process(code, outbox).rest()
    assert receiver.names == [str(number) for number in range(10)]
    assert waiting(outbox) == []


def test_with_the_disk_and_memory_full_the_loss_is_said_and_the_program_goes_on(
    outbox: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
    code = """
from scaly_viz_exporters.memory_queue import MemoryQueue
exporter = OtlpExporter(sys.argv[1], max_bytes=1)
exporter._memory = MemoryQueue(1000)
try:
    exporter.export(made("x" * 2000))
except OSError as error:
    print(error.strerror.replace(" ", "_"))
"""
    process = Process(code, outbox).process
    output, errors = process.communicate()
    assert output.strip() == "holds_1_bytes,_and_memory_is_full,_too:_1_spans_are_lost"
    assert process.returncode == 0
    assert errors.count("\n") == 1


def test_a_kill_between_the_acknowledgment_and_the_note_is_the_only_way_to_a_double(
    receiver: HttpReceiver, outbox: Path
) -> None:
    """The backend takes the message and the sender dies: the next one cannot know, and sends it again."""
    code = """
exporter = OtlpExporter(sys.argv[1])
exporter.export(made("render f"))
exporter.force_flush(20_000)
"""
    process = Process(code, outbox)
    first: list[Received] = []

    def decide(received: Received) -> Answer:
        if not first:
            first.append(received)
            process.process.kill()
        return OK

    receiver.decide = decide
    process.process.communicate()
    Process(DELIVER, outbox, "b").rest()
    assert receiver.names == ["render f", "render f", "last of b"]
    ids = {
        span.span_id
        for received in receiver.received
        for span in received.request.resource_spans[0].scope_spans[0].spans
        if span.name == "render f"
    }
    assert len(ids) == 1  # readers count it once
