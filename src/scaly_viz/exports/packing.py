"""Owns the compression of an exported file, as its suffix asks for it."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator

import zstandard

_GZIP_WBITS = 16 + zlib.MAX_WBITS
_ZSTD_LEVEL = 10


def packed(chunks: Iterable[bytes], packing: str) -> Iterator[bytes]:
    """Yield ``chunks`` compressed as ``.gz`` or ``.zst``, or as they are; equal content gives equal files."""
    if packing == ".gz":
        # zlib's own header holds no time and no name.
        yield from _with(zlib.compressobj(9, zlib.DEFLATED, _GZIP_WBITS), chunks)
    elif packing == ".zst":
        yield from _with(zstandard.ZstdCompressor(level=_ZSTD_LEVEL).compressobj(), chunks)
    else:
        yield from chunks


def _with(
    compressor: zlib._Compress | zstandard.ZstdCompressionObj, chunks: Iterable[bytes]
) -> Iterator[bytes]:
    for chunk in chunks:
        if data := compressor.compress(chunk):
            yield data
    yield compressor.flush()
