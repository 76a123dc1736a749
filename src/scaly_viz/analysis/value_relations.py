"""Owns what a value is made of and what is made of it: the other names of its lines."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from scaly_viz.analysis.following import Name
from scaly_viz.analysis.place import Place, place_of
from scaly_viz.analysis.scanners import ScannedText, Scope
from scaly_viz.analysis.text_model import Occurrence
from scaly_viz.recording import Step

_MAX_RELATED = 200


class Related(msgspec.Struct, frozen=True):
    """A value that another is made of, or that is made of it."""

    name: str
    scope: str
    place: Place


def related(
    text: ScannedText, step: Step, kind: str, name: Name, uses: Sequence[tuple[int, Occurrence]]
) -> tuple[list[Related], list[Related]]:
    """Return the producers and the consumers of ``name``: what else the lines have that write and read it."""
    producers: dict[str, Related] = {}
    consumers: dict[str, Related] = {}
    loops: dict[int, dict[str, int]] = {}
    for line in dict.fromkeys(line for line, _ in uses):
        scope = text.scope_at(line)
        if scope.line == line:
            continue
        if scope.line not in loops:
            loops[scope.line] = _loops(text, scope)
        names = text.names(line)
        written = {each.name for each in names if each.access != "read"}
        is_written = name.name in written
        is_read = any(each.name == name.name and each.access == "read" for each in names)
        for each in names:
            # The variable of a loop leads the passes, and makes no value.
            if each.is_procedure or loops[scope.line].get(each.name, line + 1) <= line:
                continue
            side = producers if each.access == "read" else consumers
            wanted = is_written if side is producers else is_read
            is_new = each.name != name.name and each.name not in side
            if wanted and is_new and len(side) < _MAX_RELATED:
                place = place_of(text, step.index, kind, line, each)
                side[each.name] = Related(each.name, name.scope, place)
    return list(producers.values()), list(consumers.values())


def _loops(text: ScannedText, scope: Scope) -> dict[str, int]:
    """The variables of the loops of a procedure, each with the first line that has such a loop."""
    found: dict[str, int] = {}
    for line in range(scope.line + 1, scope.end + 1):
        shown = text.lines[line - 1]
        if "for " not in shown:
            continue
        for use in text.names(line)[:1]:
            declared = text.scanner.declared(shown, use.name)
            if declared is not None and declared[0] == "loop":
                found.setdefault(use.name, line)
    return found
