"""Owns the names of a recording file's rotated segments, their order, and which are dropped.

The segments of ``recordings.jsonl`` are ``recordings-0000000001.jsonl`` and so on: the higher the
number the younger. One that its owner has compressed (``.gz``, ``.zst``) keeps its place.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

# Their first digit is 0, so that no date and no Unix time is taken for one.
_NAME = re.compile(r"(?P<stem>.+)-(?P<number>0[0-9]{9})(?P<suffix>\.[^.]+)?(\.gz|\.zst)?", re.S)


@dataclass(frozen=True, slots=True, order=True)
class _Segment:
    number: int
    path: Path


def active_name(name: str) -> str | None:
    """Return the name of the file that ``name`` is a segment of, None where it is no segment."""
    match = _NAME.fullmatch(name)
    return match["stem"] + (match["suffix"] or "") if match else None


def rotated(path: Path) -> list[Path]:
    """Return the rotated segments of ``path``, oldest first; of two copies the plain one."""
    plain_first = sorted(_segments(path), key=lambda segment: len(segment.path.name))
    by_number: dict[int, Path] = {}
    for segment in plain_first:
        by_number.setdefault(segment.number, segment.path)
    return [by_number[number] for number in sorted(by_number)]


def rotate(path: Path) -> Path:
    """Rename ``path`` to its next segment and return that; the writers' lock must be held."""
    return path.rename(next_segment(path))


def next_segment(path: Path) -> Path:
    """Return the name of the segment that would follow those of ``path``."""
    number = max((segment.number for segment in _segments(path)), default=0) + 1
    return path.with_name(f"{path.stem}-{number:010}{path.suffix}")


def drop_oldest(path: Path, max_bytes: int) -> list[Path]:
    """Delete the oldest segments of ``path`` until the rest fits ``max_bytes``; return them."""
    segments = sorted(_segments(path))
    sizes = [segment.path.stat().st_size for segment in segments]
    total = sum(sizes)
    dropped = []
    for segment, size in zip(segments, sizes, strict=True):
        if total <= max_bytes:
            break
        segment.path.unlink(missing_ok=True)
        dropped.append(segment.path)
        total -= size
    return dropped


def _segments(path: Path) -> Iterator[_Segment]:
    try:
        siblings = list(path.parent.iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return
    for sibling in siblings:
        match = _NAME.fullmatch(sibling.name)
        if match and (match["stem"], match["suffix"] or "") == (path.stem, path.suffix):
            yield _Segment(int(match["number"]), sibling)
