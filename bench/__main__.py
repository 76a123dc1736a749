"""Owns the table of budgets: runs measurements in turn, pairs them round by round, prints ratios."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:
    from bench import viewer

_MEASURE = Path(__file__).with_name("measure.py")
_VARIANTS = ("none", "ours", "theirs")


def _command(mode: str, variant: str) -> list[str]:
    return [sys.executable, str(_MEASURE), mode, variant]


def _environment(folder: Path) -> dict[str, str]:
    return os.environ | {
        "SCALY_VIZ_DIR": str(folder / "viz"),
        "SCALY_CACHE_DIR": str(folder / "jit"),
    }


def _measure(mode: str, variant: str, folder: Path | None = None) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as temporary:
        environment = _environment(folder or Path(temporary))
        output = subprocess.run(
            _command(mode, variant), check=True, env=environment, capture_output=True, text=True
        )
    seen: dict[str, Any] = json.loads(output.stdout.splitlines()[-1])
    return seen


class Rows:
    """The lines of the table, as they come."""

    def __init__(self) -> None:
        self._console = Console()
        self.rows: list[tuple[str, str, str, str, str]] = []

    def add(self, what: str, theirs: str, ours: str, spread: str, budget: str) -> None:
        """Add a line, and say that it is there."""
        self.rows.append((what, theirs, ours, spread, budget))
        self._console.print(
            f"{what}: ours {ours}, scaly.viz {theirs}", style="dim", highlight=False
        )

    def show(self) -> None:
        """Print the table."""
        table = Table("what", "scaly.viz", "ours", "ours, min to max", "budget")
        for row in self.rows:
            table.add_row(*row)
        self._console.print(table)


def _added(rounds: list[dict[str, dict[str, Any]]], variant: str, *keys: str) -> list[float]:
    def figure(seen: Any) -> float:
        for key in keys:
            seen = seen[key]
        return float(seen)

    return [figure(each[variant]) / figure(each["none"]) - 1 for each in rounds]


def _percent(values: list[float]) -> str:
    return f"{100 * statistics.median(values):+.1f} %"


def _spread(values: list[float]) -> str:
    return f"{100 * min(values):+.1f} to {100 * max(values):+.1f} %"


def _paired(mode: str, rounds: int, variants: tuple[str, ...] = _VARIANTS) -> list[dict[str, Any]]:
    # Each variant comes first in turn: what warms up the machine must not favor one.
    turns = [variants[i % len(variants) :] + variants[: i % len(variants)] for i in range(rounds)]
    return [{variant: _measure(mode, variant) for variant in turn} for turn in turns]


def _renders(rows: Rows, rounds: int) -> None:
    seen = _paired("render", rounds)
    for label, key in (("first", "render 1"), ("second", "render 2")):
        for figure, budget in (("wall", "<= +3 %"), ("cpu", "<= +20 %, aim +12 %")):
            ours, theirs = (_added(seen, v, key, figure) for v in ("ours", "theirs"))
            what = f"{figure} time added to the {label} render"
            rows.add(what, _percent(theirs), _percent(ours), _spread(ours), budget)
    sizes = {v: statistics.median(each[v]["bytes"] for each in seen) for v in ("ours", "theirs")}
    mb = {v: f"{size / 1e6:.2f} MB" for v, size in sizes.items()}
    rows.add("bytes on disk per recording", mb["theirs"], mb["ours"], "", "<= 0.6 MB")


def _calls(rows: Rows, rounds: int) -> None:
    seen = _paired("call", rounds)
    ours, theirs = (_added(seen, v, "call", "wall") for v in ("ours", "theirs"))
    what = "wall time added to the first JIT call"
    rows.add(what, _percent(theirs), _percent(ours), _spread(ours), "<= +5 %")


def _unmarked(rows: Rows, rounds: int) -> None:
    seen = _paired("unmarked", rounds)
    ours, theirs = (_added(seen, v, "render 2", "wall") for v in ("ours", "theirs"))
    what = "wall time added to an unmarked function"
    rows.add(what, _percent(theirs), _percent(ours), _spread(ours), "~0")


def _many(rows: Rows, rounds: int) -> None:
    seen = [_measure("many", "ours") for _ in range(rounds)]
    ours = [each["last"] / each["first"] - 1 for each in seen]
    what = "CPU time added from the 1st to the 1,000th recording"
    rows.add(what, "not run", _percent(ours), _spread(ours), "0")


def _processes(rows: Rows, rounds: int) -> None:
    results = {}
    for variant in ("ours", "theirs"):
        with tempfile.TemporaryDirectory() as temporary:
            environment = _environment(Path(temporary))
            running = [
                subprocess.Popen(
                    _command("load", variant),
                    env=environment,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                )
                for _ in range(4)
            ]
            crashed = sum(process.wait() != 0 for process in running)
            try:
                kept = _measure("kept", variant, Path(temporary))["kept"]
            except subprocess.CalledProcessError:
                kept = 0
        results[variant] = f"{kept} of 100 kept, {crashed} crashed"
    what = "4 processes x 25 renders at once"
    rows.add(what, results["theirs"], results["ours"], "", "all kept, none crashed")


def _deep(rows: Rows, rounds: int) -> None:
    def text(variant: str) -> str:
        seen = _measure("deep", variant)
        return "recorded" if seen["recorded"] else "RecursionError in the compile"

    rows.add("1,000-deep expression", text("theirs"), text("ours"), "", "recorded")


def _imports(rows: Rows, rounds: int) -> None:
    seen = _paired("import", max(rounds, 5), ("ours", "theirs"))
    ours = [each["ours"]["import"] / each["theirs"]["import"] for each in seen]
    spread = f"{min(ours):.3f} to {max(ours):.3f}"
    what = "time to import, of scaly.viz's"
    rows.add(what, "1", f"{statistics.median(ours):.3f}", spread, "little")


def _startup(rows: Rows, rounds: int) -> None:
    # What the installed script does; and the least that any command line made with click does.
    version = "from scaly_viz.cli import main; main(['--version'])"
    commands = {"ours": version, "click": "import click"}
    ours = []
    for _ in range(max(rounds, 15)):
        seconds = {name: _wall([sys.executable, "-c", code]) for name, code in commands.items()}
        ours.append(seconds["ours"] / seconds["click"])
    spread = f"{min(ours):.2f} to {max(ours):.2f}"
    what = "scaly-viz --version, of python -c 'import click'"
    rows.add(what, "", f"{statistics.median(ours):.2f}", spread, "<= 1.5")


def _wall(command: list[str]) -> float:
    began = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - began


def _page(rows: Rows, rounds: int) -> None:
    from bench import viewer

    _show(rows, viewer.figures(rounds))


def _graph(rows: Rows, rounds: int) -> None:
    from bench import graph

    _show(rows, graph.figures(rounds))


def _show(rows: Rows, figures: Iterator[viewer.Figure]) -> None:
    for figure in figures:
        unit = next((unit for unit in ("MB", "ms") if f"in {unit}" in figure.what), "s")
        ours, theirs = (
            "not run" if values is None else f"{statistics.median(values):.2f} {unit}"
            for values in (figure.ours, figure.theirs)
        )
        spread = f"{min(figure.ours):.2f} to {max(figure.ours):.2f} {unit}"
        rows.add(figure.what, theirs, ours, spread, figure.budget)


_PARTS: dict[str, Callable[[Rows, int], None]] = {
    "startup": _startup,
    "import": _imports,
    "deep": _deep,
    "processes": _processes,
    "many": _many,
    "render": _renders,
    "call": _calls,
    "unmarked": _unmarked,
    "page": _page,
    "graph": _graph,
}


def _chosen(parts: tuple[str, ...]) -> Iterator[Callable[[Rows, int], None]]:
    return (_PARTS[part] for part in parts or _PARTS)


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--rounds", default=5, show_default=True, help="Rounds of each measurement.")
@click.argument("parts", nargs=-1, type=click.Choice(list(_PARTS)))
def main(rounds: int, parts: tuple[str, ...]) -> None:
    """Measure what recording costs, beside no recording and beside scaly.viz.

    Ratios are medians over rounds; in a round the variants run one after the other, each in a
    process of its own. PARTS: all, if none is named.
    """
    rows = Rows()
    for part in _chosen(parts):
        part(rows, rounds)
    rows.show()


if __name__ == "__main__":
    main()
