"""Owns which files a path stands for: itself, or the recording files of a folder."""

from __future__ import annotations

import os
from pathlib import Path

from scaly_viz.sources.lines import Report
from scaly_viz.sources.scaly_viz_json import is_scaly_viz
from scaly_viz_exporters.segments import active_name

_ENDINGS = tuple(kind + packing for kind in (".jsonl", ".json") for packing in ("", ".gz", ".zst"))


def data_files(path: Path, report: Report) -> list[Path]:
    """Return the OTLP files that ``path`` stands for, sorted by name, each without its segments.

    A file that has only segments left is among them. scaly.viz's own files are not, nor are links
    to others: links are resolved, as the segments lie beside what they point to.
    """
    if not path.is_dir():
        return [_resolved(path)]
    try:
        files = [file for file in path.iterdir() if file.name.endswith(_ENDINGS)]
    except OSError as error:
        report(f"{path}: {error.strerror}; the folder was left out")
        return []
    names = {active_name(file.name) or file.name for file in files if not _is_foreign(file)}
    return list(dict.fromkeys(_resolved(path / name) for name in sorted(names)))


def scaly_viz_files(path: Path) -> list[Path]:
    """Return the files of scaly.viz's format that ``path`` stands for."""
    files = sorted(path.glob("recordings.json*")) if path.is_dir() else [path]
    return [file for file in files if file.is_file() and is_scaly_viz(file)]


def _resolved(path: Path) -> Path:
    return Path(os.path.realpath(path))  # which a loop of links does not make raise


def _is_foreign(file: Path) -> bool:
    return not file.is_file() or (".jsonl" not in file.suffixes and is_scaly_viz(file))
