"""Owns which test files have to do with scaly: where only its version is another, only they can tell."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

_TESTS = Path(__file__).parent
# In code, and in texts of code for other processes; scaly_viz is another word.
_SCALY = re.compile(
    r"\b(?:from|import) (?:programs|scaly)\b|\bscaly\.(?:codegen|ir|passes|viz)\b", re.ASCII
)


def has_to_do_with_scaly(file: Path) -> bool:
    """Tell whether scaly is named in ``file``, its folder's fixtures, or a module of the tests that they import."""
    pending, seen = [file, file.with_name("conftest.py")], set[Path]()
    while pending:
        path = pending.pop()
        if path in seen or not path.is_file():
            continue
        seen.add(path)
        text = path.read_text(encoding="utf-8")
        if _SCALY.search(text):
            return True
        pending += _imported(path, text)
    return False


def _imported(path: Path, text: str) -> Iterator[Path]:
    for node in ast.parse(text).body:
        if isinstance(node, ast.ImportFrom):
            folder = path.parent if node.level else _TESTS
            module = folder.joinpath(*(node.module or "").split("."))
            yield module.with_suffix(".py")
            yield module / "__init__.py"
