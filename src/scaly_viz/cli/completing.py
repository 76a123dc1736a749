"""Owns what a shell completes: names of recordings, their steps and their functions, as far as a look is cheap."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

if TYPE_CHECKING:
    from scaly_viz.recording import Recording

type Completer = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]

# What takes longer to read than a person waits for a completion is not completed.
_MOST_BYTES = 256 * 1024**2
_NEWEST = 50
_SHORT_ID = 8


def recordings(
    ctx: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Complete a recording: ``last``, ids of the newest with their names and ages, functions and labels."""
    from scaly_viz.cli.quantities import local_time

    items = [CompletionItem("last", help="the newest")]
    newest = [*reversed(_recordings(ctx))][:_NEWEST]
    for recording in newest:
        when = local_time(recording.start_ns / 1e9)
        items.append(CompletionItem(recording.id[:_SHORT_ID], help=f"{recording.name}, {when}"))
    names = dict.fromkeys(name for each in newest for name in (each.function, each.name))
    return _starting([*items, *(CompletionItem(name) for name in names)], incomplete)


def steps(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete a step of the recording that stands before it: what its colon ends only where that is begun."""
    from scaly_viz.cli.selection import select_recording
    from scaly_viz.errors import ScalyVizError

    # click leaves arguments where they are in front of an option that has no value yet.
    several = ctx.params.get("recordings") or ctx.args or ("last",)
    word = ctx.params.get("recording") or several[-1]
    found = _recordings(ctx)
    try:
        named = [step for step in select_recording(found, str(word)).steps if step.name]
    except (ScalyVizError, IndexError):  # which the command itself will say
        return []
    bare = [step.name.partition(":")[2] or step.name for step in named]
    items = []
    for name, step in zip(bare, named, strict=True):
        value = name if bare.count(name) == 1 else str(step.index)
        if incomplete and not value.startswith(incomplete):
            value = step.name
        items.append(CompletionItem(value, help=f"step {step.index}: {step.name}"))
    return _starting(items, incomplete)


def words(*known: str) -> Completer:
    """Complete one of the ``known`` words."""
    return lambda _, __, incomplete: _starting([CompletionItem(word) for word in known], incomplete)


def formats(
    ctx: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Complete a format of ``scaly-viz export``."""
    from scaly_viz.exports.formats import FORMATS

    return words(*(each.name for each in FORMATS))(ctx, parameter, incomplete)


def redacted_kinds(
    ctx: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Complete a kind of what is redacted; behind a comma another one."""
    from scaly_viz.exports.redaction import KINDS

    before = incomplete[: incomplete.rfind(",") + 1]
    return words(*(f"{before}{kind}" for kind in KINDS))(ctx, parameter, incomplete)


def files(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Leave a file or folder to the shell."""
    return [CompletionItem(incomplete, type="file")]


def sides(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete what is a recording, or a file or folder."""
    return [
        *recordings(ctx, parameter, incomplete),
        *files(ctx, parameter, incomplete),
    ]


def functions(
    ctx: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Complete the name of a function that was recorded."""
    names = dict.fromkeys(recording.function for recording in reversed(_recordings(ctx)))
    return _starting([CompletionItem(name) for name in names if name], incomplete)


def _recordings(ctx: click.Context) -> Sequence[Recording]:
    """Return the recordings, without their payloads, that the command would read; of a backend none."""
    from scaly_viz import settings
    from scaly_viz.assembling import assemble
    from scaly_viz.cli import reading
    from scaly_viz.sources.address import is_address
    from scaly_viz.sources.files import read_spans

    path = ctx.params.get("path")
    # Whatever is wrong there, the command itself will say.
    with suppress(Exception):
        if path is not None and is_address(path):
            return []
        place = settings.recording_path() if path is None else reading.existing(path)
        if reading.size(place) <= _MOST_BYTES:
            return assemble(read_spans(place, lambda problem: None, events=False))
    return []


def _starting(items: Sequence[CompletionItem], incomplete: str) -> list[CompletionItem]:
    """Return the ``items`` that can be typed, and begin so."""
    values = [(str(item.value), item) for item in items]
    return [item for v, item in values if v.startswith(incomplete) and v.isprintable() and v]
