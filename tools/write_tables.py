"""Owns the tables of docs/schema.md, docs/settings.md and docs/compare.md: writes them anew from the code.

Run it with the development environment's Python, from anywhere.
"""

from __future__ import annotations

import re
from pathlib import Path

from scaly_viz.analysis.figures import FIGURES
from scaly_viz.attributes import ATTRIBUTES, Attribute
from scaly_viz.settings import VARIABLES

_DOCS = Path(__file__).parents[1] / "docs"
SCHEMA = _DOCS / "schema.md"
SETTINGS = _DOCS / "settings.md"
COMPARE = _DOCS / "compare.md"
_HEAD = "| key | type | unit | meaning | stability | example | source |\n| --- | --- | --- | --- | --- | --- | --- |\n"


def table(where: str) -> str:
    """Return the table of the attributes that are found at ``where``."""
    return _HEAD + "".join(_row(attribute) for attribute in ATTRIBUTES if attribute.where == where)


def with_tables(text: str) -> str:
    """Return ``text`` with each marked table made anew."""
    return re.sub(
        r"(<!-- table: (.+?) -->\n).*?(<!-- end -->)",
        lambda match: f"{match[1]}{_MADE.get(match[2], lambda: table(match[2]))()}{match[3]}",
        text,
        flags=re.DOTALL,
    )


def _variables() -> str:
    rows = "".join(f"| `{v.name}` | {v.default} | {v.meaning} |\n" for v in VARIABLES)
    return f"| variable | default | meaning |\n| --- | --- | --- |\n{rows}"


def _figures() -> str:
    rows = "".join(f"| `{f.name}` | {_unit(f.unit)} | {f.meaning} |\n" for f in FIGURES)
    return f"| figure | unit | meaning |\n| --- | --- | --- |\n{rows}"


def _unit(unit: str) -> str:
    return {"By": "bytes", "s": "seconds"}.get(unit, "")


_MADE = {"variables": _variables, "figures": _figures}


def _row(a: Attribute) -> str:
    example = a.example.replace("\n", "⏎").replace("|", "\\|")
    unit = f"`{a.unit}`" if a.unit else ""
    return f"| `{a.key}` | {a.type} | {unit} | {a.meaning} | {a.stability} | `{example}` | {a.source} |\n"


if __name__ == "__main__":
    for page in (SCHEMA, SETTINGS, COMPARE):
        page.write_text(with_tables(page.read_text(encoding="utf-8")), encoding="utf-8")
