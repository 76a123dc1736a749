"""Owns a stand-in for Windows, which cannot be had here: our own code, loaded where Python has what it has there.

What is known of Windows' Python is taken from its documentation: modules, functions and signals that
it lacks are gone, ``msvcrt`` is there. The libraries and the file system stay those of Linux.

Usage: python as_on_windows.py FOLDER, which has ``recordings.jsonl``; prints one JSON document.
"""

from __future__ import annotations

import contextlib
import fcntl
import io
import json
import os
import signal
import sys
import time
import types
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

MODULES = ("fcntl", "grp", "pty", "pwd", "resource", "syslog", "termios", "tty")
FUNCTIONS = (
    *("chown", "fchmod", "fchown", "fork", "forkpty", "geteuid", "getegid", "getgid", "getloadavg"),
    *(
        "getpgid",
        "getpgrp",
        "getuid",
        "killpg",
        "mkfifo",
        "nice",
        "openpty",
        "posix_spawn",
        "pread",
    ),
    *("preadv", "pwrite", "register_at_fork", "sched_getaffinity", "setpgid", "setsid", "statvfs"),
    *("sync", "sysconf", "tcgetpgrp", "ttyname", "uname", "wait", "waitid", "WNOHANG"),
    *("O_CLOEXEC", "O_DIRECTORY", "O_NOFOLLOW", "O_NONBLOCK", "O_SYNC"),
)
SIGNALS = (
    *("SIGALRM", "SIGCHLD", "SIGCONT", "SIGHUP", "SIGKILL", "SIGPIPE", "SIGQUIT", "SIGSTOP"),
    *("SIGTSTP", "SIGTTIN", "SIGTTOU", "SIGUSR1", "SIGUSR2", "SIGWINCH"),
    *("alarm", "pthread_kill", "pthread_sigmask", "setitimer", "sigwait"),
)


def command(*words: str) -> tuple[int, str, str]:
    """Run a command of ours; return its exit code and what it prints on both streams."""
    from scaly_viz.cli import main

    code, out, errors = 0, *(io.TextIOWrapper(io.BytesIO(), "cp1252") for _ in range(2))
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
        try:
            main(list(words), standalone_mode=True)
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 1
    for stream in (out, errors):
        stream.seek(0)
    return code, out.read(), errors.read()


def reading(recordings: Path) -> list[Any]:
    """Return what the commands that read, and the viewer's API, say of the recordings."""
    from scaly_viz_viewer import create_app

    source = str(recordings)
    words = (
        ("list", "--json", "--recording-path", source),
        ("show", "--recording-path", source),
        ("show", "--recording-path", source, "last", "lowered"),
        ("diff", "--recording-path", source, "last", "pass:fuse_elementwise"),
        ("compare", f"{source}#1", f"{source}#last", "--fail-if", "flops > +5%"),
        ("export", "last", "--recording-path", source, "--to", "-", "--format", "otlp"),
        ("--version",),
    )
    client = create_app(source).test_client()
    answers = [client.get(f"/api/v1/{path}").get_json() for path in ("recordings", "functions")]
    return [*(command(*each) for each in words), *answers]


def writing(source: Path, folder: Path) -> dict[str, Any]:
    """Write recordings by both exporters; return what is there then, and what the locks did."""
    from scaly_viz import load_recordings, respan
    from scaly_viz.sources.files import read_spans
    from scaly_viz_exporters.file_lock import claim, writers_lock
    from scaly_viz_exporters.json_file import JsonFileExporter, delete
    from scaly_viz_exporters.outbox import Outbox
    from scaly_viz_viewer import server

    copy = folder / "private" / "recordings.jsonl"
    exporter = JsonFileExporter(copy, segment_bytes=8 * 1024, max_bytes=1024**3)
    for span in read_spans(source, print):
        exporter.export([respan.span_of_record(span)])
    with writers_lock(copy, 1) as first, writers_lock(copy, 0.01) as second:
        pass
    with writers_lock(copy, 0.01) as third:
        pass
    with claim(folder / "claim") as one, claim(folder / "claim") as other:
        pass
    outbox = Outbox(folder / "outbox", 1024**3)
    outbox.append(source.read_bytes())
    sent = 0
    for _ in range(2):
        with outbox.delivering() as delivery:
            assert delivery is not None
            for segment in delivery.segments():
                # At the last parcel the segment is still open.
                for parcel in segment.parcels():
                    sent += 1
                    segment.delivered([parcel])
    with server.listen("127.0.0.1", 0) as listening:
        port = listening.getsockname()[1]
    told = {
        "equal": load_recordings(copy, strict=True) == load_recordings(source, strict=True),
        "segments": len(list(copy.parent.glob("recordings-*.jsonl"))) > 0,
        "locks": [first, second, third, one, other],
        "delivered": sent == len(source.read_bytes().splitlines()),
        "waiting": outbox.waiting_bytes(),
        "port": port > 0,
    }
    pruned = command("prune", "--keep", "1", "--recording-path", str(copy))
    told["kept"] = [pruned[0], len(load_recordings(copy, strict=True))]
    imported = folder / "imported.jsonl"
    came = command("import", str(source), "--recording-path", str(imported))
    told["imported"] = [came[0], len(load_recordings(imported, strict=True))]
    delete(copy)
    return {**told, "deleted": not copy.exists()}


def put_on() -> None:
    """Take away what Python lacks on Windows, and have our modules be loaded anew."""
    flock, held = fcntl.flock, fcntl.LOCK_EX | fcntl.LOCK_NB
    windows = types.ModuleType("msvcrt")

    def locking(descriptor: int, mode: int, _: int) -> None:
        try:
            flock(descriptor, held if mode == 2 else fcntl.LOCK_UN)
        except BlockingIOError:
            raise PermissionError(13, "Permission denied") from None

    vars(windows).update(LK_UNLCK=0, LK_NBLCK=2, locking=locking)
    for name in [name for name in sys.modules if name.partition(".")[0].startswith("scaly_viz")]:
        del sys.modules[name]
    for name in MODULES:
        sys.modules[name] = None  # type: ignore[assignment]  # how an import is made to fail
    for of, names in ((os, FUNCTIONS), (signal, SIGNALS)):
        for name in names:
            if hasattr(of, name):
                delattr(of, name)
    if hasattr(time, "tzset"):
        del time.tzset
    for name in ("unlink", "remove", "rename", "replace"):
        setattr(os, name, refusing_open_files(getattr(os, name)))
    sys.modules["msvcrt"] = windows
    sys.platform = "win32"


def refusing_open_files(act: Callable[..., None]) -> Callable[..., None]:
    """Return ``act``, a function on paths, as it is on Windows: files that are open stay as they are."""

    def refusing(*paths: str | Path, **options: Any) -> None:
        opened = set()
        for link in Path("/proc/self/fd").iterdir():
            with contextlib.suppress(OSError):
                opened.add(str(link.readlink()))
        for path in paths:
            if os.path.realpath(path) in opened:
                raise PermissionError(13, "The process cannot access the file", str(path))
        act(*paths, **options)

    return refusing


def main() -> None:
    """Say what the commands print here and, less what Windows lacks, there."""
    folder = Path(sys.argv[1])
    warnings.simplefilter("ignore", EncodingWarning)
    # On Windows the default encoding may be any: ours must always be said.
    warnings.filterwarnings("error", category=EncodingWarning, module=r"scaly_viz")
    source = folder / "recordings.jsonl"
    # Here first, which also loads what libraries load late.
    told = {"here": [reading(source), writing(source, folder / "here")]}
    put_on()
    told["there"] = [reading(source), writing(source, folder / "there")]
    print(json.dumps(told))


if __name__ == "__main__":
    main()
