"""Owns delivering: which message is sent next, and what its outcome means for it and those behind it."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans

from scaly_viz_exporters import parcels
from scaly_viz_exporters.otlp_settings import GRPC, HTTP_JSON, OtlpSettings
from scaly_viz_exporters.outcome import Fate, Outcome, Transport
from scaly_viz_exporters.parcels import Message, Source, spans_in

# So many refusals without a message taken in between: it is not the messages.
_MOST_REFUSALS = 8


class End(enum.Enum):
    """How a round of deliveries ended."""

    DONE = "all is delivered or refused"
    LATER = "the backend cannot be reached, or asks to wait"
    CLOSED = "the backend refuses everything"
    STOPPED = "it was asked to stop"
    BUSY = "somebody else delivers"


@dataclass(frozen=True, slots=True)
class Round:
    """The end of a round, and what to wait for before the next."""

    end: End
    outcome: Outcome | None = None


@dataclass(frozen=True, slots=True)
class Told:
    """What there is to say: ``fate`` of ``spans`` spans, and why."""

    fate: Fate
    why: str
    spans: int
    first: str = ""


class Courier:
    """Delivers to one backend; ``tell`` hears of everything that is not simply delivered.

    ``delivered`` hears of what the backend has, partly rejected messages included.
    """

    def __init__(
        self,
        settings: OtlpSettings,
        tell: Callable[[Told], None],
        delivered: Callable[[Message], None] = lambda message: None,
    ) -> None:
        self.settings = settings
        self._tell = tell
        self._delivered = delivered
        self._transport: Transport | None = None
        self._refusals = 0

    def deliver(self, sources: Iterable[Source], stop: Callable[[], bool]) -> Round:
        """Send what ``sources`` have, in order, until all is sent or the backend will not have more."""
        for source in sources:
            for message in parcels.messages(source.parcels()):
                ended = self._deliver(source, message, stop)
                if ended:
                    return ended
        return Round(End.DONE)

    def prepare(self) -> None:
        """Import what sending takes, so that it need not be done when there is something to send."""
        self._transport = self._transport or transport_to(self.settings)

    def close(self) -> None:
        """Close connections; the next delivery opens new ones."""
        transport, self._transport = self._transport, None
        if transport is not None:
            transport.close()

    def forget_connections(self) -> None:
        """In a forked child: leave the connections to the parent."""
        self._transport = None

    def _deliver(self, source: Source, message: Message, stop: Callable[[], bool]) -> Round | None:
        if stop():
            return Round(End.STOPPED)
        if any(parcel.problem or not parcel.spans for parcel in message):
            return self._one_by_one(source, message, stop)
        if len(message) == 1 and self._is_too_big(message):
            limit = parcels.MESSAGE_BYTES
            why = f"takes {message[0].size} bytes, more than the {limit} of a message"
            self._refuse(source, message, why)
            return None
        outcome = self._send(message)
        if outcome.fate is Fate.DELIVERED:
            self._refusals = 0
            source.delivered(message)
            self._delivered(message)
        elif outcome.fate is Fate.PARTLY:
            self._refusals = 0
            self._tell(_told(outcome.fate, outcome.cause, message))
            source.partly_rejected(message, f"{self.settings.where}: {outcome.cause}")
            self._delivered(message)
        elif outcome.fate is Fate.REFUSED:
            return self._refused(source, message, outcome, stop)
        else:
            self._tell(_told(outcome.fate, outcome.cause, message))
            end = End.LATER if outcome.fate is Fate.LATER else End.CLOSED
            return Round(end, outcome)
        return None

    def _one_by_one(
        self, source: Source, message: Message, stop: Callable[[], bool]
    ) -> Round | None:
        """Deliver a message among whose parcels are some that cannot be sent."""
        good: list[parcels.Parcel] = []
        for parcel in message:
            if parcel.spans and not parcel.problem:
                good.append(parcel)
                continue
            ended = self._deliver(source, good, stop) if good else None
            if ended:
                return ended
            good = []
            if parcel.problem:
                self._tell(_told(Fate.UNREADABLE, parcel.problem, [parcel]))
                source.refused([parcel], parcel.problem)
            else:
                source.delivered([parcel])
        return self._deliver(source, good, stop) if good else None

    def _refused(
        self, source: Source, message: Message, outcome: Outcome, stop: Callable[[], bool]
    ) -> Round | None:
        """Find what it is in the message that is refused, by halves; give up where it is everything."""
        self._refusals += 1
        if self._refusals >= _MOST_REFUSALS:
            self._refusals = 0
            self._tell(_told(Fate.CLOSED, outcome.cause, message))
            return Round(End.CLOSED, outcome)
        if len(message) > 1:
            half = len(message) // 2
            first = self._deliver(source, message[:half], stop)
            return first or self._deliver(source, message[half:], stop)
        self._refuse(source, message, outcome.cause)
        return None

    def _refuse(self, source: Source, message: Message, why: str) -> None:
        self._tell(_told(Fate.REFUSED, why, message))
        source.refused(message, f"{self.settings.where}: {why}")

    def _is_too_big(self, message: Message) -> bool:
        size = message[0].size
        if size > parcels.MESSAGE_BYTES and self.settings.protocol != HTTP_JSON:
            size = encode_spans(spans_in(message)).ByteSize()
        return size > parcels.MESSAGE_BYTES

    def _send(self, message: Message) -> Outcome:
        transport = self._transport = self._transport or transport_to(self.settings)
        return transport.send(spans_in(message))


def _told(fate: Fate, why: str, message: Message) -> Told:
    spans = spans_in(message)
    return Told(fate, why, len(spans), spans[0].name if spans else "")


def transport_to(settings: OtlpSettings) -> Transport:
    """Return the way to the backend that ``settings`` describe."""
    # Imported only where it is used: each takes a tenth of a second.
    if settings.protocol == GRPC:
        from scaly_viz_exporters.otlp_grpc import GrpcTransport

        return GrpcTransport(settings)
    from scaly_viz_exporters.otlp_http import HttpTransport

    return HttpTransport(settings)
