"""Owns viewer/web/src/schema.ts: writes the TypeScript types of the API's answers anew from the Python types.

Run it with the development environment's Python, from anywhere.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from pathlib import Path

from scaly_viz_viewer.schema import ANSWERS, JsonSchema, components

TARGET = Path(__file__).parents[1] / "viewer" / "web" / "src" / "schema.ts"
_HEAD = "/** The API's answers, written by tools/write_schema.py from the server's types. */\n"
_WIDTH = 100
_TYPES = {
    "integer": "number",
    "number": "number",
    "string": "string",
    "boolean": "boolean",
    "null": "null",
}


def schema() -> str:
    """Return the TypeScript of all answers."""
    interfaces = "".join(_interface(name, each) for name, each in components().items())
    routes = "".join(f'  "{route}": {ANSWERS[route].__name__};\n' for route in sorted(ANSWERS))
    answers = f"/** What each address answers. */\nexport interface Answers {{\n{routes}}}\n"
    return f"{_HEAD}\n{interfaces}{answers}"


def _interface(name: str, each: JsonSchema) -> str:
    fields = "".join(
        f"  {key}: {_type(value)};\n" for key, value in each.get("properties", {}).items()
    )
    return f"{_comment(str(each.get('description', '')))}export interface {name} {{\n{fields}}}\n\n"


def _comment(text: str) -> str:
    text = text.replace("``", "`").replace("*/", "* /").replace("None", "null")
    lines = list(_wrapped(text))
    if not lines:
        return ""
    if len(lines) == 1 and len(lines[0]) <= _WIDTH - 7:
        return f"/** {lines[0]} */\n"
    return "/**\n" + "".join(f" * {line}".rstrip() + "\n" for line in lines) + " */\n"


def _wrapped(text: str) -> Iterator[str]:
    for at, paragraph in enumerate(text.split("\n\n")):
        if at:
            yield ""
        yield from textwrap.wrap(" ".join(paragraph.split()), _WIDTH - 3)


def _type(value: JsonSchema) -> str:
    if "$ref" in value:
        return str(value["$ref"]).rpartition("/")[2]
    if "enum" in value:
        return " | ".join(f'"{each}"' for each in value["enum"])
    if "anyOf" in value:
        return " | ".join(dict.fromkeys(_type(each) for each in value["anyOf"]))
    kind = value.get("type")
    if "prefixItems" in value:
        return f"[{', '.join(_type(each) for each in value['prefixItems'])}]"
    if kind == "array":
        item = _type(value.get("items", {}))
        return f"({item})[]" if "|" in item else f"{item}[]"
    if kind == "object":
        return f"Record<string, {_type(value.get('additionalProperties', {}))}>"
    return _TYPES.get(str(kind), "unknown")


if __name__ == "__main__":
    TARGET.write_text(schema(), encoding="utf-8")
