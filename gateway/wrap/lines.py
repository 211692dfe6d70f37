"""A stream of bytes cut at its line ends, with nothing taken away. Sans-I/O.

Above this module: `relay`. Below it: nothing. Joined again, the pieces are the stream: blank
lines, carriage returns, a last line without an end and lines without any end in sight included.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from gateway.errors import FrameTooLong
from gateway.transports import MAX_LINE

HEAD: Final = 1024
"""Bytes kept of a line that is too long to be read as a frame."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Some bytes of the stream, and what they are to a reader of frames.

    At most one of *frame* and *skipped* is there; neither is, if a line goes on.
    """

    raw: bytes
    frame: bytes | None = None
    """The line without its end."""
    skipped: FrameTooLong | None = None
    """A line that was passed on in pieces ends here."""


class Lines:
    """Collects what comes until it makes a line of at most *limit* bytes; a longer one flows."""

    def __init__(self, limit: int = MAX_LINE) -> None:
        self._limit = limit
        self._parts: list[bytes] = []
        self._size = 0
        self._head: bytes | None = None
        """How the line began that is flowing."""

    def feed(self, data: bytes) -> Iterator[Piece]:
        """Yield what *data* completes."""
        *ends, rest = data.split(b"\n")
        for end in ends:
            self._add(end + b"\n")
            yield self._line()
        if rest:
            self._add(rest)
            if self._size > self._limit + 1:  # one more for the CR of a CRLF
                yield self._flow()

    def finish(self) -> Iterator[Piece]:
        """Yield what stands behind the last line end."""
        if self._size:
            yield self._line()

    def _add(self, part: bytes) -> None:
        self._parts.append(part)
        self._size += len(part)

    def _take(self) -> bytes:
        raw = b"".join(self._parts)
        self._parts.clear()
        return raw

    def _flow(self) -> Piece:
        raw = self._take()
        if self._head is None:
            self._head = raw[:HEAD]
        return Piece(raw)

    def _line(self) -> Piece:
        raw, size, head = self._take(), self._size, self._head
        self._size, self._head = 0, None
        text = raw.removesuffix(b"\n").removesuffix(b"\r")
        if head is None and len(text) <= self._limit:
            return Piece(raw, frame=text)
        return Piece(raw, skipped=FrameTooLong(self._limit, size, head or raw[:HEAD]))
