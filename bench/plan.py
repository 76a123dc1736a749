"""Owns the arithmetic of scale: from figures of one recording to rates, volumes and costs of many machines."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields

_DAY_S = 86_400
_GB = 1e9
_KEPT_DAYS = (1, 7, 30, 90)


@dataclass(frozen=True, slots=True)
class Figures:
    """What one recording has: counts, and bytes in each form that it takes on its way."""

    spans: float
    bodies: float
    """Events that carry a payload or a part of one."""
    raw: float
    """Bytes of its OTLP messages, decoded: what a Collector holds in memory."""
    wire: float
    """Bytes of its OTLP messages with gzip: what travels."""
    disk: float
    """Bytes in the local file."""


@dataclass(frozen=True, slots=True)
class Fleet:
    """Machines that render, and the share of each size among their renders."""

    machines: int
    renders_per_minute: float
    mix: Mapping[str, float]

    def recordings_per_second(self) -> float:
        """Return how many recordings all machines together make in a second."""
        return self.machines * self.renders_per_minute / 60


@dataclass(frozen=True, slots=True)
class Sampling:
    """Shares of recordings that each policy of the tail sampling keeps; policies overlap by chance."""

    failed: float
    slow: float
    grown: float
    lot: float

    def kept(self) -> float:
        """Return the share that any policy keeps."""
        return 1 - math.prod(1 - share for share in (self.failed, self.slow, self.grown, self.lot))


@dataclass(frozen=True, slots=True)
class Store:
    """Where recordings are kept."""

    factor: float
    """Its bytes for a byte of OTLP with gzip."""
    price: float
    """USD for a GB and a month."""


def mean(sizes: Mapping[str, Figures], mix: Mapping[str, float]) -> Figures:
    """Return the figures of the average recording of ``mix``."""
    whole = sum(mix.values())
    return Figures(
        *(
            sum(share * getattr(sizes[name], field.name) for name, share in mix.items()) / whole
            for field in fields(Figures)
        )
    )


def base_table(sizes: Mapping[str, Figures], mix: Mapping[str, float]) -> list[str]:
    """Return the table of single recordings, and of the average one."""
    rows = [
        (name, f"{100 * mix[name] / sum(mix.values()):.0f} %", figures)
        for name, figures in sizes.items()
    ]
    rows.append(("average", "", mean(sizes, mix)))
    return _markdown(
        ("recording", "share", "spans", "bodies", "OTLP, kB", "OTLP with gzip, kB", "file, kB"),
        (
            (
                name,
                share,
                *(f"{count:.0f}" for count in (each.spans, each.bodies)),
                *(f"{size / 1000:.1f}" for size in (each.raw, each.wire, each.disk)),
            )
            for name, share, each in rows
        ),
    )


def read_base_table(lines: Iterable[str]) -> tuple[dict[str, Figures], dict[str, float]]:
    """Return the sizes and the mix that :func:`base_table` wrote."""
    sizes, mix = {}, {}
    for line in list(lines)[2:]:
        name, share, spans, bodies, *sized = (cell.strip() for cell in line.strip("| ").split("|"))
        if name == "average":
            continue
        raw, wire, disk = (float(cell) * 1000 for cell in sized)
        sizes[name] = Figures(float(spans), float(bodies), raw, wire, disk)
        mix[name] = float(share.removesuffix("%")) / 100
    return sizes, mix


def rate_table(fleet: Fleet, one: Figures, sampling: Sampling) -> list[str]:
    """Return what arrives and what is stored in a second, and in a day, without and with sampling."""
    rate = fleet.recordings_per_second()
    stored = rate * sampling.kept()

    def row(what: str, unit: str, each: float, digits: int = 1) -> tuple[str, ...]:
        return (
            what,
            *(f"{r * each:,.{digits}f} {unit}".strip() for r in (rate, stored)),
        )

    return _markdown(
        ("", "all", f"sampled ({100 * sampling.kept():.1f} %)"),
        [
            row("recordings a second", "", 1),
            row("spans a second", "", one.spans, 0),
            row("bodies a second", "", one.bodies, 0),
            row("OTLP a second, decoded", "MB", one.raw / 1e6),
            row("OTLP a second, on the wire", "MB", one.wire / 1e6, 2),
            row("recordings a day", "million", _DAY_S / 1e6, 2),
            row("on the wire in a day", "GB", one.wire * _DAY_S / _GB),
        ],
    )


def cost_table(
    fleet: Fleet, one: Figures, sampling: Sampling, stores: Mapping[str, Store]
) -> list[str]:
    """Return what each store holds where recordings are kept for some days, and what that costs a month."""
    day = fleet.recordings_per_second() * one.wire * _DAY_S / _GB
    rows = []
    for share, label in ((1.0, "all"), (sampling.kept(), "sampled")):
        for days in _KEPT_DAYS:
            held = [day * share * days * store.factor for store in stores.values()]
            cells = (
                f"{gb:,.0f} GB, {gb * store.price:,.0f} USD"
                for gb, store in zip(held, stores.values(), strict=True)
            )
            rows.append((label, f"{days}", *cells))
    names = (
        f"{name}: {store.factor:g} times the wire, {store.price:g} USD"
        for name, store in stores.items()
    )
    return _markdown(("recordings", "days kept", *names), rows)


def waiting_bytes(fleet: Fleet, one: Figures, wait_s: float) -> float:
    """Return the bytes that tail sampling holds where each recording waits for ``wait_s`` seconds."""
    return fleet.recordings_per_second() * wait_s * one.raw


def _markdown(head: Iterable[str], rows: Iterable[Iterable[str]]) -> list[str]:
    head = tuple(head)
    lines = [head, tuple("---" for _ in head), *(tuple(row) for row in rows)]
    return [f"| {' | '.join(line)} |" for line in lines]
