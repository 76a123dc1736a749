"""Owns the exit codes of the command line: what each means, and how a command's help says so."""

from __future__ import annotations

from collections.abc import Mapping

DONE = 0
FAILED = 1
MISUSED = 2
INTERRUPTED = 130
PIPE_CLOSED = 141

MEANINGS: Mapping[int, str] = {
    DONE: "done",
    FAILED: "something was wrong; one line on standard error says what",
    MISUSED: "the command was called in a wrong way",
    INTERRUPTED: "interrupted (Ctrl-C)",
    PIPE_CLOSED: "whoever read the output closed it",
}


def epilog(meanings: Mapping[int, str] | None = None) -> str:
    """Return the end of a command's help: the exit codes, with ``meanings`` in place of the usual ones.

    A code whose meaning is empty is left out: the command never ends so.
    """
    every = sorted({**MEANINGS, **(meanings or {})}.items())
    lines = [f"  {code:<3}  {meaning}" for code, meaning in every if meaning]
    return "\n".join(("\b", "Exit codes:", *lines))
