"""Owns which lines of a lowered program correspond to a line of the expressions it was made of, where names say so.

Lowering gives values new names, so only what both call by name is told: functions, inputs, outputs
with the values returned in them, and calls.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping

from scaly_viz.analysis.following import parameters
from scaly_viz.analysis.scanners import ScannedText, Scope

_SYMBOLS = re.compile(r"\bfunction_symbols=\[(.*?)\]\]")
_SYMBOL = re.compile(r'\[@([^,\]]+), "([^"]*)"')
_INPUT = re.compile(r'\s*%[\w.]+ = expr\.input \{(?:[^{}"]|"[^"]*")*?\bname="([^"]*)"')
_CALL = re.compile(r"\s*%[\w.]+ = expr\.call\(([^()]*)\)")
_RETURN = re.compile(r"\s*expr\.return\b")


def expression_lines(expression: ScannedText, program: ScannedText) -> dict[int, list[int]]:
    """Return for lines of ``expression`` those of ``program`` that are surely the same."""
    found: dict[int, list[int]] = {}
    procedures = procedures_of(expression, program)
    for scope in expression.scopes:
        if scope.name in procedures:
            found |= _in_function(expression, scope, program, procedures)
    return found


def procedures_of(expression: ScannedText, program: ScannedText) -> dict[str, Scope]:
    """Return the procedure of each function, left out where namesakes leave a doubt."""
    functions = Counter(scope.name for scope in expression.scopes)
    known = Counter(scope.name for scope in program.scopes)
    scopes = {scope.name: scope for scope in program.scopes if known[scope.name] == 1}
    symbols = _symbols(program)
    # A function that is only called may be in another step's text.
    names = symbols or {name: [name] for name in scopes}
    return {
        name: scopes[made[0]]
        for name, made in names.items()
        if len(made) == 1 and made[0] in scopes and functions[name] < 2
    }


def _symbols(program: ScannedText) -> dict[str, list[str]]:
    """The procedures made of the functions of each name, as the head of the module says."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    head = next((line for line in program.lines if line.startswith("prog.module")), "")
    if match := _SYMBOLS.search(head):
        for function, symbol in _SYMBOL.findall(match[1] + "]"):
            found[function].append(symbol)
    return found


def _in_function(
    expression: ScannedText,
    scope: Scope,
    program: ScannedText,
    procedures: Mapping[str, Scope],
) -> dict[int, list[int]]:
    procedure = procedures[scope.name]
    found: defaultdict[int, set[int]] = defaultdict(set)
    found[scope.line].add(procedure.line)
    ours, theirs = parameters(expression, scope), parameters(program, procedure)
    fits = all(len(ours[role]) == len(theirs[role]) for role in ("input", "output"))
    written, called = _written(program, procedure)
    defined: dict[str, int] = {}
    calls: defaultdict[str, defaultdict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for line in range(scope.line + 1, scope.end + 1):
        text = expression.lines[line - 1]
        names = expression.names(line)
        defined.update((use.name, line) for use in names if use.access == "write")
        if (given := _INPUT.match(text)) and fits and given[1] in ours["input"]:
            found[line].add(procedure.line)
        elif call := _CALL.match(text):
            for callee in (use.name for use in names if use.is_procedure):
                calls[callee][call[1]].append(line)
        elif _RETURN.match(text) and fits and len(names) == len(theirs["output"]):
            for use, output in zip(names, theirs["output"], strict=True):
                there = written.get(output, [])
                found[line].update(there)
                found[defined.get(use.name, line)].update(there)
    for callee, by_operands in calls.items():
        made = procedures.get(callee)
        # Of several calls the text does not tell which became which; lines of one differ in the output.
        if made is not None and len(by_operands) == 1:
            for line in next(iter(by_operands.values())):
                found[line].update(called.get(made.name, []))
    return {line: sorted(lines) for line, lines in found.items() if lines}


def _written(
    program: ScannedText, procedure: Scope
) -> tuple[Mapping[str, list[int]], Mapping[str, list[int]]]:
    """The lines that give each name its content, and those that call each procedure."""
    written: defaultdict[str, list[int]] = defaultdict(list)
    called: defaultdict[str, list[int]] = defaultdict(list)
    for line in range(procedure.line + 1, procedure.end + 1):
        for use in program.names(line):
            if use.is_procedure:
                called[use.name].append(line)
            elif use.access != "read":
                written[use.name].append(line)
    return written, called


def inverse(lines: Mapping[int, list[int]]) -> dict[int, list[int]]:
    """Return the same the other way round."""
    found: defaultdict[int, list[int]] = defaultdict(list)
    for line in sorted(lines):
        for there in lines[line]:
            found[there].append(line)
    return found
