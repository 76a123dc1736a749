"""Owns the texts of a recording with their names: each read when it is asked for, and kept as far as there is room."""

from __future__ import annotations

from array import array
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from scaly_viz.analysis.diff import aligned_lines, lines_of
from scaly_viz.analysis.following import Aligned
from scaly_viz.analysis.lowering import Lowering
from scaly_viz.analysis.models import scanner_of
from scaly_viz.analysis.scanners import ScannedText, Scanner
from scaly_viz.analysis.texts import text_of
from scaly_viz.errors import PayloadError
from scaly_viz.recording import Recording, Step

ASSEMBLY = "assembly"
PROGRAM = "prog"
# What a text takes beside its characters: an object a line, and the names of those looked at last.
_BYTES_A_LINE = 100
_BYTES_A_TEXT = 1_000_000
_MOST_BYTES = 48_000_000


@dataclass(slots=True)
class Texts:
    """The texts of a recording with their names, read when asked for; up to ``most_bytes`` stay in memory."""

    recording: Recording
    aligned: Aligned = aligned_lines
    scan: Callable[[Sequence[str], Scanner], ScannedText] = ScannedText.of
    most_bytes: int = _MOST_BYTES
    _scanned: OrderedDict[tuple[str, str, str], ScannedText | None] = field(
        default_factory=OrderedDict
    )
    _bytes: int = 0
    _alignments: dict[tuple[str, str], Sequence[int]] = field(default_factory=dict)
    _lowerings: dict[tuple[str, str], Lowering | None] = field(default_factory=dict)

    def scanned(self, step: Step, kind: str) -> ScannedText | None:
        """Return the text, None where it cannot be read."""
        payload = step.payloads.get(kind)
        key = (step.dialect, kind, payload.digest if payload else "")
        if key in self._scanned:
            self._scanned.move_to_end(key)
            return self._scanned[key]
        try:
            lines = lines_of(text_of(self.recording, step, kind))
        except PayloadError:
            self._scanned[key] = None
            return None
        text = self._scanned[key] = self.scan(lines, scanner_of(step.dialect, kind))
        self._bytes += _weight(text)
        while self._bytes > self.most_bytes and len(self._scanned) > 1:
            _, oldest = self._scanned.popitem(last=False)
            self._bytes -= _weight(oldest)
        return text

    def alignment(self, one: Step, other: Step, kind: str) -> Sequence[int]:
        """Return which line of the text of ``other`` each line of that of ``one`` is."""
        key = (one.payloads[kind].digest, other.payloads[kind].digest)
        if key not in self._alignments:
            ours, theirs = self.scanned(one, kind), self.scanned(other, kind)
            assert ours is not None, "both texts have been read"
            assert theirs is not None, "both texts have been read"
            self._alignments[key] = array("i", self.aligned(ours.lines, theirs.lines))
        return self._alignments[key]

    def first_program(self) -> Step | None:
        """Return the step whose program the expressions were lowered to."""
        steps = self.recording.steps
        return next((s for s in steps if s.dialect == PROGRAM and ASSEMBLY in s.payloads), None)

    def lowering(self, expression: Step, program: Step) -> Lowering | None:
        """Return what became of the values of ``expression``, None where a text cannot be read."""
        key = (expression.payloads[ASSEMBLY].digest, program.payloads[ASSEMBLY].digest)
        if key not in self._lowerings:
            one, other = self.scanned(expression, ASSEMBLY), self.scanned(program, ASSEMBLY)
            if one is None or other is None:
                self._lowerings[key] = None
            else:
                self._lowerings[key] = Lowering.of(one, other)
        return self._lowerings[key]


def _weight(text: ScannedText | None) -> int:
    if text is None:
        return 0
    characters = sum(map(len, text.lines))
    return characters + _BYTES_A_LINE * len(text.lines) + _BYTES_A_TEXT
