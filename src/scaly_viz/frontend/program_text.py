"""Owns printing programs as scaly does (scaly/ir/text.py), without recursion and each distinct part once.

scaly's printers recurse, so they fail on deep expressions that the compiler itself can handle, and
print every step from scratch. Here a node's text is kept while the node lives: nodes are immutable
and a pass replaces few of them.
"""

from __future__ import annotations

import json
from collections.abc import Container, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from scaly.ir import text as scaly_text
from scaly.ir.program import SCALAR_OPS

from scaly_viz.frontend.pace import Pace
from scaly_viz.frontend.scalar_text import ScalarPrinter

if TYPE_CHECKING:
    from scaly.ir.program import ProgramNode

_SCALARS = frozenset(op.value for op in SCALAR_OPS)
_ENCLOSING = frozenset({"for", "block"})
# Of 0.1.0a1; no lowering makes them, so scaly's own printer serves where they do occur.
_FOREIGN = frozenset({"kernel", "launch", "barrier"})


class ProgramPrinter:
    """Prints the programs of one recording, and remembers the parts that they share."""

    def __init__(self, pace: Pace) -> None:
        self._pace = pace
        self._scalars = ScalarPrinter(pace)
        self._statements: dict[ProgramNode, tuple[str, str]] = {}
        self._blocks: dict[ProgramNode, tuple[str, str]] = {}
        self._procedures: dict[ProgramNode, tuple[str, str]] = {}
        self._memrefs: dict[tuple[Any, ...], str] = {}

    def forget(self, kept: Container[ProgramNode]) -> None:
        """Drop what is remembered of nodes that are not ``kept``."""
        self._scalars.forget(kept)
        self._statements = {node: text for node, text in self._statements.items() if node in kept}
        self._blocks = {node: text for node, text in self._blocks.items() if node in kept}
        self._procedures = {node: text for node, text in self._procedures.items() if node in kept}

    def learn(self, nodes: Sequence[ProgramNode]) -> None:
        """Prepare the scalars among ``nodes``, which come each after its arguments.

        ``render`` finds by itself what was not learned; this spares it the search.
        """
        self._scalars.learn(nodes)

    def render(self, root: ProgramNode) -> tuple[str, str]:
        """Return the assembly and the listing of the program at ``root``."""
        if any(node.op._value_ in _FOREIGN for node in (root, *root.args)):
            return scaly_text.render_program_assembly(root), scaly_text.format_program(root)
        if root.op._value_ != "program":
            return self._top_level(root, "")
        attrs = scaly_text._attrs_asm(root.attrs, skip={"proc_count", "kernel_count"})
        known = self._procedures
        # Those of earlier programs are not needed again: a pass replaces what it changes.
        self._procedures = {
            node: known.get(node) or self._top_level(node, "  ") for node in root.args
        }
        texts = [self._procedures[node] for node in root.args]
        assembly = [f"prog.module{attrs} {{", *(text for text, _ in texts), "}"]
        listing = ["program", *(text for _, text in texts if text)]
        return "\n".join(assembly), "\n".join(listing)

    def _top_level(self, node: ProgramNode, pad: str) -> tuple[str, str]:
        op = node.op._value_
        if op != "proc":
            expected = f"{pad}// expected prog.module/prog.proc, got prog.{op}"
            return expected, self._block(node, pad)[1]
        attrs = node.attrs
        count = int(attrs["param_count"])
        params = node.args[:count]
        memrefs = ", ".join(f"%{p.attrs['name']}: {scaly_text._memref_asm(p)}" for p in params)
        shapes = ", ".join(f"{p.attrs['name']}:{p.dtype.name}{p.attrs['shape']}" for p in params)
        others = scaly_text._attrs_asm(attrs, skip={"name", "param_count"})
        assembly = [f"{pad}prog.proc @{attrs['name']}({memrefs}){others} {{"]
        device = attrs.get("device")
        placed = f" device={device}" if device and str(device) != "host" else ""
        listing = [f"{pad}proc {attrs['name']}({shapes}){placed}:"]
        known = self._blocks if pad == "  " else {}
        for statement in node.args[count:]:
            block = known.get(statement)
            if block is None:
                self._pace()
                block = known[statement] = self._block(statement, pad + "  ")
            if block[0]:
                assembly.append(block[0])
            if block[1]:
                listing.append(block[1])
        assembly.append(f"{pad}}}")
        return "\n".join(assembly), "\n".join(listing)

    def _block(self, statement: ProgramNode, pad: str) -> tuple[str, str]:
        """Return the lines of ``statement`` and of all that it encloses; where there are none, nothing."""
        if statement.op._value_ not in _ENCLOSING:
            text = self._line(statement)
            return pad + text[0], pad + text[1]
        assembly: list[str] = []
        listing: list[str] = []
        stack: list[tuple[Any, str]] = [(statement, pad)]
        while stack:
            node, pad = stack.pop()
            if isinstance(node, str):
                assembly.append(node)
                continue
            op = node.op._value_
            if op == "for":
                self._loop_head(node, pad, assembly, listing)
                stack.append((f"{pad}}}", pad))
                stack.extend((inner, pad + "  ") for inner in reversed(node.args[1:]))
            elif op == "block":
                stack.extend((inner, pad) for inner in reversed(node.args))
            else:
                text = self._line(node)
                assembly.append(pad + text[0])
                listing.append(pad + text[1])
        return "\n".join(assembly), "\n".join(listing)

    def _line(self, node: ProgramNode) -> tuple[str, str]:
        text = self._statements.get(node)
        if text is None:
            text = self._statements[node] = self._statement(node, node.op._value_)
        return text

    def _loop_head(
        self, node: ProgramNode, pad: str, assembly: list[str], listing: list[str]
    ) -> None:
        loop = node.args[0]
        name, kind = loop.attrs["name"], loop.attrs["kind"].value
        (a0, l0), (a1, l1), (a2, l2) = (self._scalars.value(bound) for bound in loop.args)
        assembly.append(f"{pad}prog.for %{name} = {a0} to {a1} step {a2} {{kind={kind}}} {{")
        listing.append(f"{pad}for {name} in [{l0}, {l1}) step {l2} kind={kind}:")

    def _statement(self, node: ProgramNode, op: str) -> tuple[str, str]:
        attrs = node.attrs
        if op == "buffer":
            return self._buffer(node), op
        if op == "store":
            target, (value, plain) = (
                self._scalars.place(node.args[0]),
                self._scalars.value(node.args[1]),
            )
            return f"prog.store {value}, {target[0]} : {node.dtype.name}", f"{target[1]} <- {plain}"
        if op == "store_pair":
            target = self._scalars.place(node.args[0])
            (a0, l0), (a1, l1) = (
                self._scalars.value(node.args[1]),
                self._scalars.value(node.args[2]),
            )
            return (
                f"prog.store_pair {a0}, {a1}, {target[0]} : {node.dtype.name}",
                f"{target[1]} <- pair({l0}, {l1})",
            )
        if op == "assign":
            value, plain = self._scalars.value(node.args[0])
            others = _but_target(attrs)
            declaration = f"{node.dtype.name} " if attrs.get("declare") else ""
            return (
                f"%{attrs['target']} = prog.assign {value} : {node.dtype.name}{others}",
                f"{declaration}{attrs['target']} = {plain}",
            )
        if op == "call":
            return self._call(node)
        if op == "print":
            return self._print(node)
        shown = self._scalars.value(node)[0] if op in _SCALARS else scaly_text._attrs_asm(attrs)
        return f"// stmt {op}: {shown}", op

    def _call(self, node: ProgramNode) -> tuple[str, str]:
        attrs = node.attrs
        arguments = [self._call_argument(arg) for arg in node.args]
        returns = attrs.get("returns", ())
        others = scaly_text._attrs_asm(attrs, skip={"callee", "returns"})
        assembly = f"prog.call @{attrs['callee']}({', '.join(a for a, _ in arguments)}){others}"
        listing = f"call {attrs['callee']}({', '.join(text for _, text in arguments)})"
        if returns:
            assembly = f"{', '.join('%' + name for name in returns)} = {assembly}"
            listing = f"{', '.join(returns)} = {listing}"
        return assembly, listing

    def _call_argument(self, node: ProgramNode) -> tuple[str, str]:
        if node.op._value_ == "buffer":
            return f"%{node.attrs['name']}", "<buffer>"
        return self._scalars.place(node) if node.op._value_ == "view" else self._scalars.value(node)

    def _print(self, node: ProgramNode) -> tuple[str, str]:
        values = [self._scalars.value(arg) for arg in node.args]
        pieces = node.attrs["pieces"]
        parts = [json.dumps(pieces[0])]
        parts += [
            f"{text} {json.dumps(piece)}"
            for (_, text), piece in zip(values, pieces[1:], strict=True)
        ]
        shown = ", ".join(text for text, _ in values)
        return f"prog.print({shown}){scaly_text._attrs_asm(node.attrs)}", f"print {' '.join(parts)}"

    def _buffer(self, node: ProgramNode) -> str:
        attrs = node.attrs
        if attrs.get("address_space") == "constant" and "values" in attrs:
            value = f" = dense<{scaly_text._value_asm(attrs['values'])}>"
        elif "alias_of" in attrs:
            value = f" = prog.alias %{attrs['alias_of']} offset {attrs['alias_offset']}"
        elif "workspace_offset" in attrs:
            value = f" = prog.workspace offset {attrs['workspace_offset']}"
        else:
            value = ""
        # Many buffers, few types.
        kind = (node.dtype.name, attrs.get("shape"), attrs.get("address_space"))
        memref = self._memrefs.get(kind)
        if memref is None:
            memref = self._memrefs[kind] = scaly_text._memref_asm(node)
        return f"%{attrs['name']} = prog.buffer : {memref}{value}"


def _but_target(attrs: Mapping[str, Any]) -> str:
    if len(attrs) == 2 and type(attrs.get("declare")) is bool:
        # As good as all assignments: worth a third of their time.
        return f" {{declare={attrs['declare']}}}"
    return scaly_text._attrs_asm(attrs, skip={"target"})
