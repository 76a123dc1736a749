"""Owns counting what a line of scaly's C does: flops, loads and stores, by the signs in it.

The conventions are those of the program's counts, so that the two can be compared: what is done to
vector registers, and the copies into and out of them, is no traffic, and a line of a function over
lanes counts once per element.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from scaly_viz.analysis.scanners import STRING
from scaly_viz.analysis.text_model import FREE, Cost

_TOKEN = re.compile(
    r"(?P<call>[A-Za-z_]\w*)\((?!\*)|(?P<entry>\b(?:arg|res)\[\d+\])|(?P<name>[A-Za-z_]\w*)"
    r"|(?P<number>\d[\d.]*(?:[eE][+-]?\d+)?\w*)|(?P<cast>\((?:const )?\w+\*?\))"
    r"|(?P<sign><<|>>|[<>=!]=|[-+*/%<>&?:])|(?P<open>[\[({])|(?P<close>[\])}])|(?P<begin>[,=])"
)
_MATH = frozenset(
    (
        *("sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "erf"),
        *("exp", "log", "pow", "sqrt", "fabs", "floor", "ceil", "fmod", "fmin", "fmax"),
    )
)
_VECTOR_CALL = re.compile(r"\w+_(?:vec|lanes_\d+)_(\w+)")
_NO_VALUE = re.compile(r"\s*(?:static const|(?:const )?\w+\* \w+ = |return\b|\(void\))")
_VECTOR = re.compile(r"\s*\*\(\w+_(?:vec|mem)\*\)\(&(?P<name>(?:arg|res)\[\d+\]|\w+)\[")
_PAIR = re.compile(r"\s*\*\(\w+\*\)\((?P<name>(?:arg|res)\[\d+\]|\w+)[^=]*\) = \(\w+\)\{")
_VECTOR_STORE = re.compile(r"\s*\w+_vec_st\(&(?P<name>(?:arg|res)\[\d+\]|\w+)\[")
_ELEMENT = re.compile(r"\s*(?P<name>(?:arg|res)\[\d+\]|\w+)\[.*?\] = ")
_INTEGER = re.compile(
    r"\s*(?:const )?(?:int64_t|int32_t|int|long long|uint64_t|\w+_i64) \w+(?:\[\d+\])? = "
)
_ASSIGNED = re.compile(r"(?<![<>=!])= ")


def line_cost(line: str, sizes: Mapping[str, int]) -> Cost:
    """Return what a statement costs each time that it runs, as loads, stores, flops and bytes.

    ``sizes`` has the bytes of an element of each buffer that it can name, 0 for integers in registers;
    other arrays are registers of numbers.
    """
    if _NO_VALUE.match(line):
        return FREE
    stores, target, rest = _stored(STRING.sub('""', line), sizes)
    counts_flops = (
        not _INTEGER.match(line) and sizes.get(target, 8) > 0 and "printf" not in line.lower()
    )
    loads, flops, moved = _value(rest, sizes, counts_flops=counts_flops)
    return loads, stores, flops, moved + stores * sizes.get(target, 0)


def _stored(line: str, sizes: Mapping[str, int]) -> tuple[int, str, str]:
    """How many elements are stored to what, and the rest of the line, which is read."""
    if found := _PAIR.match(line):
        return 2, found["name"], line[found.end() :]
    if found := _VECTOR_STORE.match(line) or _VECTOR.match(line):
        # The store's index and its value are both read.
        return 1, found["name"], line[found.end() - 1 :]
    if found := _ELEMENT.match(line):
        return int(sizes.get(found["name"], 0) > 0), found["name"], line[found.end("name") :]
    assigned = _ASSIGNED.search(line)
    return 0, "", line[assigned.end() :] if assigned else line if "printf" in line.lower() else ""


def _value(text: str, sizes: Mapping[str, int], *, counts_flops: bool) -> tuple[int, int, int]:
    """Loads, flops and bytes of an expression; in brackets stands an index, which is no flop."""
    loads = flops = moved = 0
    indices = 0
    opened: list[str] = []
    before = "open"
    for match in _TOKEN.finditer(text):
        kind = str(match.lastgroup)
        token = match[0]
        if kind in ("name", "entry") and text.startswith("[", match.end()) and token in sizes:
            loads += sizes[token] > 0
            moved += sizes[token]
        elif kind == "call":
            opened.append("(")
            vector = _VECTOR_CALL.fullmatch(match["call"])
            name = vector[1] if vector else match["call"]
            flops += counts_flops and indices == 0 and (name in _MATH or name in _VECTOR_MATH)
            kind = "open"
        elif kind == "open":
            opened.append(token)
            indices += token == "["
        elif kind == "close" and opened:
            indices -= opened.pop() == "["
        elif kind == "sign" and indices == 0 and counts_flops and token in "+-*/%":
            literal = (
                before in ("open", "sign", "begin")
                and text[match.end() : match.end() + 1].isdigit()
            )
            pointer = token == "*" and before in ("open", "cast")
            infinite = text.startswith("INFINITY", match.end())
            flops += not literal and not pointer and not infinite
        before = kind
    return loads, flops, moved


_VECTOR_MATH = frozenset(("abs", "min", "max", "fma", "minimum", "maximum"))
