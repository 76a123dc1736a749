"""Owns the compact form of JSON answers: what repeats, within an answer and between answers, is kept once.

``viewer/web/src/archive/unpack.ts`` is its inverse. A list of objects, or the columns of one length in
an object, is a table: each distinct row is kept once, and the table says which row stands where. A
column of numbers that mostly grow is kept as differences, so that rows repeat although lines are
inserted before them. A value that is packed is an object with the key ``MARK``:

- ``{MARK: "rows", keys, grows, at}``: a list of objects with these keys;
- ``{MARK: "columns", keys, grows, at, rest}``: an object with these lists, and ``rest``;
- ``{MARK: "numbers", at}``: a list of whole numbers;
- ``{MARK: "object", items}``: an object that has the key ``MARK`` itself, as pairs.

``at`` is the position of a list of differences in ``Packer.lists``; rows are in ``Packer.rows``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from typing import Any

import msgspec

from scaly_viz_viewer.responses import encode_json

type Json = Any  # what msgspec.json.decode returns

MARK = "\0"
# Shorter ones are not worth a table.
_FEW = 12


class Packer:
    """Packs answers that are kept together; ``rows`` and ``lists`` are shared by all of them."""

    def __init__(self) -> None:
        self.rows: list[Json] = []
        self.lists: list[list[int]] = []
        self._row_numbers: dict[bytes, int] = {}
        self._list_numbers: dict[bytes, int] = {}

    def pack(self, value: Json) -> Json:
        """Return the compact form of ``value``."""
        if isinstance(value, dict):
            return self._object(value)
        if not isinstance(value, list):
            return value
        if len(value) >= _FEW:
            if _are_numbers(value):
                return {MARK: "numbers", "at": self.numbers(value)}
            first = value[0]
            if isinstance(first, dict) and all(
                isinstance(each, dict) and each.keys() == first.keys() for each in value
            ):
                columns = {key: [each[key] for each in value] for key in first}
                return {MARK: "rows", **self._table(columns)}
        return [self.pack(each) for each in value]

    def numbers(self, values: Sequence[int]) -> int:
        """Keep a list of whole numbers; return where."""
        return self._kept(list(_differences(values)))

    def row(self, row: Json) -> int:
        """Keep a row; return its number."""
        key = encode_json(row)
        number = self._row_numbers.setdefault(key, len(self.rows))
        if number == len(self.rows):
            self.rows.append(row)
        return number

    def _object(self, value: dict[str, Json]) -> Json:
        by_length: dict[int, list[str]] = {}
        for key, each in value.items():
            if isinstance(each, list) and len(each) >= _FEW:
                by_length.setdefault(len(each), []).append(key)
        keys = max(by_length.values(), key=len, default=[])
        rest = {key: self.pack(each) for key, each in value.items() if key not in keys}
        if len(keys) > 1:
            table = self._table({key: value[key] for key in keys})
            return {MARK: "columns", **table, "rest": rest}
        packed = {key: rest[key] if key in rest else self.pack(value[key]) for key in value}
        return {MARK: "object", "items": [*packed.items()]} if MARK in packed else packed

    def _table(self, columns: dict[str, list[Json]]) -> dict[str, Json]:
        grows = [_grows(column) for column in columns.values()]
        made = [
            [*_differences(column)] if grow else column
            for grow, column in zip(grows, columns.values(), strict=True)
        ]
        at = self.numbers([self.row(list(row)) for row in zip(*made, strict=True)])
        return {"keys": [*columns], "grows": grows, "at": at}

    def _kept(self, differences: list[int]) -> int:
        key = msgspec.json.encode(differences)
        number = self._list_numbers.setdefault(key, len(self.lists))
        if number == len(self.lists):
            self.lists.append(differences)
        return number


@dataclass(slots=True)
class Block:
    """Answers that are unpacked together."""

    packer: Packer = field(default_factory=Packer)
    answers: dict[str, Json] = field(default_factory=dict)

    def add(self, key: str, answer: Json) -> None:
        """Keep an answer."""
        self.answers[key] = self.packer.pack(answer)

    def encoded(self) -> bytes:
        """Return the block as JSON."""
        packer = self.packer
        return encode_json({"rows": packer.rows, "lists": packer.lists, "answers": self.answers})


def unpacked(value: Json, rows: Sequence[Json], lists: Sequence[Sequence[int]]) -> Json:
    """Return what ``Packer.pack`` made ``value`` of."""
    if isinstance(value, list):
        return [unpacked(each, rows, lists) for each in value]
    if not isinstance(value, dict):
        return value
    match value.get(MARK):
        case "numbers":
            return [*accumulate(lists[value["at"]])]
        case "object":
            return {key: unpacked(each, rows, lists) for key, each in value["items"]}
        case "rows" | "columns" as form:
            table = [rows[i] for i in accumulate(lists[value["at"]])]
            columns = {
                key: [*accumulate(row[i] for row in table)] if grows else [row[i] for row in table]
                for i, (key, grows) in enumerate(zip(value["keys"], value["grows"], strict=True))
            }
            if form == "columns":
                return columns | unpacked(value["rest"], rows, lists)
            return [
                dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)
            ]
    return {key: unpacked(each, rows, lists) for key, each in value.items()}


def _are_numbers(values: Sequence[Json]) -> bool:
    return all(type(value) is int for value in values)


def _differences(values: Sequence[int]) -> list[int]:
    return [*values[:1], *(after - before for before, after in pairwise(values))]


def _grows(column: Sequence[Json]) -> bool:
    return _are_numbers(column) and len(set(_differences(column))) < len(set(column))
