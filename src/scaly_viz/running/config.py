"""Owns what ``scaly-viz run`` tells the processes of its script: which functions, how it is shown, and where."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass


@dataclass(frozen=True, slots=True)
class RunConfig:
    """One run. ``process`` is the script's own; its children say in the file ``journal`` what they recorded.

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

    @property
    def is_silent(self) -> bool:
        """Whether nothing is to be said or done at the end."""
        return self.quiet and not self.as_json and not self.browser

    def encode(self) -> str:
        """Return it as a text, which begins with the process that has a last word, 0 for none."""
        return f"{0 if self.is_silent else self.process} {json.dumps(asdict(self))}"


def decode(text: str) -> RunConfig:
    """Return what ``encode`` made a text of."""
    fields = json.loads(text.partition(" ")[2])
    fields["stderr"], fields["functions"] = tuple(fields["stderr"]), tuple(fields["functions"])
    return RunConfig(**fields)
