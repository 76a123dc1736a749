"""Owns what counting reads of scaly's program nodes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol


class DType(Protocol):
    """The element type of a node."""

    @property
    def bits(self) -> int:
        """The width of an element."""

    @property
    def is_floating(self) -> bool:
        """Whether arithmetic on it is floating-point."""


class ProgramNode(Protocol):
    """What counting reads of scaly's ``ProgramNode``; every released scaly has it."""

    @property
    def op(self) -> str:
        """The kind of node, a string enumeration in scaly."""

    @property
    def args(self) -> tuple[ProgramNode, ...]:
        """The nodes it is made of."""

    @property
    def attrs(self) -> Mapping[str, object]:
        """Its names and numbers."""

    @property
    def dtype(self) -> DType:
        """The element type of its value or buffer."""


def text_of(node: ProgramNode, key: str) -> str:
    """An attribute as text, empty where there is none."""
    return str(node.attrs.get(key, ""))


def integer_of(node: ProgramNode, key: str) -> int | None:
    """An attribute that is an integer, or None."""
    value = node.attrs.get(key)
    return value if isinstance(value, int) else None
