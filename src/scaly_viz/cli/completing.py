"""Owns what a shell completes: names of recordings, their steps and their functions, as far as a look is cheap."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

if TYPE_CHECKING:
    from scaly_viz.recording import Recording

# What takes longer to read than a person waits for a completion is not completed.
_MOST_BYTES = 256 * 1024**2
_NEWEST = 50
_SHORT_ID = 8


def recordings(
    ctx: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Complete a recording: ``last``, and the ids of the newest, with their names and ages."""
    from scaly_viz.cli.quantities import local_time

    items = [CompletionItem("last", help="the newest")]
    for recording in [*reversed(_recordings(ctx))][:_NEWEST]:
        when = local_time(recording.start_ns / 1e9)
        items.append(CompletionItem(recording.id[:_SHORT_ID], help=f"{recording.name}, {when}"))
    return _starting(items, incomplete)


def steps(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete a step of the recording that stands before it: the name, without what its colon ends."""
    from scaly_viz.cli.selection import select_recording

    found = _recordings(ctx)
    if not found:
        return []
    chosen = select_recording(found, str(ctx.params.get("recording") or "last"))
    names = [(step.name.partition(":")[2] or step.name, step) for step in chosen.steps]
    bare = [name for name, _ in names]
    items = [
        # A shell takes a colon or a blank for the end of a word.
        CompletionItem(
            name if name.isidentifier() and bare.count(name) == 1 else str(step.index),
            help=f"step {step.index}: {step.name}",
        )
        for name, step in names
        if name
    ]
    return _starting(items, incomplete)


def files(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Leave a file or folder to the shell."""
    return [CompletionItem(incomplete, type="file")]


def sides(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete what is compared: a recording, or a file or folder."""
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
    return [item for item in items if str(item.value).startswith(incomplete)]
