"""Owns the bytes of an input file: plain, gzip or zstd, told apart by content, in bounded memory.

A Collector's file exporter with ``compression: zstd`` writes neither lines nor a zstd file but
messages, each one zstd frame after its length in four bytes; they come out as lines here.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import BinaryIO, Protocol

import zstandard

CHUNK_BYTES = 1024**2
MAX_MESSAGE_BYTES = 64 * 1024**2
MAX_DECOMPRESSED_BYTES = 64 * 1024**3

# Real recordings shrink up to a hundredfold. A bomb gets no further than the first GiB.
MAX_RATIO = 1000
UNSUSPICIOUS_BYTES = 1024**3

# A zstd block expands 32,768-fold at most, so that one piece becomes no more than 32 MiB.
_PIECE_BYTES = 1024

_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"
_LENGTH_BYTES = 4

type Damaged = Callable[[str], None]
"""Called with what is wrong with a file, and where in the compressed bytes."""


class _Decoder(Protocol):
    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, /) -> bytes: ...


class _Writer(Protocol):
    def write(self, data: bytes, /) -> int: ...


def content(read: Callable[[int], bytes], damaged: Damaged) -> Iterator[bytes]:
    """Yield the decompressed bytes of the file that ``read`` reads, as far as it is whole."""
    chunks = iter(lambda: read_or_tell(read, CHUNK_BYTES, damaged), b"")
    first = next(chunks, b"")
    if first.startswith(_GZIP):
        yield from _decompressed(_prefixed(first, chunks), _gzip, damaged)
    elif first.startswith(_ZSTD):
        yield from _decompressed(_prefixed(first, chunks), _zstd, damaged)
    elif first.startswith(_ZSTD, _LENGTH_BYTES):
        yield from _messages(_prefixed(first, chunks), damaged)
    else:
        yield from _prefixed(first, chunks)


def read_or_tell(read: Callable[[int], bytes], count: int, damaged: Damaged) -> bytes:
    """Read from a disk that may fail, in which case the file ends here."""
    try:
        return read(count)
    except OSError as error:
        damaged(f"{error.strerror}; the rest was left out")
        return b""


def is_compressed(head: bytes) -> bool:
    """Tell from its first 8 bytes whether ``content`` would decompress a file."""
    return head.startswith((_GZIP, _ZSTD)) or head.startswith(_ZSTD, _LENGTH_BYTES)


def _gzip() -> _Decoder:
    return zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)


def _zstd() -> _Decoder:
    # Without further ado zstandard refuses frames that need more than 128 MiB of memory.
    return zstandard.ZstdDecompressor().decompressobj()


def _prefixed(first: bytes, chunks: Iterable[bytes]) -> Iterator[bytes]:
    if first:
        yield first
    yield from chunks


def _decompressed(
    chunks: Iterable[bytes], new_decoder: Callable[[], _Decoder], damaged: Damaged
) -> Iterator[bytes]:
    decoder: _Decoder | None = None
    read = written = 0
    for piece in _pieces(chunks):
        rest = piece
        while rest:
            decoder = decoder or new_decoder()
            try:
                output = decoder.decompress(rest)
            except (zlib.error, zstandard.ZstdError) as error:
                damaged(f"damaged after compressed byte {read}: {error}; the rest was left out")
                return
            written += len(output)
            yield output
            if _is_bomb(read + len(piece), written):
                damaged(
                    f"{read + len(piece)} bytes expand to {written}, a bomb; the rest was left out"
                )
                return
            rest = decoder.unused_data if decoder.eof else b""
            decoder = None if decoder.eof else decoder
        read += len(piece)
    if decoder:
        damaged(f"cut short after compressed byte {read}; the rest is missing")


def _is_bomb(read: int, written: int) -> bool:
    if written > MAX_DECOMPRESSED_BYTES:
        return True
    return written > UNSUSPICIOUS_BYTES and written > MAX_RATIO * read


def _pieces(chunks: Iterable[bytes]) -> Iterator[bytes]:
    for chunk in chunks:
        for start in range(0, len(chunk), _PIECE_BYTES):
            yield chunk[start : start + _PIECE_BYTES]


def _messages(chunks: Iterator[bytes], damaged: Damaged) -> Iterator[bytes]:
    buffer = bytearray()
    position = 0

    def take(count: int) -> bytes:
        while len(buffer) < count and (chunk := next(chunks, b"")):
            buffer.extend(chunk)
        taken = bytes(buffer[:count])
        del buffer[:count]
        return taken

    while header := take(_LENGTH_BYTES):
        size = int.from_bytes(header)
        frame = take(size) if size <= MAX_MESSAGE_BYTES else b""
        if len(header) < _LENGTH_BYTES or len(frame) < size:
            damaged(f"the message after byte {position} is cut short; the rest was left out")
            return
        message = _message(frame, position, damaged)
        if message is not None:
            yield message + b"\n"
        position += _LENGTH_BYTES + size


def _message(frame: bytes, position: int, damaged: Damaged) -> bytes | None:
    """Return one decompressed message, None where it is not whole."""
    problems: list[str] = []
    parts = []
    size = 0
    for part in _decompressed([frame], _zstd, problems.append):
        parts.append(part)
        size += len(part)
        if size > MAX_MESSAGE_BYTES:
            problems.append(f"it is longer than {MAX_MESSAGE_BYTES} bytes")
            break
    if problems:
        damaged(f"the message after byte {position} was left out: {problems[0].partition(';')[0]}")
        return None
    return b"".join(parts)


def can_pack(head: bytes) -> bool:
    """Tell whether a file that begins with ``head`` is in a format that ``packer`` writes."""
    return not head.startswith(_ZSTD, _LENGTH_BYTES)


@contextmanager
def packer(head: bytes, into: BinaryIO) -> Iterator[_Writer]:
    """Yield what writes into ``into`` in the format of a file that begins with ``head``: plain, gzip, zstd."""
    if head.startswith(_GZIP):
        with gzip.GzipFile(fileobj=into, mode="wb") as packed:
            yield packed
    elif head.startswith(_ZSTD):
        with zstandard.ZstdCompressor().stream_writer(into, closefd=False) as writer:
            yield writer
    else:
        yield into
