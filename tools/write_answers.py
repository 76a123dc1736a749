"""Owns docs/answers.md: writes the page of the API's types anew from the Python types.

Run it with the development environment's Python, from anywhere.
"""

from __future__ import annotations

from pathlib import Path

from scaly_viz_viewer.schema import ANSWERS, JsonSchema, components

TARGET = Path(__file__).parents[1] / "docs" / "answers.md"
_INTRODUCTION = """\
# Types of the API's answers

What each address of [the viewer's API](api.md) answers with status 200, made from the server's own types.

<!-- answers: made by tools/write_answers.py -->
"""
_WORDS = {"integer": "integer", "number": "number", "string": "text", "boolean": "true or false"}


def page() -> str:
    """Return the page."""
    rows = "".join(
        f"| `GET {route}` | {_link(answer.__name__)} |\n"
        for route, answer in sorted(ANSWERS.items())
    )
    sections = "".join(_section(name, each) for name, each in components().items())
    return f"{_INTRODUCTION}\n| address | answer |\n| --- | --- |\n{rows}\n{sections}<!-- end -->\n"


def _section(name: str, each: JsonSchema) -> str:
    said = str(each.get("description", "")).replace("``", "`").replace("\n\n", "\n").split("\n")
    rows = "".join(f"| `{key}` | {_type(value)} |\n" for key, value in each["properties"].items())
    about = " ".join(line.strip() for line in said)
    return f"## {name}\n\n{about}\n\n| field | type |\n| --- | --- |\n{rows}\n"


def _type(value: JsonSchema) -> str:
    if "$ref" in value:
        return _link(str(value["$ref"]).rpartition("/")[2])
    if "enum" in value:
        return " or ".join(f"`{each}`" for each in value["enum"])
    if "anyOf" in value:
        return " or ".join(dict.fromkeys(_type(each) for each in value["anyOf"]))
    kind = str(value.get("type"))
    if "prefixItems" in value:
        return f"({', '.join(_type(each) for each in value['prefixItems'])})"
    if kind == "array":
        return f"list of {_type(value.get('items', {}))}"
    if kind == "object":
        return f"object of {_type(value.get('additionalProperties', {}))}"
    return _WORDS.get(kind, "null" if kind == "null" else "any JSON")


def _link(name: str) -> str:
    return f"[{name}](#{name.lower()})"


if __name__ == "__main__":
    TARGET.write_text(page(), encoding="utf-8")
