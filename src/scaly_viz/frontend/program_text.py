"""Owns printing programs as scaly does (scaly/ir/text.py), without recursion and each distinct part once.

scaly's printers recurse, so they fail on deep expressions that the compiler itself can handle, and
print every step from scratch. Here a node's text is kept while the node lives: nodes are immutable
and a pass replaces few of them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from scaly.ir import text as scaly_text
from scaly.ir.program import BINARY_FN_OPS, SCALAR_OPS, UNARY_FN_OPS

from scaly_viz.frontend.pace import Pace

if TYPE_CHECKING:
    from scaly.ir.program import ProgramNode

# A text, or the pieces of a long one: a chain of operations would else cost its length squared.
type _Text = str | list[_Text]
type _Pair = tuple[_Text, _Text]
type _Memo = dict[int, _Pair]

_LONG = 200
_SYMBOLS = {"add": " + ", "sub": " - ", "mul": " * ", "div": " / ", "mod": " % "}
_SCALARS = frozenset(op.value for op in SCALAR_OPS)
# Of 0.1.0a1; no lowering makes them, so scaly's own printer serves where they do occur.
_FOREIGN = frozenset({"kernel", "launch", "barrier"})


class ProgramPrinter:
    """Prints the programs of one recording, and remembers the parts that they share."""

    def __init__(self, pace: Pace) -> None:
        self._pace = pace
        self._scalars: _Memo = {}
        self._statements: dict[int, tuple[str, str]] = {}
        self._blocks: dict[int, tuple[list[str], list[str]]] = {}

    def forget(self, keep: Callable[[int], bool]) -> None:
        """Drop what is remembered of nodes whose ``id()`` is not kept: another node may get it."""
        self._scalars = {i: text for i, text in self._scalars.items() if keep(i)}
        self._statements = {i: text for i, text in self._statements.items() if keep(i)}
        self._blocks = {i: text for i, text in self._blocks.items() if keep(i)}

    def learn(self, nodes: Sequence[ProgramNode]) -> None:
        """Prepare the scalars among ``nodes``, which come each after its arguments.

        ``render`` finds by itself what was not learned; this spares it the search.
        """
        memo = self._scalars
        for chunk in self._pace.chunks(nodes):
            for node in chunk:
                composer = _COMPOSERS.get(node.op._value_)
                if composer is not None:
                    memo[id(node)] = composer(node, memo)

    def render(self, root: ProgramNode) -> tuple[str, str]:
        """Return the assembly and the listing of the program at ``root``."""
        assembly: list[str] = []
        listing: list[str] = []
        op = root.op._value_
        if any(node.op._value_ in _FOREIGN for node in (root, *root.args)):
            return scaly_text.render_program_assembly(root), scaly_text.format_program(root)
        if op == "program":
            attrs = scaly_text._attrs_asm(root.attrs, skip={"proc_count", "kernel_count"})
            assembly.append(f"prog.module{attrs} {{")
            listing.append("program")
            for node in root.args:
                self._top_level(node, "  ", assembly, listing)
            assembly.append("}")
        else:
            self._top_level(root, "", assembly, listing)
        return "\n".join(assembly), "\n".join(listing)

    def _top_level(
        self, node: ProgramNode, pad: str, assembly: list[str], listing: list[str]
    ) -> None:
        op = node.op._value_
        if op != "proc":
            assembly.append(f"{pad}// expected prog.module/prog.proc, got prog.{op}")
            listing.extend(self._block(node, pad)[1])
            return
        attrs = node.attrs
        count = int(attrs["param_count"])
        params = node.args[:count]
        memrefs = ", ".join(f"%{p.attrs['name']}: {scaly_text._memref_asm(p)}" for p in params)
        shapes = ", ".join(f"{p.attrs['name']}:{p.dtype.name}{p.attrs['shape']}" for p in params)
        others = scaly_text._attrs_asm(attrs, skip={"name", "param_count"})
        assembly.append(f"{pad}prog.proc @{attrs['name']}({memrefs}){others} {{")
        device = attrs.get("device")
        placed = f" device={device}" if device and str(device) != "host" else ""
        listing.append(f"{pad}proc {attrs['name']}({shapes}){placed}:")
        for statement in node.args[count:]:
            lines = self._blocks.get(id(statement))
            if lines is None or pad != "  ":
                self._pace()
                lines = self._block(statement, pad + "  ")
            if pad == "  ":
                self._blocks[id(statement)] = lines
            assembly.extend(lines[0])
            listing.extend(lines[1])
        assembly.append(f"{pad}}}")

    def _block(self, statement: ProgramNode, pad: str) -> tuple[list[str], list[str]]:
        """Return the lines of ``statement`` and of all that it encloses."""
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
                text = self._statements.get(id(node))
                if text is None:
                    text = self._statements[id(node)] = self._statement(node, op)
                assembly.append(pad + text[0])
                listing.append(pad + text[1])
        return assembly, listing

    def _loop_head(
        self, node: ProgramNode, pad: str, assembly: list[str], listing: list[str]
    ) -> None:
        loop = node.args[0]
        name, kind = loop.attrs["name"], loop.attrs["kind"].value
        (a0, l0), (a1, l1), (a2, l2) = (self._flat(bound) for bound in loop.args)
        assembly.append(f"{pad}prog.for %{name} = {a0} to {a1} step {a2} {{kind={kind}}} {{")
        listing.append(f"{pad}for {name} in [{l0}, {l1}) step {l2} kind={kind}:")

    def _statement(self, node: ProgramNode, op: str) -> tuple[str, str]:
        attrs = node.attrs
        if op == "buffer":
            return _buffer(node), op
        if op == "store":
            target, (value, plain) = self._flat_view(node.args[0]), self._flat(node.args[1])
            return f"prog.store {value}, {target[0]} : {node.dtype.name}", f"{target[1]} <- {plain}"
        if op == "store_pair":
            target = self._flat_view(node.args[0])
            (a0, l0), (a1, l1) = self._flat(node.args[1]), self._flat(node.args[2])
            return (
                f"prog.store_pair {a0}, {a1}, {target[0]} : {node.dtype.name}",
                f"{target[1]} <- pair({l0}, {l1})",
            )
        if op == "assign":
            value, plain = self._flat(node.args[0])
            others = scaly_text._attrs_asm(attrs, skip={"target"})
            declaration = f"{node.dtype.name} " if attrs.get("declare") else ""
            return (
                f"%{attrs['target']} = prog.assign {value} : {node.dtype.name}{others}",
                f"{declaration}{attrs['target']} = {plain}",
            )
        if op == "call":
            return self._call(node)
        if op == "print":
            return self._print(node)
        shown = self._flat(node)[0] if op in _SCALARS else scaly_text._attrs_asm(attrs)
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
        return self._flat_view(node) if node.op._value_ == "view" else self._flat(node)

    def _print(self, node: ProgramNode) -> tuple[str, str]:
        values = [self._flat(arg) for arg in node.args]
        pieces = node.attrs["pieces"]
        parts = [json.dumps(pieces[0])]
        parts += [
            f"{text} {json.dumps(piece)}"
            for (_, text), piece in zip(values, pieces[1:], strict=True)
        ]
        shown = ", ".join(text for text, _ in values)
        return f"prog.print({shown}){scaly_text._attrs_asm(node.attrs)}", f"print {' '.join(parts)}"

    def _flat(self, node: ProgramNode) -> tuple[str, str]:
        assembly, listing = self._scalars.get(id(node)) or self._scalar(node)
        return _flatten(assembly), "<view>" if node.op._value_ == "view" else _flatten(listing)

    def _flat_view(self, node: ProgramNode) -> tuple[str, str]:
        if node.op._value_ != "view":
            return f"<not-view:{node.op._value_}>", node.op._value_
        assembly, listing = self._scalars.get(id(node)) or self._scalar(node)
        return _flatten(assembly), _flatten(listing)

    def _scalar(self, node: ProgramNode) -> _Pair:
        memo = self._scalars
        stack = [node]
        while stack:
            current = stack[-1]
            if id(current) in memo:
                stack.pop()
                continue
            missing = [arg for arg in current.args if id(arg) not in memo]
            if missing:
                stack.extend(missing)
            else:
                stack.pop()
                memo[id(current)] = _COMPOSERS.get(current.op._value_, _unknown)(current, memo)
        return memo[id(node)]


def _buffer(node: ProgramNode) -> str:
    attrs = node.attrs
    if attrs.get("address_space") == "constant" and "values" in attrs:
        value = f" = dense<{scaly_text._value_asm(attrs['values'])}>"
    elif "alias_of" in attrs:
        value = f" = prog.alias %{attrs['alias_of']} offset {attrs['alias_offset']}"
    elif "workspace_offset" in attrs:
        value = f" = prog.workspace offset {attrs['workspace_offset']}"
    else:
        value = ""
    return f"%{attrs['name']} = prog.buffer : {scaly_text._memref_asm(node)}{value}"


def _const_int(node: ProgramNode, memo: _Memo) -> _Pair:
    text = str(node.attrs["value"])
    return text, text


def _const_float(node: ProgramNode, memo: _Memo) -> _Pair:
    text = f"{node.attrs['value']:g}"
    return text, text


def _var(node: ProgramNode, memo: _Memo) -> _Pair:
    name = node.attrs["name"]
    return f"%{name}", str(name)


def _view(node: ProgramNode, memo: _Memo) -> _Pair:
    name = node.attrs["buffer"]
    assemblies, listings = _sides(node, memo)
    return _join(f"%{name}[", assemblies, "]"), _join(f"{name}[", listings, "]")


def _load(node: ProgramNode, memo: _Memo) -> _Pair:
    op = node.args[0].op._value_
    if op != "view":
        return f"prog.load <not-view:{op}>", op
    assembly, listing = memo[id(node.args[0])]
    return _join("prog.load ", [assembly], ""), listing


def _operator(node: ProgramNode, memo: _Memo) -> _Pair:
    op = node.op._value_
    assemblies, listings = _sides(node, memo)
    return _join(f"prog.{op}(", assemblies, ")"), _join("(", listings, ")", _SYMBOLS[op])


def _neg(node: ProgramNode, memo: _Memo) -> _Pair:
    assemblies, listings = _sides(node, memo)
    return _join("prog.neg(", assemblies, ")"), _join("(-", listings, ")")


def _function(node: ProgramNode, memo: _Memo) -> _Pair:
    op = node.op._value_
    assemblies, listings = _sides(node, memo)
    return _join(f"prog.{op}(", assemblies, ")"), _join(f"{op}(", listings, ")")


def _unknown(node: ProgramNode, memo: _Memo) -> _Pair:
    return f"<prog.{node.op._value_}>", f"<{node.op._value_}>"


_COMPOSERS: dict[str, Callable[[ProgramNode, _Memo], _Pair]] = {
    "const_int": _const_int,
    "const_float": _const_float,
    "var": _var,
    "view": _view,
    "load": _load,
    "neg": _neg,
    **dict.fromkeys(_SYMBOLS, _operator),
    **dict.fromkeys((op.value for op in UNARY_FN_OPS | BINARY_FN_OPS), _function),
    "bit_select": _function,
}


def _sides(node: ProgramNode, memo: _Memo) -> tuple[list[_Text], list[_Text]]:
    assemblies: list[_Text] = []
    listings: list[_Text] = []
    for arg in node.args:
        assembly, listing = memo[id(arg)]
        assemblies.append(assembly)
        # scaly's listing has no form for a view outside a load.
        listings.append("<view>" if arg.op._value_ == "view" else listing)
    return assemblies, listings


def _join(head: str, items: list[_Text], tail: str, separator: str = ", ") -> _Text:
    length = 0
    for item in items:
        if type(item) is not str:
            break
        length += len(item)
    else:
        if length <= _LONG:
            return head + separator.join(items) + tail  # type: ignore[arg-type]  # all are str
    pieces: list[_Text] = [head]
    for i, item in enumerate(items):
        if i:
            pieces.append(separator)
        pieces.append(item)
    pieces.append(tail)
    return pieces


def _flatten(text: _Text) -> str:
    if isinstance(text, str):
        return text
    parts: list[str] = []
    stack: list[_Text] = [text]
    while stack:
        piece = stack.pop()
        if isinstance(piece, str):
            parts.append(piece)
        else:
            stack.extend(reversed(piece))
    return "".join(parts)
