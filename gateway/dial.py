"""Connect to a gateway by its address: the client that most programs want.

Above this module: users of this package. Below it: the reference client, a WebSocket.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from functools import partial

from gateway.auth import Token
from gateway.client import Answerer, Backoff, Client, client_of
from gateway.transports import connect_websocket


@asynccontextmanager
async def connect(
    url: str | Sequence[str],
    token: str,
    *,
    answerer: Answerer | None = None,
    backoff: Backoff | None = None,
) -> AsyncGenerator[Client, None]:
    """Keep a client connected to the gateway at *url* (`ws://…/api/ws`) until the block is left.

    Of several gateways that share a log any one will do: where one is gone, the next is tried.
    *answerer* is asked what the gateway asks its user; without one this client is asked nothing.
    """
    secret = Token(token)
    urls = [url] if isinstance(url, str) else url
    ways = [partial(connect_websocket, one, secret) for one in urls]
    async with client_of(*ways, answerer=answerer, backoff=backoff) as client:
        yield client
