"""Frames on the standard streams, one a line.

Above this module: `Peer`. Below it: file descriptors.

While the line is open, the streams belong to it alone (P-4): what anything else writes to
standard output goes to standard error, and what it reads from standard input is empty. So neither
a stray `print` nor a child process can tear a frame or steal one.
"""

from __future__ import annotations

import os
import select
import sys
from collections import deque
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final

import anyio
from anyio.abc import ObjectStream

from gateway.errors import FrameTooLong
from gateway.transports.lines import LineBuffer
from gateway.transports.transport import Line

MAX_FRAME: Final = 16 << 20
"""Bytes of a frame from a client (P-3)."""

_PIECE: Final = 1 << 16


class DescriptorTransport(ObjectStream[bytes]):
    """Frames on two file descriptors, which it owns: pipes, sockets, terminals or files.

    Nobody makes them non-blocking: that would change them for every process that shares them. So
    at most `PIPE_BUF` bytes are written at once, which never blocks when a pipe says it is ready.
    """

    def __init__(self, read_from: int, write_to: int, *, limit: int = MAX_FRAME) -> None:
        self._in = read_from
        self._out = write_to
        self._lines = LineBuffer(limit)
        self._ready: deque[bytes | FrameTooLong] = deque()
        self._taken = 0
        self._ended = False
        self._torn = False
        self._closed = False

    async def receive(self) -> bytes:
        """Return the next frame.

        Raises:
            FrameTooLong: a line was skipped; the next one is readable.

        """
        await anyio.lowlevel.checkpoint()
        while not self._ready:
            if self._closed:
                raise anyio.ClosedResourceError
            if self._ended:
                raise anyio.EndOfStream
            await self._read()
        line = self._ready.popleft()
        if isinstance(line, FrameTooLong):
            raise line
        return line

    async def send(self, item: bytes) -> None:
        """Write a frame. If it is interrupted, the line is of no use any more."""
        if self._closed:
            raise anyio.ClosedResourceError
        if self._torn:
            raise anyio.BrokenResourceError
        self._torn = True
        waiting = memoryview(item + b"\n")
        while waiting:
            await _until(anyio.wait_writable, self._out, select.POLLOUT)
            try:
                written = os.write(self._out, waiting[: select.PIPE_BUF])
            except OSError as error:
                raise anyio.BrokenResourceError from error
            self._taken += written
            waiting = waiting[written:]
        self._torn = False

    async def send_eof(self) -> None:
        """Say that nothing more will be sent."""
        if self._out != self._in:
            self._torn = True
            os.close(self._out)
            self._out = self._in

    async def aclose(self) -> None:
        """Close both descriptors."""
        if not self._closed:
            self._closed = True
            for descriptor in {self._in, self._out}:
                anyio.notify_closing(descriptor)
                os.close(descriptor)
        await anyio.lowlevel.checkpoint()

    @property
    def extra_attributes(self) -> Mapping[Any, Callable[[], Any]]:
        """Return what is known of the line."""
        return {Line.taken: lambda: self._taken, Line.half_open: lambda: True}

    async def _read(self) -> None:
        await _until(anyio.wait_readable, self._in, select.POLLIN)
        try:
            piece = os.read(self._in, _PIECE)
        except OSError as error:
            raise anyio.BrokenResourceError from error
        self._ended = not piece
        self._ready.extend(self._lines.feed(piece) if piece else self._lines.finish())


@asynccontextmanager
async def stdio(*, limit: int = MAX_FRAME) -> AsyncGenerator[DescriptorTransport, None]:
    """Take the standard streams for a line, and give them back on leaving."""
    sys.stdout.flush()
    kept_in, kept_out = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)
    try:
        async with DescriptorTransport(os.dup(kept_in), os.dup(kept_out), limit=limit) as line:
            yield line
    finally:
        sys.stdout.flush()
        os.dup2(kept_in, 0)
        os.dup2(kept_out, 1)
        os.close(kept_in)
        os.close(kept_out)


async def _until(ready: Callable[[int], Any], descriptor: int, event: int) -> None:
    """Return when *descriptor* is ready. Mostly it is, and a file always: asking is cheaper."""
    poll = select.poll()
    poll.register(descriptor, event)
    if poll.poll(0):
        await anyio.lowlevel.checkpoint()
    else:
        await ready(descriptor)
