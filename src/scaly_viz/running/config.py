"""Owns what ``scaly-viz run`` tells the processes of its script: which functions, how it is shown, and where."""

from __future__ import annotations

import msgspec


class RunConfig(msgspec.Struct, frozen=True):
    """One run. ``process`` is the script's own; its children say in ``journal`` what they recorded.

    ``functions`` are globs, empty for all. ``stderr`` is which file standard error was at the start.
    """

    process: int
    journal: str
    stderr: tuple[int, int, int]
    functions: tuple[str, ...] = ()
    label: str | None = None
    quiet: bool = False
    as_json: bool = False
    browser: bool = False

    def encode(self) -> str:
        """Return it as a text, which begins with the process."""
        return f"{self.process} {msgspec.json.encode(self).decode()}"


def decode(text: str) -> RunConfig:
    """Return what ``encode`` made a text of."""
    return msgspec.json.decode(text.partition(" ")[2], type=RunConfig)
