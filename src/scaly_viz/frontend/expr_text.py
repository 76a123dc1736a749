"""Owns printing expression graphs as scaly does (scaly/ir/text.py), each node's own part once."""

from __future__ import annotations

from collections.abc import Container
from typing import TYPE_CHECKING, Any

from scaly.ir import text as scaly_text

from scaly_viz.frontend.pace import Pace
from scaly_viz.frontend.walk import unknown_below

if TYPE_CHECKING:
    from scaly.ir.expr import Expr

    from scaly_viz.frontend.scaly_types import Concrete


class ExpressionPrinter:
    """Prints the functions of one recording, and remembers the nodes and functions that they share."""

    def __init__(self, pace: Pace) -> None:
        self._pace = pace
        self._nodes: dict[Expr, tuple[str, str]] = {}
        self._functions: dict[int, tuple[Any, list[str], list[Concrete]]] = {}

    def forget(self, kept: Container[Expr]) -> None:
        """Drop what is remembered of nodes that are not ``kept``."""
        self._nodes = {node: text for node, text in self._nodes.items() if node in kept}
        self._functions = {}

    def render(self, function: Concrete) -> str:
        """Return the assembly of ``function`` and of every function that it calls."""
        lines = ["expr.module {"]
        for called in self._call_order(function):
            lines.extend(self._function(called)[1])
        lines.append("}")
        return "\n".join(lines)

    def _call_order(self, function: Concrete) -> list[Concrete]:
        ordered: list[Concrete] = []
        seen: set[int] = set()
        stack: list[tuple[Concrete, bool]] = [(function, False)]
        while stack:
            current, visited = stack.pop()
            if visited:
                ordered.append(current)
            elif id(current) not in seen:
                seen.add(id(current))
                stack.append((current, True))
                stack.extend((callee, False) for callee in reversed(self._function(current)[2]))
        return ordered

    def _function(self, function: Concrete) -> tuple[Any, list[str], list[Concrete]]:
        known = self._functions.get(id(function))
        if known is None:
            nodes = unknown_below(function.outputs, (), self._pace)
            # The function itself is kept with its text: its id() must not be given away.
            known = (function, self._lines(function, nodes), _callees(nodes))
            self._functions[id(function)] = known
        return known

    def _lines(self, function: Concrete, nodes: list[Expr]) -> list[str]:
        texts = self._nodes
        texts.update((node, _node(node)) for node in nodes if node not in texts)
        names = {node: f"%{i}" for i, node in enumerate(nodes)}
        region = []
        for node, name in names.items():
            head, tail = texts[node]
            args = f"({', '.join([names[arg] for arg in node.args])})" if node.args else ""
            region.append(f"{name} = {head}{args}{tail}")
        region.append("expr.return " + ", ".join(names[output] for output in function.outputs))
        inputs = _parameters(function.input_names, function.inputs)
        outputs = _parameters(function.output_names, function.outputs)
        head = f"expr.func @{function.name}({inputs}) -> ({outputs}) {{"
        # Names and arrays may hold line breaks of any kind, and scaly indents what lies between them.
        return [
            *("  " + line for line in head.splitlines()),
            *["    " + line for line in "\n".join(region).splitlines()],
            "  }",
        ]


def _parameters(names: Any, expressions: Any) -> str:
    pairs = zip(names, expressions, strict=True)
    return ", ".join(f"%{name}: {scaly_text.type_asm(e.type)}" for name, e in pairs)


def _node(node: Expr) -> tuple[str, str]:
    op = str(getattr(node.op, "value", node.op))
    attrs = dict(node.attrs)
    if op == "input":
        attrs |= {"name": node.name, "lowering": node.lowering}
    elif op == "const":
        attrs |= {"value": node.value, "lowering": node.lowering}
    elif op in ("call", "vmap"):
        callee = attrs.get("callee")
        attrs["callee"] = getattr(callee, "name", callee)
    return f"expr.{op}", f"{scaly_text._attrs_asm(attrs)} : {scaly_text.type_asm(node.type)}"


def _callees(nodes: list[Expr]) -> list[Concrete]:
    callees = (node.attrs.get("callee") for node in nodes if str(node.op) in ("call", "vmap"))
    return [callee for callee in callees if callee is not None]
