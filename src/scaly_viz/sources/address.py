"""Owns the address of a tracing backend: ``jaeger:http://host:16686/base?since=7d&limit=200#recording``."""

from __future__ import annotations

import os
import re
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from urllib.parse import parse_qsl, unquote, urlsplit

from scaly_viz.errors import BackendError

KINDS = ("jaeger", "tempo")
OPTIONS = ("service", "since", "until", "limit", "page", "trace")
DEFAULT_SINCE = "30d"
DEFAULT_LIMIT = 1000
DEFAULT_PAGE = 50
MAX_LIMIT = 100_000
MAX_PAGE = 1000

_KIND = re.compile(rf"({'|'.join(KINDS)}):", re.IGNORECASE)
_URL = re.compile(r"(https?):/{1,2}(?=[^/])", re.IGNORECASE)  # a Path has made one slash of two
_TRACE_ID = re.compile(r"[0-9a-fA-F]{1,32}")
_SPAN = re.compile(r"(\d{1,9})([smhdwy])")
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 7 * 86_400, "y": 365 * 86_400}
# What the address line of a browser has behind the base path of Jaeger's own page.
_PAGE = re.compile(r"(?:/search|/trace/(?P<trace>[0-9a-fA-F]{1,32}))$")


@dataclass(frozen=True, slots=True)
class Address:
    """Where a backend is, who asks, and which of its traces are wanted.

    ``since`` and ``until`` are a duration before now, as ``7d``, or a date of ISO 8601; ``until`` is
    empty for now. ``limit`` is how many recordings to list, the newest; ``page`` how many traces to
    ask for at once; ``trace`` the only trace to read; ``recording`` the only recording.
    """

    kind: str
    url: str
    user: str = ""
    password: str = field(default="", repr=False)
    services: tuple[str, ...] = ()
    since: str = DEFAULT_SINCE
    until: str = ""
    limit: int = DEFAULT_LIMIT
    page: int = DEFAULT_PAGE
    trace: str = ""
    recording: str = ""

    def __str__(self) -> str:
        """Return the address without credentials and options."""
        return f"{self.kind}:{self.url}"

    @property
    def host(self) -> str:
        """Name of the host."""
        return urlsplit(self.url).hostname or ""

    @property
    def system(self) -> str:
        """What the backend is called in sentences."""
        return self.kind.capitalize()

    def window(self) -> tuple[int, int]:
        """Return the span of time to look at, in nanoseconds since the epoch."""
        now = time.time()
        # The clock of the machine that recorded may be ahead of ours.
        until = _moment(self.until, now) if self.until else now + 600
        return int(max(_moment(self.since, now), 0) * 1e9), int(until * 1e9)


def is_address(path: str | os.PathLike[str]) -> bool:
    """Tell the address of a backend from a path."""
    return _KIND.match(os.fspath(path)) is not None


def parse_address(text: str | os.PathLike[str]) -> Address:
    """Return the address that ``text`` is.

    Raises:
        BackendError: it is none, or an option of it is unknown or makes no sense.
    """
    text = os.fspath(text)
    kind, _, rest = text.partition(":")
    kind = kind.lower()
    if not _URL.match(rest):
        raise BackendError(f"{_shown(text)}: write {kind}:http://HOST:PORT or {kind}:https://HOST")
    try:
        parts = urlsplit(_URL.sub(r"\1://", rest, count=1))
        port = parts.port
    except ValueError:
        # Not told in its words: what looks like a port may be a piece of a password.
        raise BackendError(f"{_shown(text)}: not an address: wrong port or host") from None
    if not parts.hostname or re.search(r"[\s\\]", parts.netloc):
        raise BackendError(f"{_shown(text)}: not an address: it names no host")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    path = parts.path.rstrip("/")
    page = _PAGE.search(path) if kind == "jaeger" else None
    options = _options(parts.query, bool(page))
    if page:
        path = path[: page.start()]
        options.setdefault("trace", page["trace"] or "")
    return Address(
        kind,
        f"{parts.scheme}://{host}{'' if port is None else f':{port}'}{path}",
        unquote(parts.username or ""),
        unquote(parts.password or ""),
        tuple(name for name in options.get("service", "").split(",") if name),
        _time(options.get("since") or DEFAULT_SINCE),
        _time(options.get("until", "")),
        _count("limit", options.get("limit", ""), DEFAULT_LIMIT, MAX_LIMIT),
        _count("page", options.get("page", ""), DEFAULT_PAGE, MAX_PAGE),
        _trace(options.get("trace", "")),
        unquote(parts.fragment),
    )


def _shown(text: str) -> str:
    """Return ``text`` without what may be a password."""
    return re.sub(r"//.*@", "//", text)[:200]


def _options(query: str, is_page: bool) -> dict[str, str]:
    """Return the options of the query; those of an address that was copied from Jaeger's page count not."""
    options: dict[str, str] = {}
    for name, value in parse_qsl(query, keep_blank_values=True):
        if name in OPTIONS:
            before = f"{options[name]}," if name == "service" and name in options else ""
            options[name] = before + value
        elif not is_page:
            raise BackendError(f"option {name[:40]!r} is unknown; known: {', '.join(OPTIONS)}")
    if is_page:  # whose search has a limit, and services, but times of its own
        return {name: value for name, value in options.items() if name in ("service", "limit")}
    return options


def _count(name: str, text: str, default: int, most: int) -> int:
    if not text:
        return default
    if not re.fullmatch(r"[1-9][0-9]{0,8}", text, re.ASCII) or int(text) > most:
        raise BackendError(f"{name}={text[:40]!r} is no number from 1 to {most:,}")
    return int(text)


def _trace(text: str) -> str:
    if text and not _TRACE_ID.fullmatch(text):
        raise BackendError(f"trace={text[:40]!r} is no trace id of 32 hex digits")
    return text.lower().zfill(32) if text else ""


def _time(text: str) -> str:
    if text:
        _moment(text, 0)
    return text


def _moment(text: str, now: float) -> float:
    """Return seconds since the epoch."""
    duration = _SPAN.fullmatch(text)
    if duration:
        return now - int(duration[1]) * _SECONDS[duration[2]]
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise BackendError(
            f"{text[:40]!r} is neither a duration, as 7d or 12h, nor a date, as 2026-01-31"
        ) from None
    return (moment if moment.tzinfo else moment.astimezone(UTC)).timestamp()
