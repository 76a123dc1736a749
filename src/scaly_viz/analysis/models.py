"""Owns the choice of the reader for a text, by its dialect and kind; another compiler's gets its place here."""

from __future__ import annotations

from functools import lru_cache

from scaly_viz.analysis.c_model import CText
from scaly_viz.analysis.cost import TextCost, Totals, cost_of
from scaly_viz.analysis.diff import lines_of
from scaly_viz.analysis.prog_names import ProgScanner
from scaly_viz.analysis.scanners import Scanner, WordScanner
from scaly_viz.analysis.text_c import CScanner
from scaly_viz.analysis.text_expr import ExprScanner
from scaly_viz.analysis.text_listing import ListingScanner, listing_model
from scaly_viz.analysis.text_model import TextModel
from scaly_viz.analysis.text_prog import ProgramText
from scaly_viz.analysis.texts import text_of
from scaly_viz.errors import PayloadError
from scaly_viz.recording import Recording, Step

_WORDS = WordScanner()
_SCANNERS: dict[tuple[str, str], Scanner] = {
    ("expr", "assembly"): ExprScanner(),
    ("prog", "assembly"): ProgScanner(),
    ("prog", "listing"): ListingScanner(),
    ("c", "code"): CScanner(),
}


def model_of(recording: Recording, step: Step, kind: str) -> TextModel | None:
    """Return what is known of the text of ``kind``, None where no reader knows its language.

    Raises:
        PayloadError: the step has no such text, or it cannot be rebuilt.
    """
    text = text_of(recording, step, kind)
    lines = lines_of(text)
    match step.dialect, kind:
        case "prog", "assembly":
            return _program(text)
        case "prog", "listing":
            try:
                assembly = text_of(recording, step, "assembly")
            except PayloadError:
                return None
            return listing_model(lines, _program(assembly))
        case "c", "code":
            return CText(lines).model()
    return None


@lru_cache(maxsize=2)  # a listing is asked for beside its assembly
def _program(text: str) -> TextModel:
    return ProgramText(lines_of(text)).model()


def scanner_of(dialect: str, kind: str) -> Scanner:
    """Return what finds names in the texts of ``kind`` in ``dialect``: words where no reader knows it."""
    return _SCANNERS.get((dialect, kind), _WORDS)


def cost_of_text(recording: Recording, step: Step, kind: str) -> TextCost:
    """Return the static cost of the text of ``kind``; of a language that no reader knows it is empty.

    Raises:
        PayloadError: the step has no such text, or it cannot be rebuilt.
    """
    model = model_of(recording, step, kind)
    if model is not None:
        return cost_of(model)
    unknown = f"all: a text of kind {kind} in dialect {step.dialect or 'unknown'} cannot be counted"
    return TextCost([], [], [], Totals(0, 0, 0, 0), [unknown])
