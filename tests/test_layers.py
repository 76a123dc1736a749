"""Owns the order of the layers: imports go down only, and few modules know scaly, zstd or Flask."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

# The sources are the same for all versions.
pytestmark = pytest.mark.slow

_ROOT = Path(__file__).parents[1]
_FOLDERS = (_ROOT / "src", _ROOT / "exporters", _ROOT / "viewer")

# Lowest first; a module belongs to the longest prefix of its name, and imports its own layer or a lower one.
_LAYERS = (
    (
        "scaly_viz._version",
        "scaly_viz.attributes",
        "scaly_viz.errors",
        "scaly_viz.log",
        "scaly_viz.span_record",
        "scaly_viz.system",
        "scaly_viz.threads",
    ),
    ("scaly_viz.settings",),
    ("scaly_viz_exporters",),
    ("scaly_viz.codec", "scaly_viz.graph_table", "scaly_viz.graph_rows"),
    ("scaly_viz.graph_chain", "scaly_viz.payload_chain"),
    ("scaly_viz.ids", "scaly_viz.provider_check", "scaly_viz.resource"),
    ("scaly_viz.application",),
    ("scaly_viz.mirror",),
    ("scaly_viz.spans", "scaly_viz.store"),
    ("scaly_viz.pipeline", "scaly_viz.recording", "scaly_viz.testing"),
    ("scaly_viz.assembling", "scaly_viz.scaly_viz_dict"),
    ("scaly_viz.respan",),
    ("scaly_viz.frontend", "scaly_viz.sources"),
    ("scaly_viz.analysis", "scaly_viz.remote"),
    ("scaly_viz.retention", "scaly_viz.running"),
    ("scaly_viz.exports", "scaly_viz.imports"),
    ("scaly_viz",),
    ("scaly_viz_viewer",),
    (
        "scaly_viz.cli",
        "scaly_viz.startup",
        "scaly_viz.__main__",
        "scaly_viz.pytest_plugin",
    ),
)
_ONLY = {
    "scaly": ("scaly_viz.frontend",),
    "numpy": ("scaly_viz.frontend",),
    "zstandard": ("scaly_viz.codec", "scaly_viz.exports.packing", "scaly_viz.sources.streams"),
    "perfetto": ("scaly_viz.exports.perfetto",),
    "regex": ("scaly_viz.analysis",),
    "rapidfuzz": ("scaly_viz.analysis",),
    "requests": ("scaly_viz.sources.http", "scaly_viz_exporters"),
    "urllib3": ("scaly_viz.sources.http",),
    "IPython": ("scaly_viz_viewer.notebook",),
    "ijson": ("scaly_viz.sources.scaly_viz_stream", "scaly_viz.sources.trace_stream"),
    "flask": ("scaly_viz_viewer",),
    "waitress": ("scaly_viz_viewer",),
    "click": ("scaly_viz.cli", "scaly_viz_viewer"),
    "rich": ("scaly_viz.cli",),
    "grpc": ("scaly_viz_exporters.otlp_grpc",),
    "wrapt": ("scaly_viz.instrumentor", "scaly_viz.pytest_plugin"),
    "pytest": ("scaly_viz.pytest_plugin",),
}


def _modules() -> Iterator[tuple[str, Path]]:
    for folder in _FOLDERS:
        for path in sorted(folder.rglob("*.py")):
            parts = path.relative_to(folder).with_suffix("").parts
            if parts[0].startswith("scaly_viz"):
                yield ".".join(part for part in parts if part != "__init__"), path


_MODULES = dict(_modules())


@cache
def _tree(name: str) -> ast.Module:
    return ast.parse(_MODULES[name].read_text())


def _imports(name: str) -> Iterator[tuple[int, str]]:
    for node in ast.walk(_tree(name)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name}:{node.lineno}: a relative import"
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                yield node.lineno, full if full in _MODULES else str(node.module)


def _layer(name: str) -> int:
    prefixes = [
        (len(prefix), level)
        for level, layer in enumerate(_LAYERS)
        for prefix in layer
        if name == prefix or name.startswith(prefix + ".")
    ]
    return max(prefixes)[1]


def test_there_are_modules_to_look_at() -> None:
    assert {"scaly_viz", "scaly_viz_exporters.json_file", "scaly_viz_viewer"} <= set(_MODULES)


@pytest.mark.parametrize("name", _MODULES)
def test_imports_go_down_the_layers(name: str) -> None:
    # The package itself names what it offers, and finds it only when asked.
    allowed = _layer(name) if name != "scaly_viz" else len(_LAYERS)
    upward = [
        f"{_MODULES[name]}:{line}: {name} imports {imported}"
        for line, imported in _imports(name)
        if imported.startswith("scaly_viz")
        and imported not in ("scaly_viz", "scaly_viz.__version__")
        and _layer(imported) > allowed
    ]
    assert not upward, "\n".join(upward)


@pytest.mark.parametrize("name", _MODULES)
def test_a_library_is_known_only_where_it_belongs(name: str) -> None:
    misplaced = [
        f"{_MODULES[name]}:{line}: {name} imports {imported}"
        for line, imported in _imports(name)
        for library, places in _ONLY.items()
        if imported.partition(".")[0] == library and not name.startswith(places)
    ]
    assert not misplaced, "\n".join(misplaced)


@pytest.mark.parametrize("name", _MODULES)
def test_a_module_says_first_what_it_owns(name: str) -> None:
    docstring = ast.get_docstring(_tree(name)) or ""
    assert docstring.startswith(("Owns ", "Traces ", "Serves ")), (
        f"{name} does not say what it owns"
    )


def test_every_file_that_the_architecture_page_names_exists() -> None:
    text = (_ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    files = re.findall(r"`([\w./]+\.(?:py|ts))`", text)

    assert len(files) > 15
    assert [file for file in files if not (_ROOT / file).exists()] == []
