"""Owns the export of the generated C."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from scaly_viz.errors import ScalyVizError
from scaly_viz.exports.chosen import Chosen
from scaly_viz.exports.formats import Options

_CODE = "code"


def write(chosen: Iterable[Chosen], options: Options) -> Iterator[bytes]:
    """Yield the C of the recording, byte for byte.

    Raises:
        ScalyVizError: the recording has none.
    """
    for each in chosen:
        recording = each.recording
        step = next((step for step in reversed(recording.steps) if _CODE in step.payloads), None)
        if step is None:
            why = f" ({recording.error})" if recording.error else ""
            raise ScalyVizError(f"{recording.name} has no generated C{why}")
        yield recording.data(step, _CODE)
