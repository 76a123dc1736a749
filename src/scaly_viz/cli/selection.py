"""Owns how the words of a command line name a recording and a step."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from typing import Protocol

from scaly_viz.cli.output import listed
from scaly_viz.cli.quantities import plural
from scaly_viz.errors import ScalyVizError
from scaly_viz.recording import Recording, Step

LAST = "last"
_NUMBER = re.compile(r"-?[0-9]{1,9}")
_SHORT_ID = 8


class Named(Protocol):
    """A recording, or its short form."""

    @property
    def id(self) -> str:
        """Its id."""

    @property
    def name(self) -> str:
        """What it is shown as."""

    @property
    def function(self) -> str:
        """The rendered function."""


def is_number_or_last(word: str) -> bool:
    """Tell whether ``word`` counts recordings, from either end."""
    return word == LAST or _NUMBER.fullmatch(word) is not None


def split_place(word: str) -> tuple[str, str] | None:
    """Return the path and the name of ``PATH#NAME``, None where no such path is there.

    Either may have a "#" in it: the longest path that is there is meant.
    """
    at = len(word)
    while (at := word.rfind("#", 0, at)) > 0:
        path, name = word[:at], word[at + 1 :]
        if name and os.path.lexists(os.path.expanduser(path)):  # noqa: PTH111  # Path's raises where there is no such user
            return path, name
    return None


def select_recording[R: Named](recordings: Sequence[R], word: str) -> R:
    """Return the recording that ``word`` names; ``recordings`` are oldest first and not empty.

    ``last`` is the newest; so is -1, and 1 is the oldest. Else it is, in this order, an id, a name or
    function (the newest that has it), the start of one id, or a part or pattern of a name or
    function, in any case of letters (the newest again).

    Raises:
        ScalyVizError: it names none, or starts several ids.
    """
    if word == LAST:
        return recordings[-1]
    if _NUMBER.fullmatch(word) and 1 <= abs(int(word)) <= len(recordings):
        number = int(word)
        return recordings[number - 1 if number > 0 else number]
    newest_first = [*reversed(recordings)]
    named = [r for r in newest_first if word == r.id] or [
        r for r in newest_first if word in (r.name, r.function)
    ]
    if not named:
        named = [r for r in newest_first if word and r.id.lower().startswith(word.lower())]
        if len(named) > 1:
            raise ScalyVizError(
                f"the ids of {len(named)} recordings start with {word!r}:"
                f" {listed([_described(recording) for recording in named])}"
            )
    named = named or [
        r for r in newest_first if any(_matches(n, word) for n in (r.name, r.function))
    ]
    if not named:
        raise ScalyVizError(f"no recording is called {word!r}; {_advice(recordings, word)}")
    return named[0]


def _described(recording: Named) -> str:
    return f"{recording.id[: 2 * _SHORT_ID]} ({recording.name})"


def _advice(recordings: Sequence[Named], word: str) -> str:
    step = f"; for that step of the newest: scaly-viz show {LAST} {word}"
    newest = recordings[-1]
    hint = step if isinstance(newest, Recording) and _named_steps(newest.steps, word) else ""
    if len(recordings) == 1:
        return f"the only one is {_described(recordings[0])}{hint}"
    return f"there are {len(recordings)}, 1 to {len(recordings)}: scaly-viz list{hint}"


def select_step(recording: Recording, word: str) -> Step:
    """Return the step that ``word`` names: an index, a name, a pass's bare name, or a part of one name.

    Indices count from 0, negative ones from the end. Part and pattern match in any case of letters.

    Raises:
        ScalyVizError: it names none, or several.
    """
    steps = recording.steps
    if _NUMBER.fullmatch(word) and -len(steps) <= int(word) < len(steps):
        found = [steps[int(word)]]
    else:
        found = _named_steps(steps, word)
    if not found:
        one_line = listed([f"{step.index} {step.name}" for step in steps], len(steps)) or "none"
        raise ScalyVizError(f"{recording.name} has no step {word!r}; its steps are: {one_line}")
    if len(found) > 1:
        one_line = listed([f"{step.index} {step.name}" for step in found], len(found))
        raise ScalyVizError(f"{word!r} may be {plural(len(found), 'step')}: {one_line}")
    return found[0]


def _named_steps(steps: Sequence[Step], word: str) -> list[Step]:
    """Return the steps that match ``word`` in the strictest way in which any does."""
    ways: tuple[Callable[[str], bool], ...] = (
        lambda name: name == word,
        lambda name: name.partition(":")[2] == word,
        lambda name: _matches(name, word),
    )
    named = [step for step in steps if not step.placeholder]
    for way in ways:
        found = [step for step in named if word and way(step.name)]
        if found:
            return found
    return []


def _matches(name: str, word: str) -> bool:
    if not word:
        return False
    return word.lower() in name.lower() or fnmatchcase(name.lower(), word.lower())
