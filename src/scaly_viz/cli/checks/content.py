"""Owns checking what is in the file of recordings: lines that cannot be read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from scaly_viz.cli.checks import Finding, Verdict
from scaly_viz.errors import RecordingFileError
from scaly_viz.sources.files import read_documents
from scaly_viz.sources.otlp_json import decode_line

_AREA = "storage"
# What takes longer to read than a person waits for a check is not read.
_MOST_BYTES = 256 * 10**6
_ADVICE = "scaly-viz list says what is wrong with each; scaly-viz prune --damaged throws them away"


def check(path: Path, bytes_: int) -> Iterator[Finding]:
    """Look at the lines of the file ``path`` and its segments, which take ``bytes_``."""
    if bytes_ > _MOST_BYTES:
        text = f"{path} is too large to look at every line here; scaly-viz list does"
        yield Finding(_AREA, Verdict.NOTE, text)
        return
    damages: list[str] = []
    count = 0
    for document in read_documents(path, damages.append):
        count += 1
        if not document.line.is_ended:  # it may be being written
            continue
        try:
            decode_line(document.line.data, f"{document.name}:{document.line.number}", events=False)
        except RecordingFileError as error:
            damages.append(str(error))
    if damages:
        text = f"{len(damages):,} of {count:,} lines cannot be read, and are left out: {damages[0]}"
        yield Finding(_AREA, Verdict.WARNING, text, _ADVICE)
