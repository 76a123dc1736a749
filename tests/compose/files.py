"""Owns the reading of compose/: its YAML and JSON files as plain data."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

COMPOSE = Path(__file__).parents[2] / "compose"


def read_yaml(name: str) -> Any:
    """Return the YAML file ``name`` of compose/, merge keys resolved."""
    return YAML(typ="safe", pure=True).load(COMPOSE / name)


def read_json(name: str) -> Any:
    """Return the JSON file ``name`` of compose/."""
    return json.loads((COMPOSE / name).read_text(encoding="utf-8"))
