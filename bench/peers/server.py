"""What a peer has to be able to do, and how its server is run.

Above this module: one module per peer. Below it: processes, and the loopback interface.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Protocol

import anyio

PAYLOAD = b"x" * 300
"""An event, for those who do not care what it is."""


class Absent(Exception):
    """The peer is not installed here."""


class Peer(Protocol):
    """Keeps events by session; durable is what it says is done."""

    async def append(self, session: str) -> None:
        """Append one event and return when it is durable."""
        ...

    async def append_many(self, session: str, count: int) -> None:
        """Append *count* events in as few calls as its users would."""
        ...

    async def read(self, session: str) -> int:
        """Read all events of a session, each page as a client's text; return how many."""
        ...


Opener = Callable[[Path], AbstractAsyncContextManager[Peer]]


def text(session: str, events: Iterable[tuple[int, bytes]]) -> bytes:
    """Return a page as a client is sent it: what a server in front of a peer has to make."""
    head = b'{"session_id":"%b","seq":' % session.encode()
    return b"[%b]" % b",".join(
        b'%b%d,"ts":1764000000000000,"type":"message.delta","payload":%b}' % (head, seq, payload)
        for seq, payload in events
    )


def program(name: str, *places: str) -> str:
    """Return where a program is.

    Raises:
        Absent: it is nowhere.

    """
    path = os.pathsep.join([os.environ.get("PATH", ""), *places])
    if (found := shutil.which(name, path=path)) is None:
        raise Absent(f"{name} is not installed")
    return found


def free_port() -> int:
    """Return a port on loopback that nobody listens on."""
    with socket.socket() as asked:
        asked.bind(("127.0.0.1", 0))
        return int(asked.getsockname()[1])


@asynccontextmanager
async def served(
    command: Sequence[str | Path], port: int, user: str | None = None
) -> AsyncGenerator[None, None]:
    """Run a server until the block is left; it listens on *port* when the block begins."""
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, user=user
    ) as process:
        try:
            with anyio.fail_after(20):
                while not await _listens(port):
                    assert process.poll() is None, f"{command[0]} ended"
                    await anyio.sleep(0.05)
            yield
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()


async def _listens(port: int) -> bool:
    try:
        await (await anyio.connect_tcp("127.0.0.1", port)).aclose()
    except OSError:
        return False
    return True
