"""Links between servers that a test can cut, or let pass one piece: small TCP proxies on loopback.

Above this module: `cluster`. Below it: sockets.
"""

from __future__ import annotations

import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from random import Random
from typing import Final, Literal

import anyio
from anyio.abc import SocketStream

Way = Literal["there", "back"]
"""From who calls to who is called, or back."""

WAYS: Final[tuple[Way, ...]] = ("there", "back")

GONE = (OSError, anyio.BrokenResourceError, anyio.ClosedResourceError, anyio.EndOfStream)


@dataclass
class Link:
    """Passes on what comes, until it is cut; what came then passes once it is healed."""

    port: int
    """Where the caller connects."""
    _ways: dict[Way, anyio.Event] = field(default_factory=dict)
    """Which ways are open."""

    def __post_init__(self) -> None:
        for way in WAYS:
            self._ways[way] = anyio.Event()
        self.heal()

    def cut(self, *ways: Way) -> None:
        """Pass nothing on, neither way or not some *ways*, and tell nobody."""
        for way in ways or WAYS:
            if self._ways[way].is_set():
                self._ways[way] = anyio.Event()

    def heal(self) -> None:
        """Pass on what has waited, and all that comes."""
        for way in WAYS:
            self._ways[way].set()

    def trickle(self, way: Way) -> None:
        """Pass on, one way that is cut, the piece that came first since; what follows waits."""
        self._ways[way].set()
        self._ways[way] = anyio.Event()

    async def carry(self, caller: SocketStream, target: int) -> None:
        """Connect *caller* to *target*, a port, until either hangs up."""
        async with caller:
            with suppress(*GONE):
                await self._ways["there"].wait()
                async with (
                    await anyio.connect_tcp("127.0.0.1", target) as callee,
                    anyio.create_task_group() as ways,
                ):
                    ways.start_soon(self._pump, caller, callee, "there", ways.cancel_scope)
                    ways.start_soon(self._pump, callee, caller, "back", ways.cancel_scope)

    async def _pump(
        self, source: SocketStream, sink: SocketStream, way: Way, both: anyio.CancelScope
    ) -> None:
        with suppress(*GONE):
            while True:
                piece = await source.receive()
                await self._ways[way].wait()
                await sink.send(piece)
        both.cancel()


@asynccontextmanager
async def link(target: int) -> AsyncGenerator[Link, None]:
    """Run a link to a port on loopback until the block is left."""
    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    passage = Link(listener.extra(anyio.abc.SocketAttribute.local_port))  # noqa: S610 - no database
    failure: BaseException | None = None
    async with listener, anyio.create_task_group() as tasks:

        async def welcome(caller: SocketStream) -> None:
            await passage.carry(caller, target)

        tasks.start_soon(listener.serve, welcome)
        try:
            yield passage
        except Exception as error:  # noqa: BLE001
            failure = error  # raised below: each link's task group would wrap it in another
        finally:
            tasks.cancel_scope.cancel()
    if failure is not None:
        raise failure


def free_ports(count: int) -> list[int]:
    """Return ports on loopback on which nobody listens, each another one.

    They are below those that the system gives to whoever connects: one of these may be taken
    again before a server listens on it.
    """
    ports = Random().sample(range(20_000, 32_000), 10 * count)  # noqa: S311 - ports, no secrets
    return [port for port in ports if _is_free(port)][:count]


def free_port() -> int:
    """Return one of them."""
    return free_ports(1)[0]


def _is_free(port: int) -> bool:
    with socket.socket() as asked:
        try:
            asked.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
