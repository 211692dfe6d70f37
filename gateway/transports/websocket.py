"""A WebSocket as a line: one frame a text message sent, one or several a message received.

Above this module: `Peer`, the front door, the reconnecting client. Below it: websockets.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any, Final
from urllib.parse import urlsplit

import anyio
from anyio.abc import ObjectStream
from websockets.asyncio.client import connect
from websockets.asyncio.connection import Connection, broadcast
from websockets.exceptions import (
    ConcurrencyError,
    ConnectionClosed,
    ConnectionClosedOK,
    InvalidHandshake,
    InvalidURI,
)
from websockets.protocol import State

from gateway.auth import Token
from gateway.errors import CannotConnect, Closing
from gateway.transports.transport import Line

MAX_MESSAGE: Final = 16 << 20
"""Bytes of a message; a larger one closes the connection with 1009 (P-3)."""

_SMALL: Final = 64 * 1024
"""Bytes of a frame that may be sent at once; what is larger is not copied for it."""

_PATIENCE: Final = 2.0
"""Seconds that the other end has to close in good order."""


def quiet_logger() -> logging.Logger:
    """Return a logger for websockets that never shows frames or URLs: they hold tokens (P-7)."""
    logger = logging.getLogger("gateway.websocket")
    logger.setLevel(max(logging.INFO, logger.level))
    return logger


class WebSocketTransport(ObjectStream[bytes]):
    """Speaks for either end of an open connection."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._ready: deque[bytes] = deque()
        self._given = 0

    def unread(self, frame: bytes) -> None:
        """Put *frame* in front of what comes next."""
        self._ready.appendleft(frame)

    async def receive(self) -> bytes:
        """Return the next frame. A binary message ends the connection (1003)."""
        while not self._ready:
            try:
                message = await self._connection.recv()
            except ConnectionClosedOK:
                raise anyio.EndOfStream from None
            except ConnectionClosed as error:
                raise anyio.BrokenResourceError from error
            if isinstance(message, bytes):
                await self._hang_up(Closing.UNSUPPORTED, "frames are text")
                raise anyio.BrokenResourceError
            self._ready.extend(line for line in message.encode().split(b"\n") if line.strip())
        return self._ready.popleft()

    async def send(self, item: bytes) -> None:
        """Send a frame as a message of its own."""
        try:
            await self._connection.send(item, text=True)
        except ConnectionClosed as error:
            raise anyio.BrokenResourceError from error
        self._given += len(item)

    def send_at_once(self, item: bytes) -> bool:
        """Send a frame if nothing is in its way; return whether that was so.

        It takes half the time of `send`, which can wait.
        """
        line = self._connection
        if len(item) > _SMALL or line.state is not State.OPEN:
            return False
        if line.transport.get_write_buffer_size():
            return False
        try:
            broadcast((line,), item.decode(), raise_exceptions=True)
        except ExceptionGroup:
            return False
        self._given += len(item)
        return True

    async def send_eof(self) -> None:
        """Hang up: a WebSocket cannot be closed in one direction."""
        await self.aclose()

    async def aclose(self) -> None:
        """Hang up in good order."""
        await self._hang_up(Closing.NORMAL, "")

    @property
    def extra_attributes(self) -> Mapping[Any, Callable[[], Any]]:
        """Return what is known of the line."""
        return {
            Line.taken: self._taken,
            Line.hang_up: lambda: self._hang_up,
            Line.goodbye: self._goodbye,
        }

    def _taken(self) -> int:
        return self._given - self._connection.transport.get_write_buffer_size()

    def _goodbye(self) -> tuple[int, str] | None:
        close = self._connection.protocol.close_rcvd
        return (close.code, close.reason) if close else None

    async def _discard(self) -> None:
        """Read what still comes: the other end's goodbye stands behind it."""
        with suppress(ConnectionClosed, ConcurrencyError):  # or somebody else reads it
            while True:
                await self._connection.recv()

    async def _hang_up(self, code: int, reason: str) -> None:
        if self._connection.state is State.CLOSED:
            return
        with anyio.CancelScope(shield=True), anyio.move_on_after(_PATIENCE) as waiting:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._discard)
                await self._connection.close(code, reason)
                tasks.cancel_scope.cancel()
        if waiting.cancelled_caught:  # it does not read, so it will not say goodbye either
            self._connection.transport.abort()
            with anyio.CancelScope(shield=True):
                await self._connection.wait_closed()


@asynccontextmanager
async def connect_websocket(
    url: str, token: Token | None = None
) -> AsyncGenerator[WebSocketTransport, None]:
    """Connect to a gateway, and hang up on leaving.

    Raises:
        CannotConnect: nobody answers there, or the answer was no.

    """
    parts = urlsplit(url)
    shown = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
    headers = {"Authorization": f"Bearer {token.reveal()}"} if token else {}
    try:
        connection = await connect(
            url,
            additional_headers=headers,
            compression=None,
            logger=quiet_logger(),
            max_size=MAX_MESSAGE,
            ping_timeout=None,
            proxy=None,
        )
    except (OSError, InvalidHandshake, InvalidURI, TimeoutError) as error:
        reason = "no answer in time" if isinstance(error, TimeoutError) else str(error)
        raise CannotConnect(shown, reason) from None
    line = WebSocketTransport(connection)
    try:
        yield line
    finally:
        await line.aclose()
