"""Owns every ``SCALY_VIZ_*`` environment variable: its default, its meaning, and what a bad value becomes."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from scaly_viz import log
from scaly_viz.errors import RecordingFolderError

FILE_NAME = "recordings.jsonl"
INDEX_FOLDER = "index"  # what the viewer remembers of big files
OUTBOX_NAME = "outbox"

_GIB = 1024**3
_MIB = 1024**2


@dataclass(frozen=True, slots=True)
class Variable:
    """One environment variable, as ``docs/settings.md`` lists it."""

    name: str
    default: str
    meaning: str


DIR = Variable(
    "SCALY_VIZ_DIR",
    "$XDG_CACHE_HOME/scaly/viz, else ~/.cache/scaly/viz",
    "The folder that recordings are written to.",
)
EXPORTERS = Variable(
    "SCALY_VIZ_EXPORTERS",
    "json",
    "Comma list of exporters: json (the local file), otlp, none (memory only), or any name of the"
    " entry-point group opentelemetry_traces_exporter, such as console.",
)
FUNCTIONS = Variable(
    "SCALY_VIZ_FUNCTIONS",
    "*",
    "Comma list of globs: the functions, by name, that the instrumentor records; see instrumentation.md.",
)
MAX_BYTES = Variable(
    "SCALY_VIZ_MAX_BYTES",
    str(2 * _GIB),
    "Bytes that the local file and its rotated segments may take together; the oldest segments go first.",
)
MEMORY_BYTES = Variable(
    "SCALY_VIZ_MEMORY_BYTES",
    str(256 * _MIB),
    "Bytes of encoded recordings that recordings() keeps in memory; the oldest go first.",
)
OUTBOX_MAX_BYTES = Variable(
    "SCALY_VIZ_OUTBOX_MAX_BYTES",
    str(2 * _GIB),
    "Bytes that spans which wait for an OTLP backend may take on disk; beyond it the exporter otlp sends"
    " from memory only, which is said.",
)
PENDING_BYTES = Variable(
    "SCALY_VIZ_PENDING_BYTES",
    str(_GIB),
    "Growth of the process, in bytes, from which steps are encoded at once instead of after the render.",
)
BACKEND_HEADERS = Variable(
    "SCALY_VIZ_BACKEND_HEADERS",
    "",
    "Headers of requests to a backend that is read from, such as Authorization=Bearer%20TOKEN: a comma"
    " list of key=value, percent-encoded, as in OTEL_EXPORTER_OTLP_HEADERS.",
)
BACKEND_TIMEOUT = Variable(
    "SCALY_VIZ_BACKEND_TIMEOUT",
    "30",
    "Seconds that a backend which is read from may be silent before it is given up.",
)
STRICT = Variable(
    "SCALY_VIZ_STRICT",
    "0",
    "1: an error inside scaly-viz is also raised by the next call of recordings(). For tests of scaly-viz.",
)

VARIABLES = (
    DIR,
    EXPORTERS,
    FUNCTIONS,
    MAX_BYTES,
    MEMORY_BYTES,
    OUTBOX_MAX_BYTES,
    PENDING_BYTES,
    BACKEND_HEADERS,
    BACKEND_TIMEOUT,
    STRICT,
)


@dataclass(frozen=True, slots=True)
class Settings:
    """What the environment asks for, read once at the first mark or ``configure()``."""

    directory: Path | None
    exporters: tuple[str, ...]
    max_bytes: int
    memory_bytes: int
    outbox_max_bytes: int
    pending_bytes: int
    strict: bool


@dataclass(frozen=True, slots=True)
class BackendSettings:
    """How backends are read. ``headers`` may hold secrets: they belong into no message."""

    headers: tuple[tuple[str, str], ...] = field(repr=False)
    timeout_s: float


_configured: dict[str, Path] = {}


def configure_directory(directory: Path | None) -> None:
    """Let ``recording_dir`` return ``directory`` whatever the environment says; None undoes it."""
    _configured.clear()
    if directory is not None:
        _configured[DIR.name] = directory


def fingerprint(environ: Mapping[str, str] = os.environ) -> tuple[str | None, ...]:
    """Return what ``read`` depends on, to notice a change."""
    names = (*(variable.name for variable in VARIABLES), "XDG_CACHE_HOME", "HOME")
    return (*(environ.get(name) for name in names), str(_configured.get(DIR.name)))


def recording_path() -> Path:
    """Return the file that recordings are appended to: ``recordings.jsonl`` in ``recording_dir()``.

    Raises:
        RecordingFolderError: there is no such folder, as the user has no home.
    """
    return recording_dir() / FILE_NAME


def recording_dir(environ: Mapping[str, str] = os.environ) -> Path:
    """Return what ``configure`` was told, else ``SCALY_VIZ_DIR``, else ``scaly/viz`` in the user's cache.

    Raises:
        RecordingFolderError: that would be in a home folder, and there is none.
    """
    if DIR.name in _configured:
        return _configured[DIR.name]
    override = environ.get(DIR.name)
    xdg = environ.get("XDG_CACHE_HOME")
    try:
        if override:
            return Path(override).expanduser()
        base = Path(xdg).expanduser() if xdg else Path.home() / ".cache"
    except RuntimeError as error:
        # pathlib's word for a user without a home folder.
        cause = str(error).rstrip(".")
        raise RecordingFolderError(
            f"no folder for recordings: {cause}; set {DIR.name}, or call configure(directory=...)"
        ) from error
    return base / "scaly" / "viz"


def read(environ: Mapping[str, str] = os.environ) -> Settings:
    """Return the settings that ``environ`` asks for; a bad value is logged and its default used."""
    return Settings(
        directory=_directory(environ),
        exporters=names(environ.get(EXPORTERS.name, EXPORTERS.default)),
        max_bytes=size(environ, MAX_BYTES),
        memory_bytes=size(environ, MEMORY_BYTES),
        outbox_max_bytes=size(environ, OUTBOX_MAX_BYTES),
        pending_bytes=size(environ, PENDING_BYTES),
        strict=_flag(environ, STRICT),
    )


def read_backend(environ: Mapping[str, str] = os.environ) -> BackendSettings:
    """Return how ``environ`` asks backends to be read; a bad value is logged and left out."""
    return BackendSettings(_headers(environ), _seconds(environ, BACKEND_TIMEOUT))


def _headers(environ: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    from urllib.parse import unquote

    headers = {}
    for position, entry in enumerate(environ.get(BACKEND_HEADERS.name, "").split(","), start=1):
        name, _, value = entry.partition("=")
        name, value = unquote(name).strip(), unquote(value).strip()
        if _HEADER_NAME.fullmatch(name) and _HEADER_VALUE.fullmatch(value):
            headers[name] = value
        elif entry.strip():
            # Not shown: it may be a secret.
            log.warn("%s: entry %d is no key=value; left out", BACKEND_HEADERS.name, position)
    return tuple(headers.items())


_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", re.ASCII)
_HEADER_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]+")


def _seconds(environ: Mapping[str, str], variable: Variable) -> float:
    text = environ.get(variable.name, "").strip()
    if not text:
        return float(variable.default)
    try:
        value = float(text)
        if not 0 < value <= _LONGEST_S:
            raise ValueError
    except ValueError:
        log.warn(
            "%s=%r is not a positive number of seconds; using %s",
            variable.name,
            text,
            variable.default,
        )
        return float(variable.default)
    return value


_LONGEST_S = 86_400


def _directory(environ: Mapping[str, str]) -> Path | None:
    try:
        return recording_dir(environ)
    except RecordingFolderError:
        return None


def names(text: str) -> tuple[str, ...]:
    """Return the names of exporters in a comma list, each once; the default where there are none."""
    return items(text) or (EXPORTERS.default,)


def exporters_given(environ: Mapping[str, str] = os.environ) -> bool:
    """Return whether the environment itself names exporters."""
    return bool(items(environ.get(EXPORTERS.name, "")))


def functions(environ: Mapping[str, str] = os.environ) -> tuple[str, ...]:
    """Return the globs of the functions that the instrumentor records."""
    return items(environ.get(FUNCTIONS.name, "")) or (FUNCTIONS.default,)


def items(text: str) -> tuple[str, ...]:
    """Return the items of a comma list, each once."""
    return tuple(dict.fromkeys(item.strip() for item in text.split(",") if item.strip()))


def size(environ: Mapping[str, str], variable: Variable) -> int:
    """Return the bytes that ``variable`` says; a bad value is logged and the default used."""
    text = environ.get(variable.name, "").strip()
    if not text:
        return int(variable.default)
    try:
        value = int(text)
        if value <= 0:
            raise ValueError
    except ValueError:
        log.warn(
            "%s=%r is not a positive number of bytes; using %s",
            variable.name,
            text,
            variable.default,
        )
        return int(variable.default)
    return value


def _flag(environ: Mapping[str, str], variable: Variable) -> bool:
    text = environ.get(variable.name, "").strip().lower()
    if text not in ("", "0", "1", "false", "true"):
        log.warn("%s=%r is neither 0 nor 1; using %s", variable.name, text, variable.default)
    return text in ("1", "true")
