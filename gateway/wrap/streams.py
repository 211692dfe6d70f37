"""Bytes on file descriptors that others share: pipes, sockets, terminals or files.

Above this module: `relay`, `acp`. Below it: anyio. Nobody makes a descriptor non-blocking, since
that would change it for every process that has it; see `gateway.transports.stdio`.
"""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Callable
from typing import Any, Final

import anyio

_PIECE: Final = 1 << 16


async def read(descriptor: int) -> bytes:
    """Return what is there to be read, as soon as there is something; empty at the end."""
    await _until(anyio.wait_readable, descriptor)
    try:
        return os.read(descriptor, _PIECE)
    except OSError:  # a terminal that hung up, a socket that was reset: nothing more will come
        return b""


async def write(descriptor: int, data: bytes) -> None:
    """Write all of *data*, as fast as it is taken.

    Raises:
        BrokenResourceError: nobody reads any more.

    """
    waiting = memoryview(data)
    while waiting:
        await _until(anyio.wait_writable, descriptor)
        try:
            written = os.write(descriptor, waiting[: select.PIPE_BUF])
        except OSError as error:
            raise anyio.BrokenResourceError from error
        waiting = waiting[written:]


def take_standard() -> tuple[int, int]:
    """Take standard input and output for good: they end when these descriptors are closed.

    What else in this process writes to standard output from now on goes to standard error (P-4).
    """
    sys.stdout.flush()
    taken = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)
    return taken


def close(descriptor: int) -> None:
    """Close a descriptor that somebody may wait for."""
    anyio.notify_closing(descriptor)
    os.close(descriptor)


async def _until(ready: Callable[[int], Any], descriptor: int) -> None:
    try:
        await ready(descriptor)
    except PermissionError:  # a regular file, which is always ready and cannot be polled
        await anyio.lowlevel.checkpoint()
