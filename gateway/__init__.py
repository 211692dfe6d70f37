"""JSON-RPC peers around the log.

What stands here is what a conversation needs: frames, a peer, lines to carry them, a token. The
reference client is `gateway.client`, the wire's shapes are `gateway.contracts`.
"""

from gateway.auth import Token, load_token
from gateway.errors import (
    BadFrame,
    CannotConnect,
    CannotStart,
    Code,
    FrameTooLong,
    GatewayError,
    PeerGone,
    RpcError,
    TooSlow,
)
from gateway.jsonrpc import Failure, Frame, Notification, Raw, Reply, Request
from gateway.outbox import Outbox
from gateway.peer import Answer, Call, Handler, Peer
from gateway.transports import (
    Transport,
    connect_websocket,
    memory_pair,
    run_process,
    serve_websocket,
    stdio,
)

__all__ = [
    "Answer",
    "BadFrame",
    "Call",
    "CannotConnect",
    "CannotStart",
    "Code",
    "Failure",
    "Frame",
    "FrameTooLong",
    "GatewayError",
    "Handler",
    "Notification",
    "Outbox",
    "Peer",
    "PeerGone",
    "Raw",
    "Reply",
    "Request",
    "RpcError",
    "Token",
    "TooSlow",
    "Transport",
    "connect_websocket",
    "load_token",
    "memory_pair",
    "run_process",
    "serve_websocket",
    "stdio",
]
