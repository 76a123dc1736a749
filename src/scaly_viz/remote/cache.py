"""Owns what is remembered of a backend between two lists: short forms of its recordings, by trace."""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
from pathlib import Path

import msgspec

from scaly_viz._version import __version__
from scaly_viz.analysis.summary import RecordingSummary
from scaly_viz.errors import RecordingFolderError
from scaly_viz.settings import BackendSettings, recording_dir
from scaly_viz.sources.address import Address
from scaly_viz_exporters.private_files import make_private_folder, open_private

MAX_FILE_BYTES = 64 * 1024**2
MAX_TRACES = 20_000
MAX_FILES = 50

_FOLDER = "backends"


class Entry(msgspec.Struct):
    """One trace: when its recordings began, their short forms, what tells whether it has changed."""

    start_ns: int
    recordings: list[RecordingSummary]
    mark: str = ""

    @property
    def is_complete(self) -> bool:
        """Whether no recording of it lacks anything."""
        return all(summary.status != "incomplete" for summary in self.recordings)


class Listed(msgspec.Struct):
    """The last list: down to what time it came, when it was made, what it took."""

    since_ns: int = 0
    at_ns: int = 0
    cost_s: float = 0.0


class Memory(msgspec.Struct):
    """What is remembered. ``version`` is of the scaly-viz that wrote it: another one starts anew."""

    version: str = __version__
    entries: dict[str, Entry] = {}
    listed: Listed = msgspec.field(default_factory=Listed)


class Cache:
    """The file that holds the memory of one backend, as one user asks it."""

    def __init__(self, address: Address, settings: BackendSettings) -> None:
        # A tenant's header, or another user, may stand for other recordings. Secrets only go in hashed.
        who = (address.user, address.password, sorted(settings.headers))
        what = (address.kind, address.url, sorted(address.services), who)
        digest = hashlib.blake2b(repr(what).encode("utf-8", "surrogatepass"), digest_size=16)
        with contextlib.suppress(RecordingFolderError):
            self._folder: Path | None = recording_dir() / _FOLDER
            self._path = self._folder / f"{digest.hexdigest()}.msgpack"
            return
        self._folder = None

    def read(self) -> Memory:
        """Return what is remembered; nothing where that cannot be read."""
        if self._folder is None:
            return Memory()
        try:
            with os.fdopen(open_private(self._path, os.O_RDONLY), "rb") as file:
                data = file.read(MAX_FILE_BYTES + 1)
            memory = msgspec.msgpack.decode(data, type=Memory)
        except (OSError, ValueError, RecursionError):  # msgspec's errors are ValueErrors
            return Memory()
        return memory if memory.version == __version__ else Memory()

    def write(self, memory: Memory) -> None:
        """Remember ``memory``, of too many traces the latest. Where that fails the next list is slow."""
        if self._folder is None:
            return
        latest = sorted(memory.entries.items(), key=lambda item: item[1].start_ns)[-MAX_TRACES:]
        try:
            data = msgspec.msgpack.encode(msgspec.structs.replace(memory, entries=dict(latest)))
        except UnicodeEncodeError:  # a name that is no Unicode text
            return
        if len(data) > MAX_FILE_BYTES:
            return
        with contextlib.suppress(OSError):
            make_private_folder(self._folder)
            self._forget_oldest(self._folder)
            descriptor, name = tempfile.mkstemp(prefix=".", dir=self._folder)  # of mode 0600
            try:
                with os.fdopen(descriptor, "wb") as file:
                    file.write(data)
                os.replace(name, self._path)  # noqa: PTH105  # a name, not a path
            except OSError:
                os.unlink(name)  # noqa: PTH108  # likewise
                raise

    def _forget_oldest(self, folder: Path) -> None:
        files = sorted(folder.iterdir(), key=lambda file: file.stat().st_mtime)
        for file in files[: max(0, len(files) - MAX_FILES)]:
            file.unlink(missing_ok=True)
