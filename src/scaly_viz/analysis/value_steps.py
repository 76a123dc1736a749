"""Owns following a value through the steps of a recording, to and fro from one of them."""

from __future__ import annotations

from scaly_viz.analysis.following import (
    Name,
    follow,
    follow_parameter,
    is_function_of,
    parameter_of,
)
from scaly_viz.analysis.scanned_texts import ASSEMBLY, PROGRAM, Texts
from scaly_viz.analysis.scanners import ScannedText
from scaly_viz.recording import Step

EXPRESSION = "expr"
# Each function is normalized, and then lowered; texts of other functions show it as it was before.
NORMALIZED = "normalized"
_MAIN_KINDS = (ASSEMBLY, "code")

type Followed = tuple[Step, str, Name]
"""A step, the kind of its text, and the name of a value in there."""


def followed(texts: Texts, step: Step, kind: str, name: Name) -> dict[int, Followed]:
    """Return the names of a value by steps, in the main text of each step."""
    main = "assembly" if kind == "listing" and "assembly" in step.payloads else kind
    steps = [each for each in texts.recording.steps if not each.placeholder]
    # The step may be of the same recording read again: another object.
    at = [each.index for each in steps].index(step.index)
    found: dict[int, Followed] = {step.index: (step, main, name)}
    for direction in (1, -1):
        known: Followed = (step, main, name)
        others = steps[at + 1 :] if direction > 0 else steps[:at][::-1]
        for other in others:
            if {known[0].dialect, other.dialect} == {EXPRESSION, PROGRAM}:
                there = _through_lowering(texts, known, other, found)
            else:
                there = follow_to(texts, known, other)
            if there is not None:
                known = found[other.index] = there
    return found


def _through_lowering(
    texts: Texts, known: Followed, other: Step, found: dict[int, Followed]
) -> Followed | None:
    """Follow a value from an expression into the first program, or back."""
    step, _, name = known
    program = texts.first_program()
    if program is None or ASSEMBLY not in other.payloads or ASSEMBLY not in step.payloads:
        return None
    if step.dialect == EXPRESSION and other.index == program.index:
        normalized = (
            each for each in found.values() if each[0].name == f"{NORMALIZED}:{name.scope}"
        )
        step, _, name = next(normalized, known)
        lowering = texts.lowering(step, program)
        called = lowering.in_program(name) if lowering else None
    elif step.index == program.index:
        lowering = texts.lowering(other, program)
        called = lowering.in_expression(name) if lowering else None
        if called is not None and not is_lowered_from(other, called.scope or called.name):
            called = None
    else:
        return None
    return None if called is None else (other, ASSEMBLY, called)


def is_lowered_from(expression: Step, function: str) -> bool:
    """Return whether ``expression`` shows ``function`` as it was lowered, if there is such a step at all."""
    kind, _, of = expression.name.partition(":")
    return kind != NORMALIZED or of == function


def follow_to(texts: Texts, known: Followed, other: Step) -> Followed | None:
    """Return what a name of one step's text is called in ``other``, of the same language or in the source."""
    step, kind, name = known
    there = next((each for each in (kind, *_MAIN_KINDS) if each in other.payloads), None)
    if there is None:
        return None
    one, text = texts.scanned(step, kind), texts.scanned(other, there)
    if one is None or text is None:
        return None
    if other.dialect == step.dialect and there == kind:
        if other.payloads[kind].digest == step.payloads[kind].digest:
            return other, kind, name
        lines = texts.alignment(step, other, kind)
        called = follow(name, one, text, lines, within=step.dialect == EXPRESSION)
    elif there == "code" or kind == "code":
        called = name if there == "code" else _from_code(name, one, text)
    else:
        called = follow_parameter(name, one, text)
    return None if called is None else (other, there, called)


def _from_code(name: Name, code: ScannedText, program: ScannedText) -> Name | None:
    """The name in the last program of a name in C: the same, in the procedure that the function is of."""
    for scope in program.scopes:
        if not is_function_of(scope.name, name.scope):
            continue
        if any(True for _ in program.uses(name.name, scope)):
            return Name(name.name, scope.name)
        parameter = parameter_of(name.name, program, scope) if name.scope == scope.name else None
        if parameter is not None:
            return Name(parameter, scope.name)
    return None
