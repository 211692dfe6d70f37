"""Bytes in pieces, frames out: one frame a line. Sans-I/O.

Above this module: `stdio`, `process`. Below it: nothing.

Blank lines are no frames. A line may end in CRLF. One that is over the limit is skipped without
being kept, and reading goes on behind its end (R148).
"""

from __future__ import annotations

from collections.abc import Iterator

from gateway.errors import FrameTooLong

HEAD = 1024
"""Bytes kept of a line that is too long."""


class LineBuffer:
    """Collects pieces until they make lines of at most *limit* bytes."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._start = bytearray()
        self._skipped = 0

    def feed(self, piece: bytes) -> Iterator[bytes | FrameTooLong]:
        """Yield the lines that *piece* ends, and a `FrameTooLong` in place of each too long."""
        *ends, rest = piece.split(b"\n")
        for end in ends:
            self._grow(end)
            yield from self.finish()
        self._grow(rest)

    def finish(self) -> Iterator[bytes | FrameTooLong]:
        """Yield what stands since the last line end, as if a line ended here."""
        line = bytes(self._start).removesuffix(b"\r")
        size, self._skipped = len(self._start) + self._skipped, 0
        self._start.clear()
        if size - 1 > self._limit or len(line) > self._limit:
            yield FrameTooLong(self._limit, size, line[:HEAD])
        elif line.strip():
            yield line

    def _grow(self, piece: bytes) -> None:
        room = self._limit + 1 - len(self._start)  # one more for the CR of a CRLF
        self._start += piece[:room]
        self._skipped += max(0, len(piece) - room)
