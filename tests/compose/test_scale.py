"""Owns docs/scale.md: its tables follow from one another, and its figures are those of recordings today."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from .files import read_yaml

_ROOT = Path(__file__).parents[2]
_TEXT = (_ROOT / "docs/scale.md").read_text(encoding="utf-8")


def _table(name: str) -> list[str]:
    found = re.search(rf"<!-- table: {name} -->\n(.*?)\n<!-- end -->", _TEXT, re.DOTALL)
    assert found
    return found[1].splitlines()


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the benchmarks importable."""
    monkeypatch.syspath_prepend(str(_ROOT))


def test_a_fleet_makes_what_its_machines_make_together(bench: None) -> None:
    from bench import plan

    fleet = plan.Fleet(machines=600, renders_per_minute=5, mix={"a": 3, "b": 1})
    sizes = {"a": plan.Figures(20, 10, 4e4, 1e4, 5e4), "b": plan.Figures(40, 50, 8e4, 3e4, 9e4)}
    one = plan.mean(sizes, fleet.mix)

    assert fleet.recordings_per_second() == 50
    assert one == plan.Figures(25, 20, 5e4, 1.5e4, 6e4)
    assert plan.waiting_bytes(fleet, one, 10) == 25e6
    assert "| spans a second | 1,250 | 250 |" in plan.rate_table(
        fleet, one, plan.Sampling(failed=0.2, slow=0, grown=0, lot=0)
    )
    # 50 recordings of 15 kB a second are 64.8 GB a day, and twice that in a store of factor 2.
    assert "| all | 7 | 907 GB, 91 USD |" in plan.cost_table(
        fleet, one, plan.Sampling(0, 0, 0, 0), {"disk": plan.Store(2, 0.1)}
    )


def test_policies_that_overlap_keep_less_than_their_sum(bench: None) -> None:
    from bench import plan

    assert plan.Sampling(failed=0.5, slow=0.5, grown=0, lot=0).kept() == 0.75
    assert plan.Sampling(0, 0, 0, 0).kept() == 0
    assert plan.Sampling(1, 0, 0, 0.05).kept() == 1


def test_the_tables_follow_from_that_of_single_recordings(bench: None) -> None:
    from bench import plan, scale

    sizes, mix = plan.read_base_table(_table("recordings"))
    fleet = plan.Fleet(1000, 10, mix)
    sampling = plan.Sampling(**scale.named(scale.KEEP))

    made = scale.tables(fleet, sizes, sampling, scale.parse_stores(scale.STORES))

    assert scale.with_tables(_TEXT, made) == _TEXT


def test_the_text_repeats_what_the_tables_say(bench: None) -> None:
    from bench import plan

    sizes, mix = plan.read_base_table(_table("recordings"))
    fleet = plan.Fleet(1000, 10, mix)
    one = plan.mean(sizes, mix)
    per_machine = fleet.recordings_per_second() * one.wire / 1000 / 1000

    assert f"{fleet.recordings_per_second():.1f} recordings a second" in _TEXT
    assert f"{per_machine:.1f} kB a second each" in _TEXT
    assert f"of {one.raw / 1000:.0f} kB wait for 5 s" in _TEXT
    assert f"5 s: {plan.waiting_bytes(fleet, one, 5) / 1e6:.0f} MB" in _TEXT
    assert f"120 s: {plan.waiting_bytes(fleet, one, 120) / 1e9:.1f} GB" in _TEXT


@pytest.mark.slow
@pytest.mark.parametrize("name", ["small", "medium", "large"])
def test_a_recording_still_has_the_size_that_is_planned_with(bench: None, name: str) -> None:
    from bench import plan, scale

    planned = plan.read_base_table(_table("recordings"))[0][name]
    now = scale.measured(name)

    assert now.spans == planned.spans
    for figure in ("bodies", "raw", "wire", "disk"):
        assert getattr(now, figure) == pytest.approx(getattr(planned, figure), rel=0.2)


def test_the_sampling_that_is_explained_is_that_of_the_file() -> None:
    sampler = read_yaml("collector/tail-sampling.yaml")["processors"]["tail_sampling"]

    for key in ("sampling_strategy", "decision_wait", "decision_wait_after_root_received"):
        assert f"    {key}: {sampler[key]}\n" in _TEXT
    for policy in sampler["policies"]:
        if policy["type"] != "and":
            assert f"- name: {policy['name']}\n        type: {policy['type']}\n" in _TEXT


def test_the_command_tells_its_options(bench: None) -> None:
    seen = subprocess.run(
        [sys.executable, "-m", "bench.scale", "plan", "--help"],
        cwd=_ROOT,
        capture_output=True,
        text=True,
        check=True,
    )

    for option in ("--machines", "--renders", "--mix", "--keep", "--stores"):
        assert option in seen.stdout
