"""Owns what scaly itself reports of a render, and each test program's, rendered once a session."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from scaly.codegen import aot
from scaly.ir.program import ProgramNode, walk_program

from . import PROGRAMS


@dataclass
class PlainObserver:
    """Keeps what scaly reports of one render."""

    functions: list[Any]
    programs: list[tuple[str, ProgramNode]] = field(default_factory=list)
    code: str | None = None
    error: str | None = None

    def add_normalized_expr(self, name: str, fun: Any) -> None:
        self.functions.append(fun)

    def add_program(self, name: str, root: ProgramNode) -> None:
        self.programs.append((name, root))

    def add_code(self, source: str) -> None:
        self.code = source

    def finish(self, *, error: str | None = None) -> None:
        self.error = error

    def changing_passes(self) -> set[str]:
        """Return the passes after which the root is another object than before."""
        pairs = zip(self.programs, self.programs[1:], strict=False)
        return {name for (_, before), (name, after) in pairs if after is not before}

    def nodes(self) -> Iterator[ProgramNode]:
        """Yield the program nodes of every step."""
        for _, root in self.programs:
            yield from walk_program(root)


@contextmanager
def observed() -> Iterator[list[PlainObserver]]:
    """Observe every render inside the block."""
    observers: list[PlainObserver] = []

    def begin(fun: Any) -> PlainObserver:
        observers.append(PlainObserver([fun]))
        return observers[-1]

    aot.register_render_observer(begin)
    try:
        yield observers
    finally:
        aot._RENDER_OBSERVERS.remove(begin)


def steps_of(render: Callable[[Any], Any], function: Any) -> list[tuple[str, ProgramNode]]:
    """Render ``function`` and return its programs, by step."""
    with observed() as observers:
        render(function)
    return [step for observer in observers for step in observer.programs]


@dataclass(frozen=True)
class Outcome:
    """How one program's render went: what was observed, and the exception's class name."""

    observers: list[PlainObserver]
    error: str | None

    @property
    def programs(self) -> list[tuple[str, ProgramNode]]:
        """The programs, by step."""
        return [step for observer in self.observers for step in observer.programs]


@cache
def outcome_of(name: str) -> Outcome:
    """Build and render the test program ``name`` under a plain observer."""
    (program,) = (each for each in PROGRAMS if each.name == name)
    function = program.build()
    with observed() as observers:
        try:
            program.render(function)
        except Exception as exc:
            return Outcome(observers, type(exc).__name__)
    return Outcome(observers, None)
