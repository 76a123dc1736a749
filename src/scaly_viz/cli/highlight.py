"""Owns the colors of assembly, listings, C and JSON on a terminal."""

from __future__ import annotations

import io
import itertools
from collections.abc import Iterator

from pygments.formatters import TerminalFormatter
from pygments.lexer import Lexer, RegexLexer
from pygments.lexers.c_cpp import CLexer
from pygments.lexers.data import JsonLexer
from pygments.token import (
    Comment,
    Keyword,
    Name,
    Number,
    Operator,
    Punctuation,
    String,
    Token,
    Whitespace,
)

_BATCH = 2_000

# The same on light and dark grounds: only colors that can be read on both.
_COLORS = {
    Token: ("", ""),
    Comment: ("brightblack", "brightblack"),
    Comment.Preproc: ("yellow", "yellow"),
    Keyword: ("brightblue", "brightblue"),
    Keyword.Type: ("cyan", "cyan"),
    Name.Function: ("*yellow*", "*yellow*"),
    Name.Tag: ("brightblue", "brightblue"),
    Number: ("magenta", "magenta"),
    String: ("green", "green"),
}


class ProgramLexer(RegexLexer):
    """Assembly in the manner of MLIR (``prog.for %i = 0 to 4``), and listings (``for i in [0, 4)``)."""

    name = "scaly program"

    tokens = {  # noqa: RUF012 - pygments' way to state a grammar
        "root": [
            (r"\s+", Whitespace),
            (r'"(?:[^"\\\n]|\\.)*"', String),
            (r"@[\w.$]+", Name.Function),
            (r"%[\w.$]+(?::\w+)*", Name.Variable),
            (r"(?:tensor|memref)<[^<>\n]*>", Keyword.Type),
            (r"\b(?:float|int|uint|bool|index)\d*\b", Keyword.Type),
            (r"\b[a-z]\w*\.[a-z]\w*", Keyword),
            (r"\b(?:program|proc|buffer|alias|for|in|to|step|if|else|return|call)\b", Keyword),
            (r"\d+(?:\.\d*)?(?:[eE][+-]?\d+)?", Number),
            (r"[A-Za-z_$][\w$]*", Name),
            (r"[()\[\]{},;:]+", Punctuation),
            (r".", Operator),
        ]
    }


def highlighted(text: str, kind: str, media_type: str) -> Iterator[str]:
    """Yield ``text`` piece by piece, colored by what a payload of ``kind`` is written in."""
    tokens = _lexer(kind, media_type).get_tokens(text)
    formatter = TerminalFormatter(colorscheme=_COLORS, bg="dark")
    for batch in itertools.batched(tokens, _BATCH):
        piece = io.StringIO()
        formatter.format(batch, piece)
        yield piece.getvalue()


def _lexer(kind: str, media_type: str) -> Lexer:
    exact = {"stripnl": False, "ensurenl": False}
    if media_type.endswith("json"):
        return JsonLexer(**exact)
    lexer: type[Lexer] = CLexer if kind == "code" else ProgramLexer
    return lexer(**exact)
