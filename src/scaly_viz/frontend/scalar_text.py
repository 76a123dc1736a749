"""Owns printing the scalars of programs as scaly does (scaly/ir/text.py): values, and the places in buffers."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from typing import TYPE_CHECKING

from scaly.ir.program import BINARY_FN_OPS, UNARY_FN_OPS

from scaly_viz.frontend.pace import Pace
from scaly_viz.frontend.walk import unknown_below

if TYPE_CHECKING:
    from scaly.ir.program import ProgramNode

# A text, or the pieces of a long one: a chain of operations would else cost its length squared.
type _Text = str | list[_Text]
# Assembly and listing.
type _Pair = tuple[_Text, _Text]

_LONG = 200


class ScalarPrinter:
    """Prints scalars, each as assembly and listing, and remembers the parts that they share."""

    def __init__(self, pace: Pace) -> None:
        self._pace = pace
        self._values: dict[ProgramNode, _Pair] = {}
        self._places: dict[ProgramNode, _Pair] = {}

    def forget(self, kept: Container[ProgramNode]) -> None:
        """Drop what is remembered of nodes that are not ``kept``."""
        self._values = {node: text for node, text in self._values.items() if node in kept}
        self._places = {node: text for node, text in self._places.items() if node in kept}

    def learn(self, nodes: Sequence[ProgramNode]) -> None:
        """Prepare the scalars among ``nodes``, which come each after its arguments."""
        values, composer_of = self._values, _COMPOSERS.get
        for chunk in self._pace.chunks(nodes):
            for node in chunk:
                compose = composer_of(node.op._value_)
                if compose is not None:
                    values[node] = compose(self, node)

    def value(self, node: ProgramNode) -> tuple[str, str]:
        """Return ``node`` as an operand."""
        if node not in self._values:
            for each in unknown_below((node,), self._values, self._pace):
                self._values[each] = _COMPOSERS.get(each.op._value_, _unknown)(self, each)
        return _flat(self._values[node])

    def place(self, view: ProgramNode) -> tuple[str, str]:
        """Return ``view`` as what is loaded from or stored to."""
        if view.op._value_ != "view":
            return f"<not-view:{view.op._value_}>", view.op._value_
        self.value(view)
        return _flat(self._places[view])

    def view(self, node: ProgramNode) -> _Pair:
        """Compose a view."""
        buffer = node.attrs["buffer"]
        assemblies, listings = self._sides(node)
        assembly = _join(f"%{buffer}[", assemblies, ", ", "]")
        self._places[node] = assembly, _join(f"{buffer}[", listings, ", ", "]")
        # scaly's listing has no form for a view that is an operand.
        return assembly, "<view>"

    def load(self, node: ProgramNode) -> _Pair:
        """Compose a load."""
        view = node.args[0]
        if view.op._value_ != "view":
            return f"prog.load <not-view:{view.op._value_}>", view.op._value_
        assembly, listing = self._places[view]
        return _join("prog.load ", (assembly,), "", ""), listing

    def operator(self, node: ProgramNode) -> _Pair:
        """Compose an operator between two values."""
        head, symbol = _OPERATORS[node.op._value_]
        left, right = node.args
        (a, c), (b, d) = self._values[left], self._values[right]
        return _join(head, (a, b), ", ", ")"), _join("(", (c, d), symbol, ")")

    def negation(self, node: ProgramNode) -> _Pair:
        """Compose a change of sign."""
        assemblies, listings = self._sides(node)
        return _join("prog.neg(", assemblies, ", ", ")"), _join("(-", listings, ", ", ")")

    def function(self, node: ProgramNode) -> _Pair:
        """Compose a call of a function of C's library."""
        op = node.op._value_
        assemblies, listings = self._sides(node)
        return _join(f"prog.{op}(", assemblies, ", ", ")"), _join(f"{op}(", listings, ", ", ")")

    def _sides(self, node: ProgramNode) -> tuple[list[_Text], list[_Text]]:
        sides = [self._values[arg] for arg in node.args]
        return [assembly for assembly, _ in sides], [listing for _, listing in sides]


def _integer(_: ScalarPrinter, node: ProgramNode) -> _Pair:
    text = str(node.attrs["value"])
    return text, text


def _float(_: ScalarPrinter, node: ProgramNode) -> _Pair:
    text = f"{node.attrs['value']:g}"
    return text, text


def _variable(_: ScalarPrinter, node: ProgramNode) -> _Pair:
    name = node.attrs["name"]
    return f"%{name}", str(name)


def _unknown(_: ScalarPrinter, node: ProgramNode) -> _Pair:
    return f"<prog.{node.op._value_}>", f"<{node.op._value_}>"


_SYMBOLS = {"add": " + ", "sub": " - ", "mul": " * ", "div": " / ", "mod": " % "}
_OPERATORS = {op: (f"prog.{op}(", symbol) for op, symbol in _SYMBOLS.items()}
_COMPOSERS: dict[str, Callable[[ScalarPrinter, ProgramNode], _Pair]] = {
    "const_int": _integer,
    "const_float": _float,
    "var": _variable,
    "view": ScalarPrinter.view,
    "load": ScalarPrinter.load,
    "neg": ScalarPrinter.negation,
    **dict.fromkeys(_SYMBOLS, ScalarPrinter.operator),
    **dict.fromkeys((op.value for op in UNARY_FN_OPS | BINARY_FN_OPS), ScalarPrinter.function),
    "bit_select": ScalarPrinter.function,
}


def _join(head: str, items: Sequence[_Text], separator: str, tail: str) -> _Text:
    try:
        text = head + separator.join(items) + tail  # type: ignore[arg-type]  # else the TypeError
    except TypeError:
        # One of them is long.
        pieces: list[_Text] = [head]
        for item in items:
            pieces += (item, separator)
        pieces[-1] = tail
        return pieces
    return text if len(text) <= _LONG else [text]


def _flat(pair: _Pair) -> tuple[str, str]:
    assembly, listing = pair
    if isinstance(assembly, str) and isinstance(listing, str):
        return assembly, listing
    return _flatten(assembly), _flatten(listing)


def _flatten(text: _Text) -> str:
    parts: list[str] = []
    stack: list[_Text] = [text]
    while stack:
        piece = stack.pop()
        if isinstance(piece, str):
            parts.append(piece)
        else:
            stack.extend(reversed(piece))
    return "".join(parts)
