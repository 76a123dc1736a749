"""Owns one run of ``scaly-viz prune``: the files it goes through, and what it says of them."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path

from scaly_viz import settings
from scaly_viz.cli import output, reading
from scaly_viz.cli.characters import visible
from scaly_viz.cli.quantities import plural, size
from scaly_viz.errors import ScalyVizError
from scaly_viz.retention import scaly_viz_file
from scaly_viz.retention.inventory import Inventory
from scaly_viz.retention.policy import Holding, Policy, chosen
from scaly_viz.retention.rewrite import rewrite
from scaly_viz.sources.address import is_address
from scaly_viz.sources.folder import data_files
from scaly_viz.sources.scaly_viz_json import is_scaly_viz


@dataclass
class Pruned:
    """What goes, or would go, and what stays."""

    dry_run: bool
    place: Path
    removed: list[Holding] = field(default_factory=list)
    kept: list[Holding] = field(default_factory=list)
    damaged_lines: int = 0

    def print_json(self) -> None:
        """Print it, for programs."""
        output.write_json(
            {
                "dry_run": self.dry_run,
                "path": str(self.place),
                "removed": [holding.summary for holding in self.removed],
                "removed_bytes": _bytes(self.removed),
                "damaged_lines": self.damaged_lines,
                "kept": len(self.kept),
                "kept_bytes": _bytes(self.kept),
                "kept_in_use": [h.summary.id for h in self.kept if h.kept_for],
            }
        )

    def show(self) -> None:
        """Print it, for people."""
        from scaly_viz.cli.recording_table import new_recordings_table

        if self.removed:
            console = output.console()
            summaries = [holding.summary for holding in self.removed]
            output.show(console, [new_recordings_table(summaries, console), ""])
        for reason in dict.fromkeys(holding.kept_for for holding in self.kept if holding.kept_for):
            count = sum(holding.kept_for == reason for holding in self.kept)
            output.warn(f"{plural(count, 'recording')} can't go: {reason}")
        would = "would go" if self.dry_run else "removed"
        lines = f", and {plural(self.damaged_lines, 'damaged line')}" if self.damaged_lines else ""
        gone = f"{plural(len(self.removed), 'recording')} ({_size(self.removed)}){lines} {would}"
        left = f"{len(self.kept):,} ({_size(self.kept)}) left"
        output.write(f"{gone}, {left} in {visible(str(self.place))}\n")


def prune(path: str | None, policy: Policy, *, damaged: bool, dry_run: bool) -> Pruned:
    """Remove what ``policy`` says from the recordings at ``path``, by default the local file's.

    Raises:
        ScalyVizError: there is nothing at ``path``, or its lock cannot be had.
        OSError: a file cannot be written.
    """
    if path is not None and is_address(path):
        raise ScalyVizError(f"{path}: a tracing backend looks after its own: see its retention")
    place = settings.recording_path() if path is None else reading.of_recordings(path)
    pruned = Pruned(dry_run, place)
    now = time.time()
    if not place.is_dir() and place.exists() and is_scaly_viz(place):
        _prune_scaly_viz(place, policy, pruned)
        return pruned
    inventories = [Inventory(file, output.warn) for file in data_files(place, output.warn)]
    held = [(inventory, inventory.holdings(now)) for inventory in inventories]
    everything = [holding for _, holdings in held for holding in holdings]
    going = {holding.summary.id for holding in chosen(everything, policy)}
    for inventory, holdings in held:
        theirs = {holding.summary.id for holding in holdings} & going
        going -= inventory.shared(theirs)
    for inventory, holdings in held:
        theirs = {holding.summary.id for holding in holdings} & going
        pruned.removed += [h for h in holdings if h.summary.id in theirs]
        pruned.kept += [h for h in holdings if h.summary.id not in theirs]
        pruned.damaged_lines += inventory.damaged() if damaged else 0
        if not dry_run:
            rewrite(inventory, theirs, damaged=damaged)
    return pruned


def _prune_scaly_viz(place: Path, policy: Policy, pruned: Pruned) -> None:
    file = scaly_viz_file.ScalyVizFile(place, output.warn)
    going = {holding.summary.id for holding in chosen(file.holdings, policy)}
    pruned.removed += [h for h in file.holdings if h.summary.id in going]
    pruned.kept += [h for h in file.holdings if h.summary.id not in going]
    if going and not pruned.dry_run:
        file.rewrite(going)


def _bytes(holdings: list[Holding]) -> int:
    return sum(holding.size for holding in holdings)


def _size(holdings: list[Holding]) -> str:
    return size(_bytes(holdings))
