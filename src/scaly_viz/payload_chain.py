"""Owns decoding the payloads of one recording: each after all that it builds on, and once."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from scaly_viz import codec
from scaly_viz.codec import EncodedPayload
from scaly_viz.errors import PayloadError


class PayloadChain:
    """The payloads of a recording's steps; ``where`` says in words where one of them stands."""

    def __init__(
        self, payloads: Iterable[EncodedPayload], where: Callable[[EncodedPayload], str]
    ) -> None:
        self._where = where
        self._decoded: dict[str, bytes] = {}
        self._known: dict[str, dict[str, EncodedPayload]] = {}
        for payload in payloads:
            if payload.encoding != "same":
                self._known.setdefault(payload.kind, {})[payload.digest] = payload

    def data(self, payload: EncodedPayload) -> bytes:
        """Return ``payload`` decoded.

        Raises:
            PayloadError: it, or one that it builds on, cannot be rebuilt; it says which and why.
        """
        chain = self._not_decoded(payload)
        while chain:
            current = chain.pop()
            try:
                data = codec.unpack(current, self._decoded.get(current.base))
            except PayloadError as error:
                if current.digest == payload.digest:
                    raise
                where = self._where(current)
                raise PayloadError(
                    f"it builds on {where}, which cannot be read: {error}"
                ) from error
            self._decoded[current.digest] = data
        return self._decoded[payload.digest]

    def _not_decoded(self, payload: EncodedPayload) -> list[EncodedPayload]:
        """Return ``payload`` and what it builds on, as far as it is not decoded yet, oldest last."""
        known = self._known.get(payload.kind, {})
        chain: list[EncodedPayload] = []
        current: EncodedPayload | None = payload
        digest = payload.digest
        while digest not in self._decoded:
            if current is not None and current.encoding == "same" and not current.error:
                current = known.get(digest)
                if current is None:
                    raise PayloadError(f"it equals payload {digest[:12]}, which is missing")
            if current is None:
                break
            if len(chain) > len(known):
                raise PayloadError("it builds on itself")
            chain.append(current)
            digest = current.base
            if not digest:
                break
            current = known.get(digest)
        return chain
