"""The checksum of a batch: what a read compares before it believes (S-6).

Above this module: `batch`. Below it: `google_crc32c`, or `zlib` where that cannot be had.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Final

import google_crc32c

ALGORITHMS: Final[dict[str, Callable[[int, bytes], int]]] = {
    "crc32c": google_crc32c.extend,
    "crc32": lambda crc, text: zlib.crc32(text, crc),
}

PREFERRED: Final = "crc32c" if google_crc32c.implementation == "c" else "crc32"
"""What a new log uses; every log says in `meta` what it was made with."""


class Checksum:
    """Computes checksums by the algorithm that a log's `meta` names."""

    def __init__(self, algorithm: str) -> None:
        self._extend = ALGORITHMS[algorithm]

    def of(self, *parts: bytes) -> int:
        """Return the checksum of *parts* as if they were one."""
        crc = 0
        for part in parts:
            crc = self._extend(crc, part)
        return crc
