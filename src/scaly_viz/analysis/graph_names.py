"""Owns what is read from the kinds of graph nodes: names, numbers, and what a label can show of them."""

from __future__ import annotations

from scaly_viz.graph_rows import GraphRows
from scaly_viz.graph_table import Kind

# A name may be of any length; a label that is longer cannot be read anyway.
LONGEST = 200
_NAMES = ("name", "target", "buffer", "callee", "kernel", "solver")


def name_of(kind: Kind) -> str:
    """Return what a node of ``kind`` names - a variable, buffer, procedure, callee - or nothing."""
    for key in _NAMES:
        value = kind.attributes.get(key)
        if isinstance(value, str):
            return value
    # What labels have below the type: a name or, of a constant, its value.
    return kind.detail.partition("\n")[2] if kind.title != "CONST" else ""


def label_of(kind: Kind) -> str:
    """Return what a node of ``kind`` is, in few words."""
    if kind.title in ("CONST_INT", "CONST_FLOAT"):
        return _number(kind)
    value = kind.detail.partition("\n")[2]
    if kind.title == "CONST" and value:
        return short(value, 40)
    return short(f"{kind.title.lower()} {name_of(kind)}".strip(), 60)


def _number(kind: Kind) -> str:
    value = kind.attributes.get("value")
    if isinstance(value, float):
        return f"{value:g}"
    return "constant" if value is None else short(str(value), 40)


def integer_of(kind: Kind, key: str) -> int | None:
    """Return the attribute ``key`` where it is an integer."""
    value = kind.attributes.get(key)
    return value if type(value) is int else None


def text_of(kind: Kind, key: str) -> str:
    """Return the attribute ``key`` where it is a text, else nothing."""
    value = kind.attributes.get(key)
    return value if isinstance(value, str) else ""


def short(text: str, longest: int = LONGEST) -> str:
    """Return ``text``, cut where it is too long for a label."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


_SYMBOLS = {
    "ADD": " + ",
    "SUB": " - ",
    "MUL": " * ",
    "DIV": " / ",
    "MOD": " % ",
}
_DEEPEST = 4


def expression(graph: GraphRows, node: int, longest: int = 96) -> str:
    """Return what ``node`` computes, as a formula, cut where it becomes long or deep."""
    return short(_formula(graph, node, _DEEPEST), longest)


def _formula(graph: GraphRows, node: int, depth: int) -> str:
    kind = graph.kinds[graph.kind[node]]
    args = graph.args[node]
    title = kind.title
    if title == "LOAD" and args:
        return _formula(graph, args[0], depth)
    if title in ("CONST_INT", "CONST_FLOAT"):
        return _number(kind)
    if title in ("VAR", "BUFFER"):
        return short(name_of(kind), 40)
    if depth == 0:
        return "…"
    inner = [_formula(graph, arg, depth - 1) for arg in args[:4]]
    inner += ["…"] * (len(args) > 4)
    if title == "VIEW":
        return f"{short(text_of(kind, 'buffer'), 40)}[{', '.join(inner)}]"
    symbol = _SYMBOLS.get(title)
    if symbol:
        text = symbol.join(inner)
        return text if depth == _DEEPEST else f"({text})"
    if title == "NEG":
        return f"-{''.join(inner)}"
    return f"{short(title, 40).lower()}({', '.join(inner)})"


def constant_integer(graph: GraphRows, node: int) -> int | None:
    """Return the value of ``node`` where it is an integer constant."""
    kind = graph.kinds[graph.kind[node]]
    return integer_of(kind, "value") if kind.title == "CONST_INT" else None
