"""Owns the mapping between a step's payloads and event attributes; the only module that knows zstd."""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import zstandard

from scaly_viz import attributes as a
from scaly_viz.errors import PayloadError
from scaly_viz.span_record import Attributes

TEXT = "text/plain; charset=utf-8"
JSON = "application/json"
GRAPH_DELTA = "application/vnd.scaly-viz.graph-delta+json"

INLINE_BYTES = 4_096
# Badger, below Jaeger, refuses values over 65,000 bytes.
BODY_CHARS = 60_000
PREVIEW_CHARS = 160
# What a reader agrees to unpack from one payload: far above what a compile makes, below what hurts.
MAX_PAYLOAD_BYTES = 1 << 30
# ... and, where it is not small, how many times the size of its body: only a table of equal numbers
# packs that well.
_SMALL_BYTES, _MOST_TIMES = 64 << 20, 1_000
# Level 8 saves 6 % more and takes a third longer. What repeats in programs repeats at length.
_LEVEL = 6
_MIN_MATCH = 6
# A text of about the size of its base is mostly the same: this level loads the base in half the time.
_NEAR_LEVEL = 3
_NEAR = 0.05
# To load a base costs its size: one that is so many times the payload's gives back too little.
_FAR = 3


@dataclass(frozen=True, slots=True)
class Payload:
    """One payload as it was made: ``data`` is the decoded form, UTF-8 for texts."""

    kind: str
    data: bytes
    media_type: str = TEXT


@dataclass(frozen=True, slots=True)
class FailedPayload:
    """A payload that could not be made, and why."""

    kind: str
    error: str


@dataclass(frozen=True, slots=True)
class SamePayload:
    """A payload that is known to equal the latest of its kind."""

    kind: str


@dataclass(frozen=True, slots=True)
class _Latest:
    digest: str
    payload: Payload


def text_payload(kind: str, text: str) -> Payload:
    """Return ``text`` as a payload; a lone surrogate is kept (as UTF-8 would write it)."""
    return Payload(kind, text.encode("utf-8", "surrogatepass"))


class Encoder:
    """Turns the payloads of one recording, in the order of its steps, into event attributes."""

    def __init__(self) -> None:
        self._latest: dict[str, _Latest] = {}

    def encode(self, payload: Payload | SamePayload | FailedPayload) -> list[dict[str, str | int]]:
        """Return the attributes of the events that carry ``payload``, one dict an event."""
        if isinstance(payload, FailedPayload):
            return [{a.PAYLOAD_ERROR: payload.error}]
        latest = self._latest.get(payload.kind)
        if isinstance(payload, SamePayload):
            if latest is None:
                return [{a.PAYLOAD_ERROR: "it equals the previous step's, which could not be made"}]
            return [_head(latest.payload, latest.digest, "same")]
        if latest is not None and latest.payload == payload:
            return [_head(payload, latest.digest, "same")]
        digest = hashlib.sha256(payload.data).hexdigest()
        self._latest[payload.kind] = _Latest(digest, payload)
        plain = _plain_text(payload)
        if plain is not None:
            return [_head(payload, digest, "text") | _part(plain, 0, 1)]
        near = latest is not None and len(latest.payload.data) <= _FAR * len(payload.data)
        return _compressed(payload, digest, latest if near else None)


def _head(payload: Payload, digest: str, encoding: str) -> dict[str, str | int]:
    return {
        a.PAYLOAD_ENCODING: encoding,
        a.PAYLOAD_TYPE: payload.media_type,
        a.PAYLOAD_SIZE: len(payload.data),
        a.PAYLOAD_DIGEST: digest,
    }


def _compressed(payload: Payload, digest: str, base: _Latest | None) -> list[dict[str, str | int]]:
    head = _head(payload, digest, "zstd")
    first = dict(head)
    if base is not None:
        first[a.PAYLOAD_BASE] = base.digest
    if payload.media_type == TEXT:
        first[a.PAYLOAD_PREVIEW] = _preview(payload.data)
    frame = _compress(payload.data, base.payload.data if base else b"")
    body = base64.b64encode(frame).decode("ascii")
    bodies = [body[i : i + BODY_CHARS] for i in range(0, len(body), BODY_CHARS)]
    return [
        (first if i == 0 else head) | _part(text, i, len(bodies)) for i, text in enumerate(bodies)
    ]


def _part(body: str, part: int, parts: int) -> dict[str, str | int]:
    return {a.PAYLOAD_PART: part, a.PAYLOAD_PARTS: parts, a.PAYLOAD_BODY: body}


def _plain_text(payload: Payload) -> str | None:
    if len(payload.data) > INLINE_BYTES or payload.media_type != TEXT:
        return None
    try:
        text = payload.data.decode()
    except UnicodeDecodeError:
        return None
    # Jaeger's page parses and lays out a value that begins like JSON.
    return None if text.startswith(("{", "[")) or "\0" in text else text


def _preview(data: bytes) -> str:
    text = (
        data[: 4 * PREVIEW_CHARS].decode("utf-8", "replace")[:PREVIEW_CHARS].replace("\0", "\ufffd")
    )
    return " " + text if text.startswith(("{", "[")) else text


def _compress(data: bytes, base: bytes) -> bytes:
    near = abs(len(data) - len(base)) <= _NEAR * len(data)
    parameters = zstandard.ZstdCompressionParameters.from_level(
        _NEAR_LEVEL if near else _LEVEL,
        source_size=len(data),
        dict_size=len(base),
        min_match=_MIN_MATCH,
        write_content_size=True,
    )
    dictionary = _dictionary(base) if base else None
    return zstandard.ZstdCompressor(dict_data=dictionary, compression_params=parameters).compress(
        data
    )


def _dictionary(base: bytes) -> zstandard.ZstdCompressionDict:
    return zstandard.ZstdCompressionDict(base, dict_type=zstandard.DICT_TYPE_RAWCONTENT)


@dataclass(frozen=True, slots=True)
class EncodedPayload:
    """One payload as it was read: the parts of its body, or why there is none."""

    kind: str
    encoding: str
    media_type: str
    size: int
    digest: str
    base: str
    body: str
    error: str


def collect(events: Iterable[tuple[str, Attributes]]) -> Iterator[EncodedPayload]:
    """Join ``events`` of one step, (name, attributes) each, into payloads; other events are passed over.

    Parts may come in any order and twice. What is missing or odd is told in ``error``.
    """
    groups: dict[tuple[str, str], list[Attributes]] = {}
    for name, attributes in events:
        kind = name.removeprefix(a.EVENT_PREFIX)
        if kind == name or not kind:
            continue
        if a.PAYLOAD_ENCODING in attributes or a.PAYLOAD_ERROR in attributes:
            digest = str(attributes.get(a.PAYLOAD_DIGEST, ""))
            groups.setdefault((kind, digest), []).append(attributes)
    for (kind, _), parts in groups.items():
        yield _join(kind, parts)


def _join(kind: str, parts: list[Attributes]) -> EncodedPayload:
    head = min(parts, key=_part_number)
    bodies = {_part_number(part): str(part.get(a.PAYLOAD_BODY, "")) for part in parts}
    expected = _integer(head, a.PAYLOAD_PARTS, 1)
    encoding = str(head.get(a.PAYLOAD_ENCODING, ""))
    error = str(head.get(a.PAYLOAD_ERROR, ""))
    if not error and encoding != "same":
        missing = next((i for i in range(expected) if i not in bodies), None)
        if missing is not None:
            error = f"part {missing + 1} of {expected} of its body is missing"
    return EncodedPayload(
        kind=kind,
        encoding=encoding,
        media_type=str(head.get(a.PAYLOAD_TYPE, TEXT)),
        size=_integer(head, a.PAYLOAD_SIZE, 0),
        digest=str(head.get(a.PAYLOAD_DIGEST, "")),
        base=str(head.get(a.PAYLOAD_BASE, "")),
        body="" if error else "".join(bodies[i] for i in sorted(bodies)),
        error=error,
    )


def _part_number(attributes: Attributes) -> int:
    return _integer(attributes, a.PAYLOAD_PART, 0)


def _integer(attributes: Attributes, key: str, default: int) -> int:
    value = attributes.get(key, default)
    return value if isinstance(value, int) else default


def as_read(payload: Payload) -> EncodedPayload:
    """Return ``payload`` as if it had been read as plain text: for what comes from other formats."""
    digest = hashlib.sha256(payload.data).hexdigest()
    body = payload.data.decode("utf-8", "surrogatepass")
    return EncodedPayload(
        payload.kind, "text", payload.media_type, len(payload.data), digest, "", body, ""
    )


def unpack(payload: EncodedPayload, base: bytes | None) -> bytes:
    """Return the decoded bytes of a ``text`` or ``zstd`` payload; ``base`` is the decoded payload it builds on.

    Raises:
        PayloadError: the body is damaged, its digest is wrong, or its size is implausible.
    """
    if payload.error:
        raise PayloadError(payload.error)
    if payload.encoding == "text":
        data = payload.body.encode("utf-8", "surrogatepass")
    elif payload.encoding == "zstd":
        data = _decompress(payload, base)
    else:
        raise PayloadError(f"its encoding {payload.encoding!r} is unknown to this version")
    if hashlib.sha256(data).hexdigest() != payload.digest:
        raise PayloadError("its digest is wrong: the body is damaged or was cut")
    return data


def _decompress(payload: EncodedPayload, base: bytes | None) -> bytes:
    if payload.base and base is None:
        raise PayloadError(f"it builds on payload {payload.base[:12]}, which is missing")
    plausible = _SMALL_BYTES + _MOST_TIMES * len(payload.body) + 4 * len(base or b"")
    if not 0 <= payload.size <= min(plausible, MAX_PAYLOAD_BYTES):
        raise PayloadError(f"its size of {payload.size:,} bytes is implausible")
    try:
        frame = base64.b64decode(payload.body, validate=True)
        declared = zstandard.frame_content_size(frame)
        if declared not in (payload.size, -1):
            raise PayloadError(f"its frame holds {declared:,} bytes instead of {payload.size:,}")
        # The dictionary counts towards the window: a bound on what one frame may claim.
        decompressor = zstandard.ZstdDecompressor(
            dict_data=_dictionary(base) if payload.base and base else None,
            max_window_size=1 << 31,
        )
        return decompressor.decompress(frame, max_output_size=payload.size)
    except (binascii.Error, ValueError, zstandard.ZstdError, MemoryError) as error:
        raise PayloadError(f"its body cannot be unpacked: {error}") from error
