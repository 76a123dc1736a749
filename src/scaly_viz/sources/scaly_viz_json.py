"""Owns the reading of scaly.viz's own ``recordings.json``: a JSON list of recordings, any age."""

from __future__ import annotations

import io
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from scaly_viz.sources.lines import Report, ReportLimit
from scaly_viz.sources.snapshot import open_file
from scaly_viz.sources.streams import content, is_compressed

MAX_EXPANDED_BYTES = 4 * 1024**3

_HEAD_BYTES = 1024**2
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_KINDS: dict[str, tuple[type, ...]] = {
    "id": (str,),
    "name": (str,),
    "function": (str,),
    "started_at": (int, float),
    "error": (str,),
    "steps": (list,),
}

_NAMES: dict[type, str] = {
    dict: "an object",
    list: "a list",
    str: "a string",
    int: "a number",
    float: "a number",
    bool: "a boolean",
    type(None): "null",
}

# scaly.viz indents by two, and line ends inside strings are escaped.
_NEXT_RECORDING = re.compile(r"\n  (?=\{)")
_GAP = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()
_NOT_UTF8 = re.compile("[\udc80-\udcff]")

type Recording = dict[str, Any]  # the format is scaly.viz's; its dicts are passed on unchanged


def is_scaly_viz(path: str | os.PathLike[str]) -> bool:
    """Tell by its content, compressed or not, whether ``path`` holds a JSON list."""
    file = open_file(Path(path), _ignore)
    if file is None:
        return False
    with file:
        return _head(file).startswith(b"[")


def read_recordings(path: str | os.PathLike[str], report: Report) -> list[Recording]:
    """Return the recordings in ``path`` as scaly.viz wrote them; a missing file has none.

    What is damaged, cut short, or no recording is left out and passed to ``report`` as one line of
    text with file, line and cause.
    """
    path = Path(path)
    file = open_file(path, report)
    if file is None:
        return []
    limit = ReportLimit(path.name, report)
    with file:
        data = _all(file, path.name, limit)
    recordings = _decode_fast(data)
    if recordings is None:
        text = data.decode("utf-8", "surrogateescape")
        recordings = list(_Scan(text, path.name, limit).recordings())
    limit.close()
    return recordings


def _ignore(_: str) -> None:
    pass


def _head(file: io.FileIO) -> bytes:
    """Return what follows the blanks at the start of ``file``, empty where there are too many."""
    seen = 0
    for chunk in content(file.read, _ignore):
        text = chunk.removeprefix(_BYTE_ORDER_MARK).lstrip()
        seen += len(chunk)
        if text or seen > _HEAD_BYTES:
            return text
    return b""


def _all(file: io.FileIO, name: str, report: Report) -> bytearray:
    data = bytearray()

    def damaged(cause: str) -> None:
        line = data.count(b"\n") + 1
        report(f"{name}:{line}: {cause}")

    is_packed = is_compressed(file.read(8))
    file.seek(0)
    for chunk in content(file.read, damaged):
        data += chunk
        if is_packed and len(data) > MAX_EXPANDED_BYTES:
            damaged(f"expands to more than {MAX_EXPANDED_BYTES} bytes; the rest was left out")
            break
    if data.startswith(_BYTE_ORDER_MARK):
        del data[: len(_BYTE_ORDER_MARK)]
    return data


def _decode_fast(data: bytearray) -> list[Recording] | None:
    """Return None where anything needs to be reported."""
    try:
        values = msgspec.json.decode(data)
    except (ValueError, RecursionError):
        return None
    is_sound = isinstance(values, list) and not any(map(problem_of, values))
    return values if is_sound else None


def problem_of(value: object) -> str | None:
    """Say why ``value`` is no recording. A missing key is no reason: old versions had fewer."""
    if not isinstance(value, dict):
        return f"no recording but {_NAMES[type(value)]}"
    if not value.keys() & _KINDS.keys():
        return f"no recording: it has none of the keys {', '.join(_KINDS)}"
    for key, kinds in _KINDS.items():
        if value.get(key) is not None and not isinstance(value[key], kinds):
            return f"the recording's {key} is {_NAMES[type(value[key])]}"
    if not all(isinstance(step, dict) for step in value.get("steps") or ()):
        return "a step of the recording is no object"
    return None


class _Scan:
    """Reads a list recording by recording, and goes on behind what is damaged."""

    def __init__(self, text: str, name: str, report: Report) -> None:
        self._text = text
        self._name = name
        self._report = report
        self._position = 0
        self._has_lost_its_way = False
        self._line = 1
        self._line_position = 0

    def recordings(self) -> Iterator[Recording]:
        """Yield the whole recordings of the list."""
        if not self._take("["):
            self._tell("not a list of recordings; the file was left out")
            return
        while not self._is_over():
            start = self._position
            try:
                value = self._value()
            except (ValueError, RecursionError) as error:
                self._tell(f"{_cause(error)}; the recording that starts here was left out")
                self._seek_next_recording()
                continue
            problem = self._problem(value, start)
            if problem:
                self._tell(f"{problem}; it was left out", start)
            else:
                yield value

    def _is_over(self) -> bool:
        if self._take("]"):
            if not self._is_at_end():
                self._tell("the list ends here, but the file goes on")
                self._seek_next_recording()
        elif self._is_at_end() and not self._has_lost_its_way:
            self._tell("cut short: the list of recordings has no end")
        return self._is_at_end()

    def _value(self) -> Any:
        value, self._position = _DECODER.raw_decode(self._text, self._position)
        is_followed = self._take(",") or self._is_at_end()
        if not is_followed and not self._text.startswith("]", self._position):
            self._tell("a comma or the end of the list is missing")
        return value

    def _problem(self, value: object, start: int) -> str | None:
        if _NOT_UTF8.search(self._text, start, self._position):
            return "the recording is not UTF-8 text"
        return problem_of(value)

    def _take(self, mark: str) -> bool:
        """Go beyond white space, and beyond ``mark`` if it is next."""
        self._position = _end_of_gap(self._text, self._position)
        found = self._text.startswith(mark, self._position)
        if found:
            self._position = _end_of_gap(self._text, self._position + 1)
        return found

    def _is_at_end(self) -> bool:
        return self._position == len(self._text)

    def _seek_next_recording(self) -> None:
        found = _NEXT_RECORDING.search(self._text, self._position + 1)
        self._has_lost_its_way = found is None
        self._position = found.end() if found else len(self._text)

    def _tell(self, what: str, position: int | None = None) -> None:
        """Report with the line of ``position``, which only ever grows."""
        position = self._position if position is None else position
        self._line += self._text.count("\n", self._line_position, position)
        self._line_position = position
        self._report(f"{self._name}:{self._line}: {what}")


def _cause(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        # Some of its messages end with the word themselves.
        what = error.msg.removesuffix(" at")
        return f"not JSON: {what} at line {error.lineno} column {error.colno}"
    if isinstance(error, RecursionError):
        return "nested too deeply"
    return f"not JSON: {str(error).partition(';')[0]}"


def _end_of_gap(text: str, position: int) -> int:
    gap = _GAP.match(text, position)
    return gap.end() if gap else position
