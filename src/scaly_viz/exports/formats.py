"""Owns the list of formats: what each is called, which suffixes ask for it, what fits in, and who writes it."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, Protocol, cast

from scaly_viz.exports.chosen import Chosen
from scaly_viz.recording import Recording, Step

type Report = Callable[[str], None]

# How many boxes the viewer's graph opens without being asked to.
BOXES = 45


def _say_nothing(_: str) -> None:
    pass


@dataclass(frozen=True, slots=True)
class Options:
    """What a writer is told beside the recordings.

    ``pick`` returns the step that was asked for, None where none was; ``boxes`` limits what a drawn
    graph opens; ``report`` takes one line on whatever a writer has to leave out; ``progress`` what a
    writer is at that takes long, and an empty text at its end.
    """

    pick: Callable[[Recording], Step] | None = None
    boxes: int = BOXES
    report: Report = _say_nothing
    progress: Report = _say_nothing


class Writer(Protocol):
    """What ``write`` of a format's module is."""

    def __call__(self, chosen: Iterable[Chosen], options: Options) -> Iterator[bytes]:
        """Yield the file's content; ``chosen`` is gone through once.

        Raises:
            ScalyVizError: a recording has nothing that this format could hold, or a package that the
                format needs is not installed.
        """
        ...


@dataclass(frozen=True, slots=True)
class Format:
    """One format.

    ``suffixes`` are those of its files, the usual one first. ``holds`` tells what fits into one file:
    any number of ``recordings``, one ``recording``, or one ``step`` of it. The writer is the function
    ``write`` of ``module``, which is imported on use. ``binary`` files are not for a terminal.
    """

    name: str
    suffixes: tuple[str, ...]
    meaning: str
    module: str
    holds: Literal["recordings", "recording", "step"] = "recordings"
    binary: bool = False

    def writer(self) -> Writer:
        """Import the writer."""
        return cast("Writer", importlib.import_module(self.module).write)


FORMATS = (
    Format(
        "otlp",
        (".otlp.jsonl", ".jsonl"),
        "OTLP JSON lines, as recorded: whole, and for any OpenTelemetry tool",
        "scaly_viz.exports.otlp_lines",
    ),
    Format(
        "json",
        (".json",),
        "scaly.viz's own recordings.json, which its loader and viewer read",
        "scaly_viz.exports.scaly_json",
    ),
    Format(
        "perfetto",
        (".perfetto-trace", ".pftrace"),
        "times and figures for ui.perfetto.dev",
        "scaly_viz.exports.perfetto",
        binary=True,
    ),
    Format(
        "chrome",
        (".trace.json",),
        "the same as Chrome's trace JSON, for Perfetto and chrome://tracing",
        "scaly_viz.exports.chrome",
    ),
    Format(
        "html",
        (".html", ".htm"),
        "the viewer as one page for a browser, without a server",
        "scaly_viz_viewer.standalone.writer",
    ),
    Format("c", (".c",), "the generated C", "scaly_viz.exports.source", holds="recording"),
    Format(
        "dot", (".dot", ".gv"), "a step's graph for Graphviz", "scaly_viz.exports.dot", holds="step"
    ),
    Format("svg", (".svg",), "a step's graph as a picture", "scaly_viz.exports.svg", holds="step"),
    Format("asm", (".asm",), "a step's assembly", "scaly_viz.exports.assembly", holds="step"),
    Format("txt", (".txt",), "a step's listing", "scaly_viz.exports.listing", holds="step"),
)

# ``.json.gz`` is as much JSON as ``.json``.
PACKINGS = (".gz", ".zst")


def named(name: str) -> Format:
    """Return the format called ``name``; it must be one of ``FORMATS``."""
    return next(format_ for format_ in FORMATS if format_.name == name)


def of_file(name: str) -> Format | None:
    """Return the format that a file called ``name`` would have, None where its suffix does not say."""
    bare = unpacked(name)
    found = [
        (len(suffix), format_)
        for format_ in FORMATS
        for suffix in format_.suffixes
        if bare.endswith(suffix) and bare != suffix
    ]
    return max(found, key=lambda pair: pair[0])[1] if found else None


def packing(name: str) -> str:
    """Return ``.gz`` or ``.zst`` where the file ``name`` is to be compressed so, else nothing."""
    return next((each for each in PACKINGS if name.lower().endswith(each)), "")


def unpacked(name: str) -> str:
    """Return ``name`` in small letters, without the suffix of a compression."""
    return name.lower().removesuffix(packing(name))
