"""Owns what of a foreign text may reach a terminal: nothing that steers it or hides what is there."""

from __future__ import annotations


def visible(text: str, keep: str = "") -> str:
    """Return ``text`` with every character that is not printable, but those in ``keep``, as its escape.

    Not printable are controls, escapes, line ends, marks of writing direction, characters of no
    width, lone surrogates.
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in keep else _escape(c) for c in text)


def visible_lines(text: str) -> str:
    """Return a text of several lines with nothing but its line ends and tabs left unescaped."""
    lines = text.replace("\r\n", "\n").split("\n")
    return "\n".join(visible(line, "\t") for line in lines)


def visible_json(text: str) -> str:
    """Return a JSON text of the same meaning in which every character is printable."""
    lines = text.split("\n")
    if all(line.isprintable() for line in lines):
        return text
    return "".join(c if c.isprintable() or c == "\n" else _json_escape(c) for c in text)


def ascii_json(text: str) -> str:
    """Return a JSON text of the same meaning in ASCII."""
    return text if text.isascii() else "".join(c if c.isascii() else _json_escape(c) for c in text)


def _escape(character: str) -> str:
    return character.encode("unicode_escape").decode()


def _json_escape(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i : i + 2].hex()}" for i in range(0, len(units), 2))
