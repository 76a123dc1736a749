"""Owns what the assembly tells of a program whose graph has labels only: parameters, names, statements."""

from __future__ import annotations

import re
from collections.abc import Mapping

from scaly_viz.analysis import entries as e
from scaly_viz.analysis.entries import Entry
from scaly_viz.analysis.graph_names import short
from scaly_viz.analysis.prog_grammar import NAME, PROCEDURE_HEAD

_LOOP = re.compile(r" *prog\.for %(\w+) = (.*?) to (.*?) step (.*) \{kind=\w+\} \{")
_TARGET = re.compile(rf" *%({NAME}) = prog\.")
_LONGEST_LINE = 1_000


def parameters_of(assembly: str) -> Mapping[str, int]:
    """Return how many parameters each procedure has."""
    return {
        match[1]: line.partition(") {")[0].count(": memref<")
        for line in assembly.split("\n")
        if "prog.proc @" in line and (match := PROCEDURE_HEAD.match(line))
    }


def name_by_text(root: Entry, assembly: str) -> None:
    """Give loops and statements the names and titles that their lines have; lines must be right."""
    lines = assembly.split("\n")
    for entry, _ in e.preorder(root):
        if entry.kind in (e.LOOP, e.STATEMENT) and 0 < entry.line <= len(lines):
            line = lines[entry.line - 1][:_LONGEST_LINE]
            _name(entry, line)


def _name(entry: Entry, line: str) -> None:
    loop = _LOOP.fullmatch(line)
    if loop:
        name, start, stop, step = (part.replace("prog.", "") for part in loop.groups())
        entry.name = name
        entry.title = short(
            f"for {name} in {start}..{stop}{'' if step == '1' else f' step {step}'}"
        )
        if all(part.isdecimal() and len(part) < 12 for part in (start, stop, step)) and int(step):
            entry.trips = max(0, -(-(int(stop) - int(start)) // int(step)))
        return
    target = _TARGET.match(line)
    if target:
        entry.name = target[1]
    elif " prog.store" in line:
        entry.name = _stored(line)
    entry.title = short(line.strip().replace("prog.", ""), 160)


def _stored(line: str) -> str:
    """Return the buffer that a store writes: the last name before a bracket that nothing encloses."""
    depth = 0
    for i in range(len(line) - 1, 0, -1):
        depth += (line[i] == "]") - (line[i] == "[")
        if line[i] == "[" and depth == 0:
            return line[:i].rpartition("%")[2]
    return ""
