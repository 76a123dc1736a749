"""Owns what ``scaly-viz export`` does: where to, in which format, which recordings, and what was written."""

from __future__ import annotations

import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import click

from scaly_viz import settings, sources
from scaly_viz.cli import output, reading
from scaly_viz.cli.output import listed
from scaly_viz.cli.quantities import plural
from scaly_viz.cli.selection import is_number_or_last, select_recording, select_step, split_place
from scaly_viz.errors import ScalyVizError
from scaly_viz.exports import files
from scaly_viz.exports.chosen import Chosen, Shelf, chosen
from scaly_viz.exports.formats import FORMATS, Format, Options, named, of_file, packing
from scaly_viz.exports.packing import packed
from scaly_viz.exports.redaction import KINDS, redacted
from scaly_viz.recording import Recording, Step
from scaly_viz.sources.address import is_address

DRAWN = ("dot", "svg")
STANDARD_OUTPUT = "-"

# What Windows takes for a device, whatever its suffix.
_DEVICES = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)", re.IGNORECASE)
_LONGEST = 80


@dataclass(frozen=True, slots=True)
class Target:
    """Where the files go. ``path`` is a folder, a file, or None for standard output."""

    format: Format
    path: Path | None
    is_folder: bool
    packing: str

    @property
    def is_standard_output(self) -> bool:
        """Whether nothing is written to a file."""
        return self.path is None


def target(to: str, format_name: str | None) -> Target:
    """Return what ``--to`` and ``--format`` ask for.

    Raises:
        click.UsageError: that does not make a format.
    """
    if format_name is not None and format_name not in [each.name for each in FORMATS]:
        known = ", ".join(each.name for each in FORMATS)
        raise click.BadParameter(f"{format_name!r} is none of {known}", param_hint="--format")
    given = None if format_name is None else named(format_name)
    if to == STANDARD_OUTPUT:
        if given is None:
            raise click.UsageError("--to - does not say in which format: give --format, too")
        return Target(given, None, False, "")
    path = Path(to).expanduser()
    is_folder = to.endswith(("/", os.sep)) or path.is_dir()
    found = given or (None if is_folder else of_file(path.name))
    if found is None:
        suffixes = ", ".join(each.suffixes[0] for each in FORMATS)
        why = "a folder" if is_folder else "its suffix"
        raise click.UsageError(
            f"{to}: {why} does not say in which format: give --format, or a file with one of"
            f" the suffixes {suffixes}"
        )
    return Target(found, path, is_folder, "" if is_folder else packing(path.name))


@dataclass(frozen=True, slots=True)
class Picked:
    """Recordings from one place, and the way to have them whole."""

    recordings: Sequence[Recording]
    take: Callable[[Sequence[Recording]], Iterable[Chosen]]


def pick(path: str | None, words: Sequence[str], *, strict: bool) -> list[Picked]:
    """Return the recordings at ``path`` that ``words`` name, all where there are no words.

    A word may also be a file or a folder: then all that is in there, or with ``#NAME`` that one.

    Raises:
        ScalyVizError: a word names none, or there are no recordings.
    """
    report = sources.fail if strict else output.warn
    names: list[str] = []
    picked: list[Picked] = []
    for word in words:
        if _is_place(word):
            picked.append(_of_place(Path(word), None, report))
        elif place := split_place(word):
            picked.append(_of_place(Path(place[0]), [place[1]], report))
        else:
            names.append(word)
    if names or not words:
        picked.append(_of_path(path, names or None, report, strict=strict))
    for recording in (each for group in picked for each in group.recordings):
        for problem in recording.problems:
            report(f"recording {recording.id} ({recording.name}): {problem}")
    return picked


def _is_place(word: str) -> bool:
    """Tell a path from a name, as ``scaly-viz compare`` does: what is there is meant."""
    return bool(word) and not is_number_or_last(word) and os.path.lexists(Path(word).expanduser())


def _of_path(
    path: str | None, words: Sequence[str] | None, report: sources.Report, *, strict: bool
) -> Picked:
    if path is None:
        return _of_place(settings.recording_path(), words, report)
    if not is_address(path):
        return _of_place(reading.of_recordings(path), words, report)
    if words is None:
        found = sources.load(path, report)
    else:
        named_ones = (reading.choose(path, word, strict=strict) for word in words)
        found = [recording for recording in named_ones if recording is not None]
    if not found:
        raise ScalyVizError(reading.nothing_there(path))
    return Picked(_distinct(found), lambda wanted: map(chosen, wanted))


def _of_place(place: Path, words: Sequence[str] | None, report: sources.Report) -> Picked:
    place = place.expanduser()
    with reading.patience(place):
        shelf = Shelf(place, report)
    if not shelf.recordings:
        raise ScalyVizError(f"{place}: there are no recordings")
    if words is None:
        return Picked(shelf.recordings, shelf.take)
    return Picked(_distinct(select_recording(shelf.recordings, w) for w in words), shelf.take)


def _distinct(recordings: Iterable[Recording]) -> list[Recording]:
    found: list[Recording] = []
    for recording in recordings:
        if not any(recording is each for each in found):
            found.append(recording)
    return found


def stepper(word: str | None) -> Callable[[Recording], Step] | None:
    """Return what finds the step that ``word`` names, None where none was asked for."""
    return None if word is None else partial(select_step, word=word)


def kinds(keep: Sequence[str]) -> frozenset[str]:
    """Return the kinds that ``--keep`` lists.

    Raises:
        click.BadParameter: there is no such kind.
    """
    found = [kind.strip() for each in keep for kind in each.split(",")]
    for kind in found:
        if kind not in KINDS:
            known = ", ".join(KINDS)
            raise click.BadParameter(f"{kind!r} is none of {known}", param_hint="--keep")
    return frozenset(found)


@dataclass(frozen=True, slots=True)
class Written:
    """One file that was written, or standard output."""

    path: Path | None
    format: str
    recordings: list[str]
    bytes: int

    def as_json(self) -> dict[str, object]:
        """Return it for a program."""
        return {
            "path": STANDARD_OUTPUT if self.path is None else str(self.path),
            "format": self.format,
            "recordings": self.recordings,
            "bytes": self.bytes,
        }

    def in_words(self) -> str:
        """Return it for a person."""
        from scaly_viz.cli.characters import visible

        count = plural(len(self.recordings), "recording")
        return f"{visible(str(self.path))}: {count}, {self.bytes:,} bytes"


@dataclass(frozen=True, slots=True)
class Exported:
    """What became of all recordings; ``problems`` are of those that a folder has no file of."""

    written: list[Written]
    problems: list[str]

    def fail_if_incomplete(self) -> None:
        """Raise where a recording could not be exported.

        Raises:
            ScalyVizError: one could not.
        """
        count, total = len(self.problems), len(self.problems) + len(self.written)
        if count and total == 1:
            raise ScalyVizError(self.problems[0])
        for problem in self.problems:
            output.warn(problem)
        if count:
            raise ScalyVizError(f"{count:,} of {total:,} recordings could not be exported")


def export(
    picked: Sequence[Picked],
    to: Target,
    options: Options,
    *,
    keep: frozenset[str] | None,
    force: bool,
) -> Exported:
    """Write what was ``picked``, redacted but for what to ``keep``, or as it is where that is None.

    Raises:
        ScalyVizError: there are more recordings than the format holds; a file exists.
    """
    all_of_them = [recording for group in picked for recording in group.recordings]
    if to.is_folder:
        return _export_each(picked, to, options, all_of_them, keep=keep, force=force)
    if to.format.holds != "recordings" and len(all_of_them) > 1:
        raise ScalyVizError(
            f"{to.path or STANDARD_OUTPUT}: {to.format.name} holds one recording, not"
            f" {len(all_of_them):,} ({listed([each.name for each in all_of_them], 3)}): give a"
            f" folder, --to FOLDER/ --format {to.format.name}"
        )
    ids: list[str] = []
    write = to.format.writer()
    with closing(_taken(picked, keep)) as taken:
        content = write(_noted(taken, ids), options)
        if to.path is None:
            size = _print(content, to.format)
        else:
            size = files.write_file(to.path, packed(content, to.packing), force=force)
    return Exported([Written(to.path, to.format.name, ids, size)], [])


def _export_each(
    picked: Sequence[Picked],
    to: Target,
    options: Options,
    recordings: Sequence[Recording],
    *,
    keep: frozenset[str] | None,
    force: bool,
) -> Exported:
    folder = to.path or Path()
    folder.mkdir(parents=True, exist_ok=True)
    suffix = to.format.suffixes[0]
    counts = Counter(_stem(recording.function).casefold() for recording in recordings)
    alone = {each.id for each in recordings if counts[_stem(each.function).casefold()] == 1}
    for recording in recordings if keep is None else ():
        files.check_free(folder / file_name(recording, alone, suffix), force=force)
    write = to.format.writer()
    exported = Exported([], [])
    with closing(_taken(picked, keep)) as taken:
        for each in taken:
            path = folder / file_name(each.recording, alone, suffix)
            try:
                size = files.write_file(path, write([each], options), force=force)
            except ScalyVizError as error:  # a render that failed has no C: the others have
                exported.problems.append(str(error))
                continue
            exported.written.append(Written(path, to.format.name, [each.recording.id], size))
    return exported


def _taken(picked: Sequence[Picked], keep: frozenset[str] | None) -> Generator[Chosen]:
    for group in picked:
        for each in group.take(group.recordings):
            yield each if keep is None else redacted(each, keep)


def _noted(taken: Iterable[Chosen], ids: list[str]) -> Iterator[Chosen]:
    for each in taken:
        ids.append(each.recording.id)
        yield each


def _print(content: Iterable[bytes], format_: Format) -> int:
    if format_.binary and sys.stdout.isatty():
        raise ScalyVizError(f"{format_.name} is not for a terminal: send it to a file or a pipe")
    size = 0
    for chunk in content:
        output.write_bytes(chunk)
        size += len(chunk)
    return size


def file_name(recording: Recording, alone: Collection[str], suffix: str) -> str:
    """Return what the file of ``recording`` is called: by its function, and its id if that is not ``alone``."""
    stem = _stem(recording.function)
    return (
        f"{stem}{suffix}" if recording.id in alone else f"{stem}-{_stem(recording.id)[:16]}{suffix}"
    )


def _stem(name: str) -> str:
    """Return ``name`` as a file can be called everywhere."""
    stem = re.sub(r"[^A-Za-z0-9_.-]", "_", name)[:_LONGEST].strip(".-") or "recording"
    return f"_{stem}" if _DEVICES.fullmatch(stem.partition(".")[0]) else stem
