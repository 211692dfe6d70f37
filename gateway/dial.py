"""Connect to a gateway by its address: the client that most programs want.

Above this module: users of this package. Below it: the reference client, a WebSocket.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from gateway.auth import Token
from gateway.client import Answerer, Backoff, Client, client_of
from gateway.transports import Transport, connect_websocket


@asynccontextmanager
async def connect(
    url: str, token: str, *, answerer: Answerer | None = None, backoff: Backoff | None = None
) -> AsyncGenerator[Client, None]:
    """Keep a client connected to the gateway at *url* (`ws://…/api/ws`) until the block is left.

    *answerer* is asked what the gateway asks its user; without one this client is asked nothing.
    """
    secret = Token(token)

    @asynccontextmanager
    async def dial() -> AsyncGenerator[Transport, None]:
        async with connect_websocket(url, secret) as line:
            yield line

    async with client_of(dial, answerer=answerer, backoff=backoff) as client:
        yield client
