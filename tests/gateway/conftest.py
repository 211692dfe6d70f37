"""Fixtures for conversations: one line of every kind, all under one name."""

from __future__ import annotations

import socket
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from os import dup, pipe
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio
import pytest

from gateway.auth import Token
from gateway.transports import (
    DescriptorTransport,
    Transport,
    connect_websocket,
    memory_pair,
    run_process,
    serve_websocket,
)

Ends = AsyncGenerator[tuple[Transport, Transport], None]
Open = Callable[[], AbstractAsyncContextManager[tuple[Transport, Transport]]]

RELAY = """
import os, socket, sys, threading
line = socket.socket(socket.AF_UNIX)
line.connect(sys.argv[1])
def pump(read, write):
    while piece := read(65536):
        write(piece)
def inwards():
    pump(lambda size: os.read(0, size), line.sendall)
    line.shutdown(socket.SHUT_WR)
threading.Thread(target=inwards, daemon=True).start()
with os.fdopen(1, "wb", buffering=0) as out:
    pump(line.recv, lambda piece: out.write(piece))
"""


@asynccontextmanager
async def memory_line() -> Ends:
    """Open a line inside this process."""
    left, right = memory_pair()
    async with left, right:
        yield left, right


@asynccontextmanager
async def pipe_line() -> Ends:
    """Open a line of two pipes, as standard streams are."""
    (to_right, from_left), (to_left, from_right) = pipe(), pipe()
    left = DescriptorTransport(to_left, from_left)
    right = DescriptorTransport(to_right, from_right)
    async with left, right:
        yield left, right


@asynccontextmanager
async def process_line() -> Ends:
    """Open a line to a process that hands everything on to this one."""
    with TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as door:
        path = str(Path(folder) / "relay")
        door.bind(path)
        door.listen()
        door.setblocking(False)  # noqa: FBT003
        async with run_process([sys.executable, "-c", RELAY, path]) as left:
            await anyio.wait_readable(door)
            accepted, _ = door.accept()
            accepted.setblocking(True)  # noqa: FBT003
            right = DescriptorTransport(dup(accepted.fileno()), accepted.detach())
            async with right:
                yield left, right


@asynccontextmanager
async def websocket_line() -> Ends:
    """Open a line through the front door."""
    arrived, done = anyio.Event(), anyio.Event()
    lines: list[Transport] = []

    async def welcome(line: Transport) -> None:
        lines.append(line)
        arrived.set()
        await done.wait()

    token = Token("a token for tests")
    async with (
        serve_websocket("127.0.0.1", 0, token, welcome) as address,
        connect_websocket(address.url, token) as left,
    ):
        await arrived.wait()
        yield left, lines[0]
        done.set()


LINES: dict[str, Open] = {
    "memory": memory_line,
    "pipe": pipe_line,
    "process": process_line,
    "websocket": websocket_line,
}


@pytest.fixture(params=LINES)
def open_line(request: pytest.FixtureRequest) -> Open:
    """Open a line of some kind: both ends, closed on leaving."""
    return LINES[request.param]
