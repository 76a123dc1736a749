"""Owns what OpenTelemetry's variables say of the way to a backend: for traces first, then for all signals.

https://opentelemetry.io/docs/specs/otel/protocol/exporter/ lists them. The official exporters read
most of them themselves; what they read differently from each other, or stumble over, is read here.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from opentelemetry.util.re import parse_env_headers

GRPC = "grpc"
HTTP_PROTOBUF = "http/protobuf"
HTTP_JSON = "http/json"
PROTOCOLS = (HTTP_PROTOBUF, GRPC, HTTP_JSON)
COMPRESSIONS = ("gzip", "deflate", "none")

_PREFIX = "OTEL_EXPORTER_OTLP_"
_TRACES_PATH = "/v1/traces"
_DEFAULT_TIMEOUT_S = 10.0
# A day: sockets and gRPC overflow at times that are far longer.
_LONGEST_TIMEOUT_S = 86400.0

_log = logging.getLogger("scaly_viz")


@dataclass(frozen=True, slots=True)
class OtlpSettings:
    """The way to one backend. ``timeout_s`` is for one message; files are paths, empty where not given."""

    protocol: str
    endpoint: str
    headers: Mapping[str, str]
    timeout_s: float
    compression: str
    insecure: bool | None
    certificate: str
    client_key: str
    client_certificate: str

    @property
    def where(self) -> str:
        """The endpoint as it may be shown: without the password that a URL can have."""
        try:
            parts = urlsplit(self.endpoint)
        except ValueError:  # an address that cannot be used, as sending will say
            return self.endpoint.rpartition("@")[2]
        netloc = parts.netloc.rpartition("@")[2]
        return urlunsplit((parts.scheme, netloc, parts.path, "", ""))


def read(
    environ: Mapping[str, str] = os.environ,
    *,
    to: str | None = None,
    protocol: str | None = None,
    headers: Mapping[str, str] | None = None,
    timeout_s: float | None = None,
) -> OtlpSettings:
    """Return the way that ``environ`` describes, with what is given in its place.

    ``to`` is a base URL, as in ``OTEL_EXPORTER_OTLP_ENDPOINT``, or one that ends with /v1/traces. A
    value that makes no sense is told in a warning, and the default used.
    """
    protocol = protocol or _one_of(environ, "PROTOCOL", PROTOCOLS)
    named = parse_env_headers(_value(environ, "HEADERS")[1], liberal=True)
    given = {name.lower(): value for name, value in (headers or {}).items()}
    return OtlpSettings(
        protocol=protocol,
        endpoint=_endpoint(environ, protocol) if to is None else _given(to, protocol),
        headers={**named, **given},
        timeout_s=min(timeout_s or _timeout(environ), _LONGEST_TIMEOUT_S),
        compression=_one_of(environ, "COMPRESSION", COMPRESSIONS),
        insecure=_insecure(environ),
        certificate=_file(environ, "CERTIFICATE"),
        client_key=_file(environ, "CLIENT_KEY"),
        client_certificate=_file(environ, "CLIENT_CERTIFICATE"),
    )


def names_an_endpoint(environ: Mapping[str, str] = os.environ) -> bool:
    """Tell whether ``environ`` says where to send."""
    return bool(_value(environ, "ENDPOINT")[1])


def _value(environ: Mapping[str, str], name: str) -> tuple[str, str]:
    """Return the variable that counts, and its value; an empty one counts as unset."""
    for variable in (f"{_PREFIX}TRACES_{name}", f"{_PREFIX}{name}"):
        value = environ.get(variable, "").strip()
        if value:
            return variable, value
    return f"{_PREFIX}{name}", ""


def _endpoint(environ: Mapping[str, str], protocol: str) -> str:
    variable, value = _value(environ, "ENDPOINT")
    if protocol == GRPC:
        return value or "http://localhost:4317"
    if variable == f"{_PREFIX}TRACES_ENDPOINT":
        return value
    return (value or "http://localhost:4318").rstrip("/") + _TRACES_PATH


def _given(to: str, protocol: str) -> str:
    if protocol == GRPC:
        return to
    base = to.rstrip("/")
    return base if base.partition("?")[0].endswith(_TRACES_PATH) else base + _TRACES_PATH


def _one_of(environ: Mapping[str, str], name: str, choices: tuple[str, ...]) -> str:
    variable, value = _value(environ, name)
    if value and value.lower() not in choices:
        _log.warning(
            "%s=%r is none of %s; using %s", variable, value, ", ".join(choices), choices[0]
        )
    return value.lower() if value.lower() in choices else choices[0]


def _timeout(environ: Mapping[str, str]) -> float:
    variable, value = _value(environ, "TIMEOUT")
    try:
        seconds = float(value) if value else _DEFAULT_TIMEOUT_S
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        _log.warning(
            "%s=%r is not a positive number of seconds; using %g",
            variable,
            value,
            _DEFAULT_TIMEOUT_S,
        )
        return _DEFAULT_TIMEOUT_S
    return seconds


def _insecure(environ: Mapping[str, str]) -> bool | None:
    variable, value = _value(environ, "INSECURE")
    if value and value.lower() not in ("true", "false"):
        _log.warning("%s=%r is neither true nor false; taken as false", variable, value)
    return value.lower() == "true" if value else None


def _file(environ: Mapping[str, str], name: str) -> str:
    variable, value = _value(environ, name)
    if value and not Path(value).is_file():
        _log.warning("%s=%r is no file: connections that need it will fail", variable, value)
    return value
