"""Owns throwing recordings out of scaly.viz's ``recordings.json``, in its own way: the file is written whole."""

from __future__ import annotations

import json
import os
from pathlib import Path

from scaly_viz.analysis.summary import summarize
from scaly_viz.errors import ScalyVizError
from scaly_viz.retention.policy import Holding
from scaly_viz.scaly_viz_dict import from_dict
from scaly_viz.sources.lines import Report
from scaly_viz.sources.scaly_viz_json import read_recordings
from scaly_viz_exporters.private_files import open_private, set_mode


class ScalyVizFile:
    """The recordings in ``path``. scaly.viz has no lock: what it appends while we write would be lost."""

    def __init__(self, path: Path, report: Report) -> None:
        self._path = path
        self._stamp = self._now()
        self._damage: list[str] = []
        self._recordings = read_recordings(path, self._damage.append)
        for problem in self._damage:
            report(problem)
        self.holdings = [
            Holding(summarize(from_dict(data, path.name)), len(json.dumps(data, indent=2)))
            for data in self._recordings
        ]

    def rewrite(self, going: set[str]) -> None:
        """Write the file without the recordings ``going``.

        Raises:
            ScalyVizError: it is compressed or damaged, or has changed since it was read.
            OSError: it cannot be written; it is as it was.
        """
        if self._damage or self._path.suffix in (".gz", ".zst"):
            raise ScalyVizError(f"{self._path}: is damaged or compressed, and left as it is")
        left = [
            data
            for data, holding in zip(self._recordings, self.holdings, strict=True)
            if holding.summary.id not in going
        ]
        copy = self._path.with_name(f"{self._path.name}.prune-{os.getpid()}.tmp")
        try:
            with os.fdopen(
                open_private(copy, os.O_WRONLY | os.O_TRUNC), "w", encoding="utf-8"
            ) as file:
                json.dump(left, file, indent=2)
                file.flush()
                set_mode(file.fileno(), self._path.stat().st_mode & 0o777)
                os.fsync(file.fileno())
            if self._now() != self._stamp:
                raise ScalyVizError(f"{self._path}: scaly.viz has just written it; try again")
            copy.replace(self._path)
        finally:
            copy.unlink(missing_ok=True)

    def _now(self) -> tuple[int, int, int]:
        status = self._path.stat()
        return status.st_ino, status.st_size, status.st_mtime_ns
