"""Read a reply's body up to a limit, counting what it unpacks to."""

from __future__ import annotations

import zlib
from collections.abc import Iterable

_GZIP = 16 + zlib.MAX_WBITS


class BadBody(Exception):
    """The body is not what its headers say."""


def read_bounded(chunks: Iterable[bytes], encoding: str, limit: int) -> tuple[bytes, bool]:
    """The unpacked body and whether it was cut at `limit` bytes.

    What is read from the network and what it unpacks to are both bounded, so that a small bomb and a large
    page end alike. `encoding` is the header Content-Encoding; only gzip is asked for, and any other is
    refused, a doubled one too: unpacking in two stages grows by a million. Raises `BadBody`.
    """
    if encoding.strip().lower() in ("gzip", "x-gzip"):
        chunks = _unpacked(chunks, limit)
    elif encoding.strip().lower() not in ("", "identity"):
        raise BadBody("it is packed in a way that was not asked for")
    body = bytearray()
    for chunk in chunks:
        body += chunk
        if len(body) > limit:
            return bytes(body[:limit]), True
    return bytes(body), False


def _unpacked(chunks: Iterable[bytes], limit: int) -> Iterable[bytes]:
    """The pieces that gzip members unpack to, never more than `limit` + 1 bytes at a time."""
    packed = 0
    stream = zlib.decompressobj(_GZIP)
    for chunk in chunks:
        packed += len(chunk)
        left = chunk
        while left:
            if stream.eof:  # another member follows
                stream = zlib.decompressobj(_GZIP)
            try:
                yield stream.decompress(left, limit + 1)
            except zlib.error:
                raise BadBody("its gzip data is broken") from None
            left = stream.unconsumed_tail or stream.unused_data
        if packed > 2 * limit:  # members that unpack to nothing could go on for ever
            raise BadBody("its gzip data is larger than what it may unpack to")
    if packed and not stream.eof:
        raise BadBody("its gzip data ends early")
