"""Owns what may become of a message that is sent, and what the answers of HTTP and gRPC mean for it.

https://opentelemetry.io/docs/specs/otlp/#failures and #failures-1 are the rules.
"""

from __future__ import annotations

import enum
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Protocol

import msgspec
from google.protobuf.message import DecodeError
from google.rpc.status_pb2 import Status
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse
from opentelemetry.sdk.trace import ReadableSpan

_LONGEST_WAIT_S = 3600.0
_SHOWN_LETTERS = 200
_LATER = (408, 429, 502, 503, 504)
_REFUSED = (400, 413, 422)


class Fate(enum.Enum):
    """What became of a message."""

    DELIVERED = "delivered"
    PARTLY = "partly rejected"
    LATER = "to be sent again, after a while"
    REFUSED = "refused: this message will never be taken"
    UNREADABLE = "never sent: it cannot be read"
    CLOSED = "refused: no message will be taken before something is changed"


@dataclass(frozen=True, slots=True)
class Outcome:
    """A fate, its cause in words, and for ``LATER`` the seconds that the backend asks to wait."""

    fate: Fate
    cause: str = ""
    wait_s: float | None = None


DELIVERED = Outcome(Fate.DELIVERED)


class Transport(Protocol):
    """One of the official exporters, asked to send once and to tell the outcome."""

    def send(self, spans: Sequence[ReadableSpan]) -> Outcome:
        """Send ``spans`` as one message; never raises."""
        ...

    def close(self) -> None:
        """Close connections."""
        ...


class _JsonPartial(msgspec.Struct, rename="camel"):
    rejected_spans: int | str = 0
    error_message: str = ""


class _JsonAnswer(msgspec.Struct, rename="camel"):
    partial_success: _JsonPartial | None = None


def of_http(status: int, reason: str, headers: Mapping[str, str], body: bytes) -> Outcome:
    """Return what an answer over HTTP means."""
    said = f"answered {status} {reason or _phrase(status)}".rstrip()
    if 200 <= status < 300:
        return _of_body(said, headers.get("content-type", ""), body)
    said += _message(headers.get("content-type", ""), body)
    if status in _LATER:
        return Outcome(Fate.LATER, said, _retry_after(headers.get("retry-after", "")))
    if 300 <= status < 400 and "location" in headers:
        said += f", to {shown(headers['location'])}"
    return Outcome(Fate.REFUSED if status in _REFUSED else Fate.CLOSED, said)


def of_response(response: ExportTraceServiceResponse) -> Outcome:
    """Return what the answer of a receiver that has taken a message means."""
    partial = response.partial_success
    return _partly(partial.rejected_spans, partial.error_message)


def _partly(rejected: int, message: str) -> Outcome:
    if rejected <= 0:
        return DELIVERED
    why = f": {shown(message)}" if message else ""
    return Outcome(Fate.PARTLY, f"rejected {rejected} of the spans{why}")


def _of_body(said: str, content_type: str, body: bytes) -> Outcome:
    try:
        if content_type.startswith("application/json"):
            partial = msgspec.json.decode(body or b"{}", type=_JsonAnswer).partial_success
            partial = partial or _JsonPartial()
            return _partly(int(partial.rejected_spans), partial.error_message)
        return of_response(ExportTraceServiceResponse.FromString(body))
    except (ValueError, DecodeError):
        what = f" ({shown(content_type)})" if content_type else ""
        cause = f"{said}, but not as a receiver of OTLP does{what}: is it the right port and path?"
        return Outcome(Fate.CLOSED, cause)


def _message(content_type: str, body: bytes) -> str:
    """Return the error's message: of the status that OTLP prescribes, else of a short plain text."""
    text = ""
    if content_type.startswith("application/x-protobuf"):
        try:
            text = Status.FromString(body).message
        except DecodeError:
            text = ""
    elif content_type.startswith(("application/json", "text/plain")):
        text = body.decode("utf-8", "replace").strip()
    return f": {shown(text)}" if text else ""


def shown(text: str) -> str:
    """Return a stranger's text so that it can neither flood nor steer a terminal or a log."""
    line = " ".join(text.split())
    short = line if len(line) <= _SHOWN_LETTERS else line[:_SHOWN_LETTERS] + "..."
    return short.encode("unicode_escape").decode("ascii")


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""


def _retry_after(value: str) -> float | None:
    """Return the seconds that a Retry-After header asks for, at most an hour (RFC 9110, 10.2.3)."""
    try:
        seconds = float(value)
    except ValueError:
        try:
            at = parsedate_to_datetime(value)
        except (TypeError, ValueError):
            return None
        at = at if at.tzinfo else at.replace(tzinfo=UTC)
        seconds = at.timestamp() - time.time()
    return bounded_wait(seconds)


def bounded_wait(seconds: float) -> float | None:
    """Return ``seconds`` from 0 to an hour, None where it is no number."""
    return min(max(seconds, 0.0), _LONGEST_WAIT_S) if math.isfinite(seconds) else None
