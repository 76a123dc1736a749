"""Owns the load run: recording processes, one agent and one Jaeger of compose/, and what came back of it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path

_ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(_ROOT / "tests"))

from compose.running import Collector, Jaeger, Server, load, spans_of  # noqa: E402

# Of ten renders; docs/scale.md plans with the same shares.
_TURN = ("small",) * 7 + ("medium",) * 2 + ("large",)
# Lines of stderr that the report repeats.
_SHOWN = 4

_RECORDER = """
import json, sys, time
sys.path[:0] = [{root!r}, {tests!r}]
from scaly.codegen.aot import render_c_source
import scaly_viz
from bench.sizes import programs
made = programs()
functions = {{name: scaly_viz.visualize(made[name]()) for name in dict.fromkeys({turn!r})}}
for i in range({renders}):
    render_c_source(functions[{turn!r}[i % len({turn!r})]])
"""


@dataclass(frozen=True, slots=True)
class Seen:
    """What a load run did."""

    recordings: int
    whole: int
    """Recordings that came back from Jaeger equal to the recorder's local file."""
    spans: int
    doubled: int
    """Spans that Jaeger has more than once."""
    seconds: float
    recorder_cpu_s: float
    collector_cpu_s: float
    jaeger_cpu_s: float
    collector_memory: int
    jaeger_memory: int
    queue_bytes: int
    """The largest that the agent's queue on disk was."""
    local_bytes: int
    stored_bytes: int
    """The size of Badger's folder at the end."""
    complaints: tuple[str, ...]
    """What the recorders wrote to stderr, each line once."""


def run(folder: Path, processes: int, renders: int, kill: bool) -> Seen:
    """Let ``processes`` make ``renders`` recordings each; ``kill``: kill both servers in the middle."""
    jaeger = Jaeger(folder / "jaeger").start()
    collector = Collector(folder / "agent", jaeger.otlp_url).start()
    usage = _Usage(folder / "agent")
    try:
        with usage:
            usage.watch(collector=collector, jaeger=jaeger)
            began = time.monotonic()
            children = os.times()
            recorders = [_recorder(folder / f"{i}", collector, renders) for i in range(processes)]
            if kill:
                _kill_in_the_middle(folder, processes * renders, (jaeger, collector), usage)
            complaints = {
                line for each in recorders for line in each.communicate()[1].splitlines() if line
            }
            failed = [each.returncode for each in recorders if each.returncode]
            assert not failed, f"recorders failed: {complaints}"
            seconds = time.monotonic() - began
            after = os.times()
            files = [folder / f"{i}" / "recordings.jsonl" for i in range(processes)]
            compared = [_compare(jaeger, file) for file in files]
    finally:
        collector.stop()
        jaeger.stop()
    recordings, whole, spans, stored = (sum(column) for column in zip(*compared, strict=True))
    return Seen(
        recordings=recordings,
        whole=whole,
        spans=spans,
        doubled=stored - spans,
        seconds=seconds,
        recorder_cpu_s=after.children_user
        + after.children_system
        - children.children_user
        - children.children_system,
        collector_cpu_s=usage.cpu_s["collector"],
        jaeger_cpu_s=usage.cpu_s["jaeger"],
        collector_memory=usage.memory["collector"],
        jaeger_memory=usage.memory["jaeger"],
        queue_bytes=usage.queue_bytes,
        local_bytes=sum(file.stat().st_size for file in files),
        stored_bytes=_size(folder / "jaeger" / "keys") + _size(folder / "jaeger" / "values"),
        complaints=tuple(sorted(complaints)),
    )


def _compare(jaeger: Jaeger, file: Path) -> tuple[int, int, int, int]:
    """Return the recordings of a recorder, how many came back equal, its spans, and those stored."""
    lines = file.read_text().splitlines()
    back = jaeger.recordings(file.parent, lines)
    made = load(file)
    answers = (file.parent / "jaeger.jsonl").read_text().splitlines()
    return (
        len(made),
        sum(recording in back for recording in made),
        sum(map(len, spans_of(lines).values())),
        sum(answer.count('"spanId"') for answer in answers),
    )


def _recorder(folder: Path, collector: Collector, renders: int) -> subprocess.Popen[str]:
    code = _RECORDER.format(
        root=str(_ROOT), tests=str(_ROOT / "tests"), turn=_TURN, renders=renders
    )
    environment = {k: v for k, v in os.environ.items() if not k.startswith("OTEL_")}
    return subprocess.Popen(
        [sys.executable, "-c", code],
        env=environment
        | {
            "SCALY_VIZ_DIR": str(folder),
            "SCALY_CACHE_DIR": str(folder / "jit"),
            "SCALY_VIZ_EXPORTERS": "json,otlp",
            "OTEL_EXPORTER_OTLP_ENDPOINT": collector.otlp_url,
        },
        stderr=subprocess.PIPE,
        text=True,
    )


def _kill_in_the_middle(
    folder: Path, recordings: int, servers: tuple[Server, ...], usage: _Usage
) -> None:
    """Kill the servers once a third of the recordings is made, and start them again."""
    while _roots(folder) < recordings // 3:
        time.sleep(0.5)
    for server in servers:
        server.stop(signal.SIGKILL)
    time.sleep(5)
    for server in servers:
        server.start()
    usage.watch(jaeger=servers[0], collector=servers[1])


def _roots(folder: Path) -> int:
    return sum(
        file.read_text().count('"scaly.recording.steps"')
        for file in folder.glob("*/recordings.jsonl")
    )


class _Usage:
    """Looks at what the servers use, until the end of the block."""

    def __init__(self, agent: Path) -> None:
        self.cpu_s: dict[str, float] = {}
        self.memory: dict[str, int] = {}
        self.queue_bytes = 0
        self._agent = agent
        self._pids: dict[str, int] = {}
        self._before: dict[str, float] = {}
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look)

    def watch(self, **servers: Server) -> None:
        """Count these from now on, and what their predecessors used too."""
        self._before = dict(self.cpu_s)
        self._pids = {name: server.pid for name, server in servers.items()}

    def __enter__(self) -> _Usage:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._over.wait(0.2):
            for name, pid in self._pids.items():
                try:
                    stat = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
                    status = Path(f"/proc/{pid}/status").read_text()
                except OSError:
                    continue
                ticks = int(stat[11]) + int(stat[12])
                used = ticks / os.sysconf("SC_CLK_TCK")
                self.cpu_s[name] = self._before.get(name, 0.0) + used
                peak = [line for line in status.splitlines() if line.startswith("VmHWM")]
                if peak:
                    self.memory[name] = max(
                        self.memory.get(name, 0), 1024 * int(peak[0].split()[1])
                    )
            self.queue_bytes = max(self.queue_bytes, _size(self._agent / "queue"))


def _size(folder: Path) -> int:
    total = 0
    for file in folder.rglob("*"):
        try:
            # Badger's files are mapped in full length; what they occupy is what counts.
            total += 512 * file.stat().st_blocks
        except OSError:
            continue
    return total


def report(seen: Seen) -> list[str]:
    """Return what was seen as lines to read."""
    share = 100 / seen.recorder_cpu_s
    lines = [
        f"recordings: {seen.recordings}, of {seen.spans} spans, in {seen.seconds:.0f} s",
        f"came back whole and equal: {seen.whole}; spans stored twice: {seen.doubled}",
        f"CPU of the agent: {share * seen.collector_cpu_s:.1f} % of the recorders',"
        f" of Jaeger: {share * seen.jaeger_cpu_s:.1f} %",
        f"memory at most: agent {seen.collector_memory / 1e6:.0f} MB,"
        f" Jaeger {seen.jaeger_memory / 1e6:.0f} MB; queue {seen.queue_bytes / 1e6:.1f} MB",
        f"local files: {seen.local_bytes / 1e6:.1f} MB; Badger: {seen.stored_bytes / 1e6:.1f} MB",
    ]
    said = [f"said: {json.dumps(line)}" for line in seen.complaints[:_SHOWN]]
    if len(seen.complaints) > _SHOWN:
        said.append(f"and {len(seen.complaints) - _SHOWN} lines more of that kind")
    return lines + said
