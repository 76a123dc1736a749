"""Owns the command that plans for many machines, and the one that lets twenty processes record at once."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

import click

from bench import plan

_FOLDER = Path(__file__).parent
PAGE = _FOLDER.parent / "docs" / "scale.md"

# What docs/scale.md plans with.
MIX = "small=70,medium=25,large=5"
KEEP = "failed=.03,slow=.01,grown=.01,lot=.05"
STORES = "compressed, in object storage=1:.023;Jaeger's Badger, on a disk=8:.08"


def measured(name: str) -> plan.Figures:
    """Return the figures of a recording of that size, made in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        output = subprocess.run(
            [sys.executable, str(_FOLDER / "sizes.py"), name],
            check=True,
            env=os.environ | {"SCALY_VIZ_DIR": folder, "SCALY_CACHE_DIR": folder},
            capture_output=True,
            text=True,
        )
    return plan.Figures(**json.loads(output.stdout.splitlines()[-1]))


def tables(
    fleet: plan.Fleet,
    sizes: Mapping[str, plan.Figures],
    sampling: plan.Sampling,
    stores: Mapping[str, plan.Store],
) -> dict[str, list[str]]:
    """Return the tables of docs/scale.md by name."""
    # All figures follow from those that the first table shows, rounded as they are.
    sizes, mix = plan.read_base_table(plan.base_table(sizes, fleet.mix))
    one = plan.mean(sizes, mix)
    return {
        "recordings": plan.base_table(sizes, mix),
        "rates": plan.rate_table(fleet, one, sampling),
        "costs": plan.cost_table(fleet, one, sampling, stores),
    }


def with_tables(text: str, made: Mapping[str, list[str]]) -> str:
    """Return ``text`` with each marked table made anew."""
    return re.sub(
        r"(<!-- table: (\w+) -->\n).*?(<!-- end -->)",
        lambda match: match[1] + "\n".join(made[match[2]]) + "\n" + match[3],
        text,
        flags=re.DOTALL,
    )


def named(text: str) -> dict[str, float]:
    """Return the numbers of ``name=number,...``."""
    return {name: float(value) for name, value in (part.split("=") for part in text.split(","))}


def parse_stores(text: str) -> dict[str, plan.Store]:
    """Return the stores of ``name=factor:price;...``."""
    pairs = (part.rpartition("=") for part in text.split(";"))
    return {name: plan.Store(*map(float, value.split(":"))) for name, _, value in pairs}


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """What recordings of many machines need, and what a load does to real backends."""


@main.command(name="plan")
@click.option("--machines", default=1000, show_default=True, help="Machines that render.")
@click.option("--renders", default=10.0, show_default=True, help="Renders of each in a minute.")
@click.option("--mix", default=MIX, show_default=True, help="Shares of the sizes.")
@click.option(
    "--keep",
    default=KEEP,
    show_default=True,
    help="Share of recordings that each policy of the sampling keeps.",
)
@click.option(
    "--stores",
    default=STORES,
    show_default=True,
    help="Bytes of each store for a byte on the wire, and USD for a GB and month.",
)
@click.option("--write", is_flag=True, help="Write the tables into docs/scale.md.")
def plan_command(
    machines: int, renders: float, mix: str, keep: str, stores: str, write: bool
) -> None:
    """Measure a recording of each size, and print what a fleet of machines makes of it."""
    fleet = plan.Fleet(machines, renders, named(mix))
    sizes = {name: measured(name) for name in fleet.mix}
    made = tables(fleet, sizes, plan.Sampling(**named(keep)), parse_stores(stores))
    for lines in made.values():
        click.echo("\n".join(lines) + "\n")
    if write:
        PAGE.write_text(with_tables(PAGE.read_text(encoding="utf-8"), made), encoding="utf-8")


@main.command(name="load")
@click.option("--processes", default=20, show_default=True, help="Processes that record at once.")
@click.option("--renders", default=10, show_default=True, help="Renders of each.")
@click.option("--kill", is_flag=True, help="Kill the agent and Jaeger in the middle.")
@click.option("--keep", type=click.Path(path_type=Path), help="Folder to leave everything in.")
def load_command(processes: int, renders: int, kill: bool, keep: Path | None) -> None:
    """Let many processes record to an agent and a Jaeger; JAEGER and COLLECTOR name the programs."""
    from bench import load

    with tempfile.TemporaryDirectory() as temporary:
        seen = load.run(keep or Path(temporary), processes, renders, kill)
    click.echo("\n".join(load.report(seen)))


if __name__ == "__main__":
    main()
