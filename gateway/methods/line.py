"""Methods about the line itself (protocol §2).

Above this module: the table of methods. Below it: the connection.
"""

from __future__ import annotations

from typing import Any

from gateway.connection import Capabilities
from gateway.contracts import (
    SERVER_REQUESTS,
    ClientCapabilities,
    GatewayAuthenticate,
    GatewayPing,
)
from gateway.errors import Code, RpcError
from gateway.methods.call import Call


async def capabilities(call: Call, params: ClientCapabilities) -> Any:
    """Hear what the client can do, once a connection (P-6)."""
    if call.client.introduced:
        raise RpcError(Code.BAD_ARGUMENT, "client.capabilities is said once a connection")
    call.client.introduced = True
    call.client.can = Capabilities(
        server_requests=params.server_requests is True,
        acp_updates=params.acp_updates is True,
        blobs=params.blobs is True,
        compact=params.compact is True,
        limit_bytes=params.limit_bytes,
    )
    return {"server_requests": sorted(SERVER_REQUESTS), "declines_not_shown": True}


async def ping(_: Call, __: GatewayPing) -> Any:
    """Answer at once (P-5)."""
    return {"ok": True}


async def authenticate(_: Call, __: GatewayAuthenticate) -> Any:
    """Say yes: whoever may call a method has shown the token already (P-7)."""
    return {"ok": True}
