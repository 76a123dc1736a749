"""Owns what the commands read from a tracing backend: its list, and the one recording that is asked for."""

from __future__ import annotations

import dataclasses
import re
import sys
from contextlib import AbstractContextManager, nullcontext, suppress

from scaly_viz import sources
from scaly_viz.analysis.report import Open
from scaly_viz.analysis.summary import RecordingSummary
from scaly_viz.cli import output
from scaly_viz.cli.characters import visible
from scaly_viz.cli.selection import LAST, select_recording
from scaly_viz.errors import BackendError
from scaly_viz.recording import Recording
from scaly_viz.remote import Listing
from scaly_viz.sources.address import Address, parse_address

_TRACE_ID = re.compile(r"[0-9a-fA-F]{32}")


def summaries(path: str, *, strict: bool) -> list[RecordingSummary]:
    """Return the short forms of the recordings that the address ``path`` asks for, oldest first.

    Raises:
        ScalyVizError: the backend does not answer as it should; with ``strict``, a recording lacks
            something.
    """
    listing = _listed(parse_address(path), strict=strict)
    found = listing.summaries()
    for summary in found if strict else ():
        for problem in summary.problems:
            name = f"recording {summary.id} ({summary.name})"
            sources.fail(f"{listing.address}: {name}: {problem}")
    return found


def listed(path: str, *, strict: bool) -> tuple[list[RecordingSummary], Open]:
    """Return what ``summaries`` does, and how one of them is opened.

    Raises:
        ScalyVizError: as ``summaries`` does.
    """
    found = summaries(path, strict=strict)
    address = parse_address(path)

    def open_(summary: RecordingSummary) -> Recording:
        with _patience(address):
            return Listing(address).open(summary.trace_id, summary.id, _report(strict))

    return found, open_


def choose(path: str, word: str, *, strict: bool) -> Recording | None:
    """Return the recording that ``word`` names, None where there is none at all.

    The id of a trace names its only recording too, also of a trace that is too old for the list.

    Raises:
        ScalyVizError: ``word`` names none, or the backend does not answer as it should.
    """
    address = parse_address(path)
    if address.recording and word == LAST:
        word = address.recording
    listing = _listed(dataclasses.replace(address, recording=""), strict=strict)
    found = listing.summaries()
    if _TRACE_ID.fullmatch(word):
        listing, found = _of_trace(listing, found, word.lower(), strict=strict)
    if not found:
        return None
    newest_of_it = _TRACE_ID.fullmatch(word) and found[-1].trace_id == word.lower()
    chosen = found[-1] if newest_of_it else select_recording(found, word)
    with _patience(address):
        return listing.open(chosen.trace_id, chosen.id, _report(strict))


def _of_trace(
    listing: Listing, found: list[RecordingSummary], word: str, *, strict: bool
) -> tuple[Listing, list[RecordingSummary]]:
    """Return the recordings of the trace ``word``, also of one that is too old for the list."""
    if any(summary.id == word for summary in found):
        return listing, found
    of_trace = dataclasses.replace(listing.address, trace=word)
    with suppress(BackendError):
        of_it = _listed(of_trace, strict=strict)
        return of_it, of_it.summaries()
    return listing, found


def nothing_there(path: str) -> str:
    """Say that there are no recordings, and how far was looked."""
    address = parse_address(path)
    where = visible(str(address))
    services = f" of service {visible(', '.join(address.services))}" if address.services else ""
    since = f"since {address.since}" if "-" in address.since else f"of the last {address.since}"
    return (
        f"No recordings{services} {since} in {where}. Further back, or in one service:"
        f" {where}?since=1y&service=NAME"
    )


def _listed(address: Address, *, strict: bool) -> Listing:
    listing = Listing(address)
    with _patience(address):
        listing.refresh(_report(strict))
    return listing


def _report(strict: bool) -> sources.Report:
    return sources.fail if strict else output.warn


def _patience(address: Address) -> AbstractContextManager[object]:
    """Tell the person at the terminal that a backend is being asked."""
    if not sys.stderr.isatty():
        return nullcontext()
    from rich.console import Console

    return Console(stderr=True).status(f"asking {visible(str(address))}", spinner="line")
