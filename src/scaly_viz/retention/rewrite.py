"""Owns writing recording files anew without some of their lines, while other processes append to them.

What stays is copied beside the file first. Only then, under the writers' lock, what was appended
meanwhile is added and the copy put in the file's place: whoever is killed in between leaves the old file.
"""

from __future__ import annotations

import io
import os
import stat
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path

from scaly_viz.errors import ScalyVizError
from scaly_viz.retention.inventory import Extent, FileId, HeldFile, Inventory
from scaly_viz.sources.files import segments
from scaly_viz.sources.streams import CHUNK_BYTES, content, is_compressed, packer
from scaly_viz_exporters.file_lock import writers_lock
from scaly_viz_exporters.private_files import open_private, set_mode

_LOCK_TIMEOUT_S = 10.0
_LONG_DEAD_S = 3600.0
_ATTEMPTS = 20


@dataclass(frozen=True, slots=True)
class _Draft:
    """What is to come in a file's place: None where nothing is left of it. ``rest`` is where to go on from."""

    held: HeldFile
    copy: Path | None
    rest: int
    drops_torn: bool


def rewrite(inventory: Inventory, going: set[str], *, damaged: bool) -> None:
    """Cut the lines of the recordings ``going`` out, and with ``damaged`` those that cannot be read.

    Raises:
        ScalyVizError: the lock cannot be had: nothing is changed.
        OSError: a file cannot be written: it and those after it are as they were.
    """
    _clear_up(inventory.path)
    drafts: list[_Draft] = []
    with ExitStack() as stack:
        # The youngest first: who reads after a crash finds recordings without an end, and not without a begin.
        for held in reversed(inventory.files):
            drops_torn = damaged and held.torn is not None
            cuts = [e for e in held.extents if going.issuperset(e.recordings)]
            cuts += held.damaged if damaged else []
            if cuts or drops_torn:
                draft = _draft(
                    inventory.path, held, sorted(cuts, key=lambda cut: cut.start), drops_torn
                )
                drafts.append(draft)
                if draft.copy is not None:
                    stack.callback(draft.copy.unlink, missing_ok=True)
        if drafts:
            _put_in_place(inventory.path, drafts)


def _put_in_place(path: Path, drafts: Sequence[_Draft]) -> None:
    with writers_lock(path, _LOCK_TIMEOUT_S) as locked:
        if not locked:
            raise ScalyVizError(
                f"{path}: its lock is held by another process, or not supported by the file system;"
                " nothing was removed"
            )
        places = _places(path)
        for draft in drafts:
            place = places.get(draft.held.identity)
            if place is not None:
                _replace(place, draft)
        _sync_folder(path.parent)


def _places(path: Path) -> dict[FileId, Path]:
    """Return where each file is now: one that was rotated meanwhile has another name."""
    places = {}
    for file in segments(path):
        with suppress(FileNotFoundError):
            places[_id(file.stat())] = file
    return places


def _opened(path: Path, identity: FileId) -> io.FileIO:
    """Open the file of this identity, wherever it is by now.

    Raises:
        ScalyVizError: it is no longer among the segments of ``path``.
    """
    for _ in range(_ATTEMPTS):
        place = _places(path).get(identity)
        if place is None:
            break
        with suppress(FileNotFoundError):
            file = io.FileIO(place)
            if _id(os.fstat(file.fileno())) == identity:
                return file
            file.close()
    raise ScalyVizError(f"{path}: its segments were deleted while they were read; try again")


def _replace(place: Path, draft: _Draft) -> None:
    with io.FileIO(place) as old:
        copy = _completed(draft, old)
    # Not before: on Windows a file that is open can be neither deleted nor replaced.
    if copy is None:
        place.unlink()
    else:
        copy.replace(place)


def _completed(draft: _Draft, old: io.FileIO) -> Path | None:
    """Return the copy with what was appended to ``old`` meanwhile; None where nothing is left."""
    status = os.fstat(old.fileno())
    is_longer = status.st_size > draft.held.size
    if draft.copy is None and not is_longer:
        return None
    copy = draft.copy or _copy_name(draft.held.path)
    with os.fdopen(open_private(copy, os.O_WRONLY | os.O_APPEND), "ab") as new:
        if is_longer or not draft.drops_torn:
            old.seek(draft.rest)
            while piece := old.read(CHUNK_BYTES):
                new.write(piece)
        new.flush()
        set_mode(new.fileno(), stat.S_IMODE(status.st_mode))
        os.fsync(new.fileno())
    return copy


def _draft(path: Path, held: HeldFile, cuts: Sequence[Extent], drops_torn: bool) -> _Draft:
    packed = is_compressed(held.head)
    end = held.torn if drops_torn and held.torn is not None else held.plain_size
    rest = held.size if packed else end
    left = end - sum(cut.end - cut.start for cut in cuts)
    if left <= 0:
        return _Draft(held, None, rest, drops_torn)
    copy = _copy_name(held.path)
    try:
        with (
            _opened(path, held.identity) as old,
            os.fdopen(open_private(copy, os.O_WRONLY | os.O_TRUNC), "wb") as new,
            packer(held.head, new) as out,
        ):
            for piece in _without(content(old.read, _damaged), cuts, end):
                out.write(piece)
    except BaseException:
        copy.unlink(missing_ok=True)
        raise
    return _Draft(held, copy, rest, drops_torn)


def _without(chunks: Iterable[bytes], cuts: Sequence[Extent], end: int) -> Iterator[bytes]:
    """Yield ``chunks`` up to ``end`` without what ``cuts``, which are in order, say."""
    at = 0
    pending = iter(cuts)
    cut = next(pending, None)
    for whole in chunks:
        chunk = whole[: end - at]
        begin, stop = at, at + len(chunk)
        while begin < stop:
            while cut is not None and cut.end <= begin:
                cut = next(pending, None)
            if cut is None or cut.start >= stop:
                yield chunk[begin - at :]
                break
            if cut.start > begin:
                yield chunk[begin - at : cut.start - at]
            begin = cut.end
        at = stop
        if at >= end:
            return


def _damaged(cause: str) -> None:
    raise ScalyVizError(f"it changed while it was copied: {cause}")


def _copy_name(path: Path) -> Path:
    return path.with_name(f"{path.name}.prune-{os.getpid()}.tmp")


def _clear_up(path: Path) -> None:
    """Delete what runs that were killed have left."""
    for file in path.parent.glob(f"{path.stem}*.prune-*.tmp"):
        with suppress(OSError):
            if time.time() - file.stat().st_mtime > _LONG_DEAD_S:
                file.unlink()


def _sync_folder(folder: Path) -> None:
    with suppress(OSError):
        opened = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)


def _id(status: os.stat_result) -> FileId:
    return status.st_dev, status.st_ino
