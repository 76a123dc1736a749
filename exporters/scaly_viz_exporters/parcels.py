"""Owns what is sent: spans with their encoded size, put together into messages that a receiver takes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from opentelemetry.sdk.trace import ReadableSpan

# gRPC receivers take 4 MiB a message unless configured otherwise.
MESSAGE_BYTES = 3_500_000
_MESSAGE_SPANS = 10_000


@dataclass(frozen=True, slots=True)
class Parcel:
    """Spans that stay together: those of one line. ``size`` is bytes of OTLP JSON, above protobuf's.

    ``end`` is where its source goes on behind it. ``problem`` says why there are no spans in it.
    """

    line: bytes
    spans: Sequence[ReadableSpan]
    size: int
    end: int = 0
    problem: str = ""


type Message = Sequence[Parcel]


class Source(Protocol):
    """Where parcels come from, in order; it is told of each message what became of it, in order, too."""

    def parcels(self) -> Iterator[Parcel]:
        """Yield what is not delivered yet."""
        ...

    def delivered(self, message: Message) -> None:
        """Take note that the backend has acknowledged ``message``."""
        ...

    def refused(self, message: Message, why: str) -> None:
        """Keep ``message``, which the backend will not take, out of the way of the others."""
        ...

    def partly_rejected(self, message: Message, why: str) -> None:
        """Keep ``message``, of which the backend has taken some spans and will not say which."""
        ...


def messages(parcels: Iterable[Parcel], limit: int = MESSAGE_BYTES) -> Iterator[Message]:
    """Put ``parcels`` together, in order; a message exceeds ``limit`` bytes only if one parcel does."""
    message: list[Parcel] = []
    size = 0
    for parcel in parcels:
        if message and (size + parcel.size > limit or len(message) >= _MESSAGE_SPANS):
            yield message
            message, size = [], 0
        message.append(parcel)
        size += parcel.size
    if message:
        yield message


def spans_in(message: Message) -> list[ReadableSpan]:
    """Return the spans of ``message``."""
    return [span for parcel in message for span in parcel.spans]
