"""Compression of what is read as a whole: cold batches, kept states (S-11, S-14).

Above this module: `batch`, the adapters. Below it: `zstandard`.
"""

from __future__ import annotations

from typing import Final

import zstandard

LEVEL: Final = 3


def packed(body: bytes) -> bytes:
    """Return *body* as a zstd frame, which says how long it was."""
    return zstandard.ZstdCompressor(level=LEVEL).compress(body)


def unpacked(frame: bytes) -> bytes | None:
    """Return what `packed` was given, or None if *frame* is damaged."""
    try:
        return zstandard.ZstdDecompressor().decompress(frame)
    except zstandard.ZstdError:
        return None
