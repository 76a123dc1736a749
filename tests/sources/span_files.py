"""Owns recording files made of lines with one span each, and what is read from them."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import zstandard

from scaly_viz.sources.files import Follower, read_spans

# What a Collector's file exporter (0.161.0) wrote with compression: zstd, for two batches.
COLLECTOR_ZSTD = base64.b64decode("""
AAAAjCi1L/0EAP0DAAKIGhpwxwIoTmxoRrvob4p2cu8qTGyT3aTt6f+XF1100UV3A8/Mogv/fG4hGRx+CYr8fCCYRC
kdx1uHthGIKvzz2Daywy3ZkkONGUrV8NZTiz2VyTAOLwEbdS5KEvmnG3gBPCOqBDZOJuGdbwIGAPGUgKpK9EyQ2QBQ
ESl4hgHtrEg6AAAAjSi1L/0EAAUEADLIGhpgARYrLIa26shyT3ajNPStCJAkIV3keq1rDF100UX34s5KognfPAbmQr
nz7hug8uYCseBBKMa2w1lGSEX45o/tW3FQkKHhsGUkTUJTLanVFCLDuDsU7NOZIMfjm17cAdxZKjLYN5WDd34JBgDx
lICqSvRMkNkAUBEpeIYBV9+L9A==
""")


def line(name: str) -> bytes:
    """Return one complete line with a span of that name."""
    return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [{"name": name}]}]}]}).encode()


def lines_of(*names: str) -> bytes:
    return b"".join(line(name) + b"\n" for name in names)


def read(path: Path) -> tuple[list[str], list[str]]:
    """Return the names of the spans that are found, and what is reported."""
    reports: list[str] = []
    return [span.name for span in read_spans(path, reports.append)], reports


def fail(text: str) -> None:
    raise AssertionError(text)


def append(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)


zstd_with_checksum = zstandard.ZstdCompressor(write_checksum=True).compress


class Following:
    """A follower with what it has reported."""

    def __init__(self, path: Path) -> None:
        self.reports: list[str] = []
        self._follower = Follower(path, self.reports.append)

    def poll(self) -> list[str]:
        return [span.name for span in self._follower.poll()]
