"""The local file where something stands in its way: folders, rights, a full disk."""

from __future__ import annotations

import errno
import io
import os
from collections.abc import Buffer
from pathlib import Path

import pytest

from scaly_viz.sources.files import read_spans
from scaly_viz_exporters.json_file import JsonFileExporter
from scaly_viz_exporters.line_file import append_lines
from scaly_viz_exporters.span_lines import line_of

from .local_file import Process, names
from .made_spans import made


def test_a_file_where_the_folder_should_be_is_named_with_the_cause(path: Path) -> None:
    path.parent.write_text("in the way")
    with pytest.raises(OSError, match=f"Not a directory; these spans.*{path}"):
        JsonFileExporter(path).export(made("render f"))


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
        JsonFileExporter(path).export(made("render f"))
    assert not (path.parent / "elsewhere").exists()


def test_a_folder_that_may_not_be_written_is_named_with_the_cause(path: Path) -> None:
    code = """
exporter, spans = JsonFileExporter(sys.argv[1]), made("render f")
if os.getuid() == 0:  # whom no mode stops
    os.setuid(65534)
try:
    exporter.export(spans)
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
exporter.export(made("before"))
size = path.stat().st_size
resource.setrlimit(resource.RLIMIT_FSIZE, (size + 1000, resource.RLIM_INFINITY))
try:
    exporter.export(made("x" * 2000))
except OSError as error:
    print(error.errno, error.filename, "these spans are not in the file" in error.strerror)
print(path.stat().st_size == size)
exporter.export(made("fits"))
"""
    assert Process(code, path).rest() == [str(errno.EFBIG), str(path), "True", "True"]
    assert names(path) == ["before", "fits"]


def test_what_others_wrote_after_a_cut_write_is_not_undone_with_it(path: Path) -> None:
    """As by a process that is stopped in a write, and finds the disk full when it goes on."""
    JsonFileExporter(path).export(made("before"))

    class FullDisk(io.FileIO):
        def write(self, data: Buffer) -> int:
            if self.tell() > size:
                JsonFileExporter(path).export(made("by another"))
                raise OSError(errno.ENOSPC, "No space left on device")
            return super().write(memoryview(data)[:100])

    size = path.stat().st_size
    with FullDisk(path, "a+") as file, pytest.raises(OSError, match="No space left"):
        append_lines(file, line_of(made("cut")[0]))
    reports: list[str] = []
    assert [span.name for span in read_spans(path, reports.append)] == ["before", "by another"]
    assert [report.partition(": ")[0] for report in reports] == ["recordings.jsonl:2"]
