"""Owns the texts of a recording with their names and what lines of them correspond, each worked out once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from scaly_viz.analysis.diff import aligned_lines, lines_of
from scaly_viz.analysis.following import Aligned
from scaly_viz.analysis.models import scanner_of
from scaly_viz.analysis.scanners import ScannedText
from scaly_viz.analysis.texts import text_of
from scaly_viz.errors import PayloadError
from scaly_viz.recording import Recording, Step


@dataclass(slots=True)
class Texts:
    """The texts of a recording with their names, each read once."""

    recording: Recording
    aligned: Aligned = aligned_lines
    _scanned: dict[tuple[str, str, str], ScannedText | None] = field(default_factory=dict)
    _alignments: dict[tuple[str, str], Sequence[int]] = field(default_factory=dict)

    def scanned(self, step: Step, kind: str) -> ScannedText | None:
        """Return the text, None where it cannot be read."""
        payload = step.payloads.get(kind)
        key = (step.dialect, kind, payload.digest if payload else "")
        if key not in self._scanned:
            try:
                lines = lines_of(text_of(self.recording, step, kind))
            except PayloadError:
                self._scanned[key] = None
            else:
                self._scanned[key] = ScannedText.of(lines, scanner_of(step.dialect, kind))
        return self._scanned[key]

    def alignment(self, one: Step, other: Step, kind: str) -> Sequence[int]:
        """Return which line of the text of ``other`` each line of that of ``one`` is."""
        key = (one.payloads[kind].digest, other.payloads[kind].digest)
        if key not in self._alignments:
            ours, theirs = self.scanned(one, kind), self.scanned(other, kind)
            assert ours is not None, "both texts have been read"
            assert theirs is not None, "both texts have been read"
            self._alignments[key] = self.aligned(ours.lines, theirs.lines)
        return self._alignments[key]
